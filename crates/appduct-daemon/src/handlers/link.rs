//! `link.create`

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use appduct_proto::Now;
use appduct_proto::host::{Endpoint, LinkRequest, Transport};
use appduct_rpc::methods::{Link, LinkCreate, LinkEndpoint, LinkTransport};
use appduct_rpc::{ErrorType, RpcError};

use super::refusal::refused;
use crate::address::{NotAnAddress, advertised};
use crate::state::State;

/// Mints a link. Everything is checked first: what fails leaves no link behind.
pub(super) fn create(state: &mut State, now: Now, params: &LinkCreate) -> Result<Link, RpcError> {
    let (transport, endpoint) = match params.transport {
        None | Some(LinkTransport::Native) => (Transport::Native, native_endpoint(state, now, params)?),
        Some(LinkTransport::Web) => (Transport::Web, web_endpoint(state, now)),
    };
    let ttl = params.ttl_seconds.map_or(state.facts.config.link_ttl, Duration::from_secs);
    let request = LinkRequest { transport, endpoint, ttl };
    let minted = state.host.create_link(now, &request).map_err(|refusal| refused(&state.facts, refusal))?;
    let payload = minted.bootstrap.encode().map_err(|fault| RpcError::internal(fault.to_string()))?;
    Ok(Link {
        session_id: minted.session_id,
        deep_link_payload: payload,
        endpoint: LinkEndpoint {
            family: if endpoint.address.is_ipv4() { 4 } else { 6 },
            address: endpoint.address.to_string(),
            port: endpoint.port,
        },
        expires_at: minted.bootstrap.expires_at,
        pin: state.facts.pin.to_string(),
    })
}

/// Where other devices find the daemon; `addressOverride` replaces the address alone.
fn native_endpoint(state: &mut State, now: Now, params: &LinkCreate) -> Result<Endpoint, RpcError> {
    let detected = detect(state, now)?;
    let address = match &params.address_override {
        Some(text) => text.parse().map_err(|_| {
            let message = format!("\"addressOverride\" must be an IPv4 or IPv6 address, and {text:?} is not one");
            RpcError::new(ErrorType::InvalidRequest, message)
        })?,
        None => detected,
    };
    Ok(Endpoint { address, port: state.facts.wss_port })
}

/// Where pages of this machine find the daemon, whatever the network looks like. The certificate follows the network all
/// the same; what keeps it from that concerns native links alone and is told there.
fn web_endpoint(state: &mut State, now: Now) -> Endpoint {
    detect(state, now).ok();
    Endpoint { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: state.facts.web_port }
}

/// The address of this machine as it is at this moment; the certificate follows it.
fn detect(state: &mut State, now: Now) -> Result<IpAddr, RpcError> {
    let address = advertised(state.facts.config.advertised_ip.as_deref()).map_err(|NotAnAddress(text)| {
        let message = format!(
            "\"advertisedIp\" must be an IPv4 or IPv6 address, and {text:?} is not one: correct it in {} and restart the daemon",
            state.facts.state_dir.config().display()
        );
        RpcError::new(ErrorType::InvalidRequest, message)
    })?;
    state
        .leaf
        .advertise(address, now.wall)
        .map_err(|error| RpcError::internal(format!("cannot make the TLS certificate: {error}")))?;
    Ok(address)
}

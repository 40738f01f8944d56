//! The settings of `mcp`.

use std::net::SocketAddr;

use appduct_proto::wire::Group;

use super::tools::parse_group;
use crate::args::McpArgs;
use crate::env::Env;
use crate::error::Failure;
use crate::scheme::SchemeOptions;

/// What the server may reach, and how it makes links.
#[derive(Clone, Debug)]
pub(crate) struct McpSettings {
    pub(crate) session: Option<String>,
    pub(crate) groups: Vec<Group>,
    pub(crate) scheme: SchemeOptions,
    /// The device that the environment tells `adb` to use.
    pub(crate) android_serial: Option<String>,
    /// Where to listen; standard input and output where absent.
    pub(crate) http: Option<SocketAddr>,
}

/// Checks the arguments.
pub(super) fn resolve(args: McpArgs, env: &Env) -> Result<McpSettings, Failure> {
    Ok(McpSettings {
        session: args.session.filter(|session| !session.is_empty()),
        groups: args.group.iter().map(|group| parse_group(group)).collect::<Result<_, _>>()?,
        scheme: SchemeOptions::new(args.scheme, env),
        android_serial: env.adb_serial.clone(),
        http: http(args.http.as_deref(), args.allow_remote)?,
    })
}

fn http(address: Option<&str>, allow_remote: bool) -> Result<Option<SocketAddr>, Failure> {
    let Some(text) = address else {
        return if allow_remote {
            Err(Failure::usage("\"--allow-remote\" only applies together with \"--http\"."))
        } else {
            Ok(None)
        };
    };
    let address: SocketAddr = text.parse().map_err(|_| {
        Failure::usage(format!("\"--http\" must be an IP address and a port, such as 127.0.0.1:4519; got \"{text}\"."))
    })?;
    if !allow_remote && !address.ip().is_loopback() {
        return Err(Failure::usage(format!("\"--http {text}\" would let other machines in."))
            .with_hint("Use 127.0.0.1, or say `--allow-remote` where the network is trusted."));
    }
    Ok(Some(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_let_in_unless_others_are_allowed() {
        for (address, allow_remote, is_good) in [
            (Some("127.0.0.1:0"), false, true),
            (Some("[::1]:80"), false, true),
            (Some("0.0.0.0:80"), false, false),
            (Some("192.168.1.5:80"), true, true),
            (Some("localhost:80"), false, false),
            (Some("127.0.0.1"), false, false),
            (None, true, false),
            (None, false, true),
        ] {
            assert_eq!(http(address, allow_remote).is_ok(), is_good, "{address:?}");
        }
    }
}

//! The device ports: for native apps every interface and both families, for web pages loopback.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

/// Connections that the system may hold until they are accepted.
const BACKLOG: i32 = 1024;

/// The system may choose a port that is taken on loopback; then it chooses again.
const MAX_CHOICES: usize = 5;

/// How long to leave a system alone that has no more descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A bound device port.
#[derive(Debug)]
pub(crate) struct Bound {
    listeners: Vec<TcpListener>,
    port: u16,
}

/// Why a port cannot be bound.
#[derive(Debug)]
pub(crate) enum BindError {
    /// Something listens there.
    InUse,
    /// Anything else.
    Io(io::Error),
}

impl Bound {
    /// Binds `port`; 0 lets the system choose.
    ///
    /// One dual-stack socket takes both families; where there is no IPv6, an IPv4 one. On macOS a more specific bind of
    /// `127.0.0.1` would take loopback connections away from it, so that is bound too.
    pub(crate) fn bind(port: u16) -> Result<Self, BindError> {
        let choices = if port == 0 { MAX_CHOICES } else { 1 };
        Self::bind_one_of(choices, || Self::bind_all(port))
    }

    /// Binds `port` on `127.0.0.1`; 0 lets the system choose.
    pub(crate) fn bind_loopback(port: u16) -> Result<Self, BindError> {
        let choices = if port == 0 { MAX_CHOICES } else { 1 };
        Self::bind_one_of(choices, || {
            let listener = listen(Domain::IPV4, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
            Ok(Self { port: listener.local_addr()?.port(), listeners: vec![listener] })
        })
    }

    /// Binds a port of the system's choice with `bind`: the one of `last` if it is free, so that apps find it again.
    pub(crate) fn bind_again(
        last: Option<u16>,
        bind: impl Fn(u16) -> Result<Self, BindError>,
    ) -> Result<Self, BindError> {
        match last.filter(|&port| port != 0).map(&bind) {
            Some(Ok(bound)) => Ok(bound),
            Some(Err(_)) | None => bind(0),
        }
    }

    fn bind_one_of(mut choices: usize, mut bind: impl FnMut() -> io::Result<Self>) -> Result<Self, BindError> {
        loop {
            choices -= 1;
            match bind() {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && choices > 0 => {}
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(BindError::InUse),
                Err(error) => return Err(BindError::Io(error)),
                Ok(bound) => return Ok(bound),
            }
        }
    }

    fn bind_all(port: u16) -> io::Result<Self> {
        let everywhere =
            dual_stack(port).or_else(|error| match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
                Some(rustix::io::Errno::AFNOSUPPORT | rustix::io::Errno::ADDRNOTAVAIL) => {
                    listen(Domain::IPV4, SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))
                }
                _ => Err(error),
            })?;
        let port = everywhere.local_addr()?.port();
        let mut listeners = vec![everywhere];
        if cfg!(target_os = "macos") {
            listeners.push(listen(Domain::IPV4, SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?);
        }
        Ok(Self { listeners, port })
    }

    /// The port, never 0.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn into_listeners(self) -> Vec<TcpListener> {
        self.listeners
    }
}

fn dual_stack(port: u16) -> io::Result<TcpListener> {
    listen(Domain::IPV6, SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)))
}

fn listen(domain: Domain, address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    if domain == Domain::IPV6 {
        socket.set_only_v6(false)?;
    }
    // A port whose last connections still wind down can be bound again; one that somebody listens on cannot.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

/// The next connection, whatever the system throws in between.
pub(super) async fn accept(listener: &TcpListener) -> TcpStream {
    let mut complained = false;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                if !complained {
                    tracing::warn!(%error, "cannot accept a device connection; trying on");
                    complained = true;
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_bound_port_takes_both_families_and_nobody_else() {
        let bound = Bound::bind(0).unwrap();
        let port = bound.port();
        assert_ne!(port, 0);
        std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert!(matches!(Bound::bind(port), Err(BindError::InUse)));
        assert!(std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err());
    }

    #[tokio::test]
    async fn the_loopback_port_takes_nobody_from_elsewhere() {
        let bound = Bound::bind_loopback(0).unwrap();
        let listener = &bound.listeners[0];
        assert_eq!(listener.local_addr().unwrap(), SocketAddr::from((Ipv4Addr::LOCALHOST, bound.port())));
        assert_ne!(bound.port(), 0);
    }

    #[tokio::test]
    async fn the_last_port_is_taken_again_if_it_is_free() {
        let port = Bound::bind(0).unwrap().port();
        let again = Bound::bind_again(Some(port), Bound::bind).unwrap();
        assert_eq!(again.port(), port);
        assert_ne!(Bound::bind_again(Some(port), Bound::bind).unwrap().port(), port);
        assert_ne!(Bound::bind_again(Some(0), Bound::bind_loopback).unwrap().port(), 0);
    }

    #[tokio::test]
    async fn a_port_that_is_taken_on_one_family_is_in_use() {
        let v4 = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(matches!(Bound::bind(v4.local_addr().unwrap().port()), Err(BindError::InUse)));
        if let Ok(v6) = std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) {
            assert!(matches!(Bound::bind(v6.local_addr().unwrap().port()), Err(BindError::InUse)));
        }
    }
}

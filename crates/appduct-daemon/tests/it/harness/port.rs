//! A port for a daemon that dies and comes back.

use std::net::Ipv6Addr;

use socket2::{Domain, Protocol, Socket, Type};

/// Nobody but who asks for this very number gets it: on Linux a socket that is bound and does not listen keeps the system
/// from choosing its port for others.
pub(crate) struct ReservedPort {
    pub(crate) number: u16,
    _socket: Option<Socket>,
}

impl ReservedPort {
    pub(crate) fn new() -> Self {
        let socket = Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP)).unwrap();
        socket.set_only_v6(false).unwrap();
        socket.set_reuse_address(true).unwrap();
        socket.bind(&std::net::SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)).into()).unwrap();
        let number = socket.local_addr().unwrap().as_socket().unwrap().port();
        // Elsewhere the daemon itself could not have it.
        Self { number, _socket: cfg!(target_os = "linux").then_some(socket) }
    }
}

//! Opening the sockets of a server: UDP and TCP on the same port.

use super::{STOP_CHECK, ServeConfig};
use crate::AnswerError;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};

/// Connections that the system may hold before they are accepted.
const BACKLOG: i32 = 1024;
/// Room for queries that arrive faster than they are answered; the system may grant less.
const RECEIVE_BUFFER_LEN: usize = 4 << 20;
/// How many free UDP ports are tried until one is free for TCP as well.
const PORT_ATTEMPTS: usize = 32;

pub(super) struct Sockets {
    pub address: SocketAddr,
    pub udp: Vec<UdpSocket>,
    pub tcp: Vec<TcpListener>,
}

pub(super) fn listen(config: &ServeConfig) -> Result<Sockets, AnswerError> {
    let mut attempts = if config.address.port() == 0 {
        PORT_ATTEMPTS
    } else {
        1
    };
    loop {
        attempts -= 1;
        match listen_once(config) {
            Err(AnswerError::Listen { source, .. })
                if attempts > 0 && source.kind() == io::ErrorKind::AddrInUse => {}
            result => return result,
        }
    }
}

fn listen_once(config: &ServeConfig) -> Result<Sockets, AnswerError> {
    let mut address = config.address;
    let udp_error = |source| listen_error("UDP", config.address, source);
    let shared = config.threads.get() > 1;
    // SO_REUSEPORT would let a second server take a port in use without an error, so the first socket goes without.
    let probe = udp_socket(address, false).map_err(udp_error)?;
    address.set_port(probe.local_addr().map_err(udp_error)?.port());
    let tcp_error = |source| listen_error("TCP", address, source);
    let tcp_probe = tcp_socket(address, false).map_err(tcp_error)?;
    if !shared {
        return Ok(Sockets {
            address,
            udp: vec![probe],
            tcp: vec![tcp_probe],
        });
    }
    drop((probe, tcp_probe));
    let threads = 0..config.threads.get();
    let udp = threads
        .clone()
        .map(|_| udp_socket(address, true))
        .collect::<io::Result<_>>();
    let tcp = threads
        .map(|_| tcp_socket(address, true))
        .collect::<io::Result<_>>();
    Ok(Sockets {
        address,
        udp: udp.map_err(udp_error)?,
        tcp: tcp.map_err(tcp_error)?,
    })
}

fn listen_error(protocol: &'static str, address: SocketAddr, source: io::Error) -> AnswerError {
    AnswerError::Listen {
        protocol,
        address,
        source,
    }
}

fn udp_socket(address: SocketAddr, shared: bool) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    socket.set_reuse_port(shared)?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER_LEN)?;
    socket.set_read_timeout(Some(STOP_CHECK))?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn tcp_socket(address: SocketAddr, shared: bool) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(shared)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

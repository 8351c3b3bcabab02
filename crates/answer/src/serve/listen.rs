//! Opening the sockets of a server.

use super::quic::Settings;
use super::tcp::Protocol as TcpProtocol;
use super::{Encrypted, ListenAddresses, STOP_CHECK, ServeConfig};
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

/// The sockets of a server, one for each thread, and what is spoken on them.
pub(super) struct Listeners {
    pub addresses: ListenAddresses,
    pub udp: Vec<UdpSocket>,
    pub tcp: Vec<(TcpProtocol, TcpListener)>,
    pub quic: Vec<(Settings, UdpSocket)>,
}

pub(super) fn listen(config: &ServeConfig) -> Result<Listeners, AnswerError> {
    let (address, udp, tcp) = listen_plain(config)?;
    let mut listeners = Listeners {
        addresses: ListenAddresses {
            dns: address,
            dot: None,
            doh: None,
            doq: None,
        },
        udp,
        tcp: Vec::new(),
        quic: Vec::new(),
    };
    listeners.add_tcp(&TcpProtocol::Dns, tcp);
    if let Some(encrypted) = &config.encrypted {
        listeners.listen_encrypted(config, encrypted)?;
    }
    Ok(listeners)
}

impl Listeners {
    fn listen_encrypted(
        &mut self,
        config: &ServeConfig,
        encrypted: &Encrypted,
    ) -> Result<(), AnswerError> {
        let threads = config.threads.get();
        if let Some(address) = encrypted.dot {
            let protocol = TcpProtocol::dot(&encrypted.certificate)?;
            let (address, sockets) = group("DoT", address, threads, tcp_socket)?;
            self.addresses.dot = Some(address);
            self.add_tcp(&protocol, sockets);
        }
        if let Some(address) = encrypted.doh {
            let protocol = TcpProtocol::doh(&encrypted.certificate)?;
            let (address, sockets) = group("DoH", address, threads, tcp_socket)?;
            self.addresses.doh = Some(address);
            self.add_tcp(&protocol, sockets);
        }
        if let Some(address) = encrypted.doq {
            let settings = Settings::new(config, &encrypted.certificate)?;
            let (address, sockets) = group("DoQ", address, threads, udp_socket)?;
            self.addresses.doq = Some(address);
            let with_settings = |socket| (settings.clone(), socket);
            self.quic.extend(sockets.into_iter().map(with_settings));
        }
        Ok(())
    }

    fn add_tcp(&mut self, protocol: &TcpProtocol, sockets: Vec<TcpListener>) {
        let with_protocol = |socket| (protocol.clone(), socket);
        self.tcp.extend(sockets.into_iter().map(with_protocol));
    }
}

type Plain = (SocketAddr, Vec<UdpSocket>, Vec<TcpListener>);

/// UDP and TCP on the same port.
fn listen_plain(config: &ServeConfig) -> Result<Plain, AnswerError> {
    let mut attempts = if config.address.port() == 0 {
        PORT_ATTEMPTS
    } else {
        1
    };
    loop {
        attempts -= 1;
        match listen_plain_once(config) {
            Err(AnswerError::Listen { source, .. })
                if attempts > 0 && source.kind() == io::ErrorKind::AddrInUse => {}
            result => return result,
        }
    }
}

fn listen_plain_once(config: &ServeConfig) -> Result<Plain, AnswerError> {
    let threads = config.threads.get();
    let (address, udp) = group("UDP", config.address, threads, udp_socket)?;
    let (address, tcp) = group("TCP", address, threads, tcp_socket)?;
    Ok((address, udp, tcp))
}

/// Opens `count` sockets on one address and port, which is returned as well.
fn group<S: From<Socket>>(
    protocol: &'static str,
    address: SocketAddr,
    count: usize,
    open: fn(SocketAddr, bool) -> io::Result<Socket>,
) -> Result<(SocketAddr, Vec<S>), AnswerError> {
    let error = |source| AnswerError::Listen {
        protocol,
        address,
        source,
    };
    // SO_REUSEPORT would let a second server take a port in use without an error, so the first socket goes without.
    let probe = open(address, false).map_err(error)?;
    let port = probe
        .local_addr()
        .map_err(error)?
        .as_socket()
        .map_or(address.port(), |bound| bound.port());
    let bound = SocketAddr::new(address.ip(), port);
    if count == 1 {
        return Ok((bound, vec![probe.into()]));
    }
    drop(probe);
    let sockets = (0..count).map(|_| open(bound, true).map(S::from));
    Ok((bound, sockets.collect::<io::Result<_>>().map_err(error)?))
}

fn udp_socket(address: SocketAddr, shared: bool) -> io::Result<Socket> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_reuse_port(shared)?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER_LEN)?;
    socket.set_read_timeout(Some(STOP_CHECK))?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn tcp_socket(address: SocketAddr, shared: bool) -> io::Result<Socket> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(shared)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

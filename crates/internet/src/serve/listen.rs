//! Opening the sockets: wildcard ones, since there are more addresses than sockets can be had for.

use super::ServeOptions;
use crate::InternetError;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::AsRawFd;

/// Connections that the system may hold before they are accepted.
const BACKLOG: i32 = 4096;
/// Room for queries that arrive faster than they are answered; the system may grant less.
const BUFFER_LEN: usize = 8 << 20;
/// How many free UDP ports are tried until one is free for all sockets.
const PORT_ATTEMPTS: usize = 32;
const LOOPBACK: &[u8] = b"lo";

/// The sockets.
pub(super) struct Sockets {
    pub port: u16,
    /// For each thread one of each address family, IPv4's first.
    pub udp: Vec<Vec<UdpSocket>>,
    pub tcp: Vec<TcpListener>,
}

/// Opens them; with `stamps` the system tells when each datagram arrived.
pub(super) fn listen(
    options: &ServeOptions,
    has_ipv6: bool,
    stamps: bool,
) -> Result<Sockets, InternetError> {
    let mut attempts = if options.port == 0 { PORT_ATTEMPTS } else { 1 };
    loop {
        attempts -= 1;
        match listen_once(options, has_ipv6, stamps) {
            Err(InternetError::Listen { source, .. })
                if attempts > 0 && source.kind() == io::ErrorKind::AddrInUse => {}
            result => return result,
        }
    }
}

fn listen_once(
    options: &ServeOptions,
    has_ipv6: bool,
    stamps: bool,
) -> Result<Sockets, InternetError> {
    let any = [
        Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        has_ipv6.then_some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
    ];
    let mut sockets = Sockets {
        port: options.port,
        udp: (0..options.threads.get()).map(|_| Vec::new()).collect(),
        tcp: Vec::new(),
    };
    for ip in any.into_iter().flatten() {
        // SO_REUSEPORT would let a second server take a port in use without an error, so the first socket goes without.
        let address = SocketAddr::new(ip, sockets.port);
        let error = |protocol, address| {
            move |source| InternetError::Listen {
                protocol,
                address,
                source,
            }
        };
        let probe = udp_socket(address, options, false).map_err(error("UDP", address))?;
        sockets.port = probe.local_addr().map_err(error("UDP", address))?.port();
        drop(probe);
        let address = SocketAddr::new(ip, sockets.port);
        let listener = tcp_socket(address, options).map_err(error("TCP", address))?;
        sockets.tcp.push(listener);
        for of_thread in &mut sockets.udp {
            let socket = udp_socket(address, options, true).map_err(error("UDP", address))?;
            if stamps {
                switch_on(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS)
                    .map_err(error("UDP", address))?;
            }
            of_thread.push(socket);
        }
    }
    Ok(sockets)
}

fn udp_socket(address: SocketAddr, options: &ServeOptions, shared: bool) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    prepare(&socket, address, options)?;
    socket.set_reuse_port(shared)?;
    socket.set_recv_buffer_size(BUFFER_LEN)?;
    socket.set_send_buffer_size(BUFFER_LEN)?;
    let (level, option) = match address {
        SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_PKTINFO),
        SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
    };
    switch_on(&socket, level, option)?;
    if address.is_ipv6() {
        // Without it, the system refuses to send from an address that only a local route makes ours.
        switch_on(&socket, libc::IPPROTO_IPV6, libc::IPV6_FREEBIND)?;
    }
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn tcp_socket(address: SocketAddr, options: &ServeOptions) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    prepare(&socket, address, options)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn prepare(socket: &Socket, address: SocketAddr, options: &ServeOptions) -> io::Result<()> {
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    if options.on_loopback {
        socket.bind_device(Some(LOOPBACK))?;
    }
    Ok(())
}

fn switch_on(socket: &impl AsRawFd, level: libc::c_int, option: libc::c_int) -> io::Result<()> {
    set_option(socket, level, option, 1)
}

/// Sets an option of a socket whose value is a number (setsockopt(2)).
pub(super) fn set_option(
    socket: &impl AsRawFd,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the descriptor is open, and `value` is read within its length.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

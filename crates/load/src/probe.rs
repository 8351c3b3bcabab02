//! One query before the load: is anything there that answers?

use crate::config::TransportKind;
use crate::{LoadError, transport};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

/// Queries sent before the server is called silent.
const ATTEMPTS: u32 = 3;

/// Wait for each of them.
const WAIT: Duration = Duration::from_secs(1);

/// Sends `query` until the server gives a sign of life: any message, since judging answers is the load's business, or
/// over TCP the end of the connection.
///
/// # Errors
/// [`LoadError::Unreachable`] and [`LoadError::Silent`], after about 3 s at most.
pub fn probe(server: SocketAddr, kind: TransportKind, query: &[u8]) -> Result<(), LoadError> {
    let alive = match kind {
        TransportKind::Udp => probe_udp(server, query),
        _ => probe_tcp(server, query),
    };
    match alive {
        Ok(true) => Ok(()),
        Ok(false) => Err(LoadError::Silent {
            server,
            transport: kind.name(),
            attempts: ATTEMPTS,
            waited_s: (WAIT * ATTEMPTS).as_secs(),
        }),
        Err(reason) => Err(LoadError::Unreachable {
            server,
            transport: kind.name(),
            reason,
        }),
    }
}

fn probe_udp(server: SocketAddr, query: &[u8]) -> io::Result<bool> {
    let local: SocketAddr = if server.is_ipv4() {
        ([0; 4], 0).into()
    } else {
        ([0u16; 8], 0).into()
    };
    let socket = UdpSocket::bind(local)?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(WAIT))?;
    let mut buffer = [0; 512];
    for _ in 0..ATTEMPTS {
        socket.send(query)?;
        match socket.recv(&mut buffer) {
            Ok(_) => return Ok(true),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

fn probe_tcp(server: SocketAddr, query: &[u8]) -> io::Result<bool> {
    let mut stream = TcpStream::connect_timeout(&server, WAIT * ATTEMPTS)?;
    stream.set_read_timeout(Some(WAIT))?;
    let mut frame = Vec::new();
    transport::append_frame(&mut frame, 0, query);
    let mut buffer = [0; 512];
    for _ in 0..ATTEMPTS {
        if stream.write_all(&frame).is_err() {
            return Ok(true);
        }
        match stream.read(&mut buffer) {
            Err(error) if is_timeout(&error) => {}
            _ => return Ok(true),
        }
    }
    Ok(false)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

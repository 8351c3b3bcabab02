//! One connection: a socket, and the layer above it.

use super::CONNECT_TIMEOUT_NS;
use crate::refusal::Refusal;
use crate::transport::epoll::Epoll;
use crate::transport::layer::Layer;
use crate::transport::timers::NEVER_NS;
use crate::transport::{HANDSHAKE_TIMEOUT_NS, Wire, socket};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has queries, and is to be made by the next flush.
    Wanted,
    /// TCP's handshake is under way.
    Connecting,
    /// Handshakes above TCP are under way.
    Handshaking,
    /// Queries can be sent.
    Open,
    /// Nothing can be written any more; what has arrived is still to be read.
    Ending,
}

/// How far a read came.
pub enum Received {
    /// This many octets.
    Octets(usize),
    /// Nothing for now.
    Nothing,
    /// The server has ended the connection.
    End,
}

/// A connection that is wanted, on its way, or there.
pub struct Connection<L> {
    /// What is spoken over it.
    pub layer: L,
    pub state: State,
    socket: Option<Socket>,
    /// When the attempt began.
    pub tried_ns: u64,
    /// The session has been open.
    pub opened: bool,
    /// Queries queued so far.
    pub queries: u64,
    /// A message has arrived.
    pub used: bool,
    /// Whether epoll was told to watch for room to write.
    watches_room: bool,
}

impl<L: Layer> Connection<L> {
    /// One that is wanted.
    pub fn new(layer: L) -> Self {
        Self {
            layer,
            state: State::Wanted,
            socket: None,
            tried_ns: 0,
            opened: false,
            queries: 0,
            used: false,
            watches_room: false,
        }
    }

    /// Begins TCP's handshake, which over loopback may be over when this returns: then the state is
    /// [`State::Handshaking`].
    ///
    /// # Errors
    /// Why there can be no connection.
    pub fn connect(
        &mut self,
        server: SocketAddr,
        source: Option<IpAddr>,
        epoll: &Epoll,
        token: usize,
    ) -> Result<(), Refusal> {
        let (socket, connected) =
            start_connecting(server, source).map_err(|error| refusal_of(&error))?;
        epoll
            .watch(socket.as_fd(), token, !connected, false)
            .map_err(|_| Refusal::Send)?;
        self.socket = Some(socket);
        self.watches_room = !connected;
        self.state = if connected {
            State::Handshaking
        } else {
            State::Connecting
        };
        Ok(())
    }

    /// Why connecting failed, if it did.
    pub fn connect_error(&self) -> Option<Refusal> {
        let error = self.socket.as_ref()?.take_error().unwrap_or_else(Some)?;
        Some(refusal_of(&error))
    }

    /// Writes as much as the kernel takes, and watches for room as long as something is left.
    ///
    /// # Errors
    /// The layer's.
    pub fn write(&mut self, epoll: &Epoll, token: usize) -> Result<(), Refusal> {
        let Some(socket) = &self.socket else {
            return Ok(());
        };
        let outgoing = self.layer.outgoing()?;
        let mut wants_room = false;
        while !outgoing.unwritten().is_empty() && !wants_room {
            match socket.send_with_flags(outgoing.unwritten(), libc::MSG_NOSIGNAL) {
                Ok(count) => outgoing.wrote(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => wants_room = true,
                Err(_) => {
                    outgoing.clear();
                    self.state = State::Ending;
                }
            }
        }
        if wants_room != self.watches_room {
            // If this fails, the queries that wait for room time out; nothing hangs.
            let _ = epoll.watch(socket.as_fd(), token, wants_room, true);
            self.watches_room = wants_room;
        }
        Ok(())
    }

    /// Reads once.
    ///
    /// # Errors
    /// The kernel's: the connection is lost.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Received> {
        let Some(mut socket) = self.socket.as_ref() else {
            return Ok(Received::Nothing);
        };
        match socket.read(buffer) {
            Ok(0) => Ok(Received::End),
            Ok(count) => Ok(Received::Octets(count)),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(Received::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the layer's last words, as far as the kernel takes them at once, to be followed by the end.
    pub fn write_last_words(&mut self) {
        if let (Some(socket), Ok(outgoing)) = (&self.socket, self.layer.outgoing())
            && !outgoing.unwritten().is_empty()
        {
            let _ = socket.send_with_flags(outgoing.unwritten(), libc::MSG_NOSIGNAL);
        }
    }

    /// What crossed the wire so far.
    pub fn wire(&self) -> Wire {
        self.socket
            .as_ref()
            .map(|socket| socket::tcp_wire(socket.as_fd()))
            .unwrap_or_default()
    }

    /// When the attempt to open it has failed at the latest.
    pub fn deadline_ns(&self) -> u64 {
        match self.state {
            State::Connecting => self.tried_ns + CONNECT_TIMEOUT_NS,
            State::Handshaking | State::Ending if !self.opened => {
                self.tried_ns + HANDSHAKE_TIMEOUT_NS
            }
            _ => NEVER_NS,
        }
    }
}

/// A local cause, such as no port or descriptor being left, is none of the server's.
fn refusal_of(error: &io::Error) -> Refusal {
    match error.raw_os_error() {
        Some(libc::ECONNREFUSED | libc::ECONNRESET) => Refusal::ConnectFailed,
        Some(libc::ETIMEDOUT) => Refusal::ConnectTimedOut,
        Some(libc::EHOSTUNREACH | libc::ENETUNREACH) => Refusal::Unreachable,
        Some(libc::EADDRNOTAVAIL | libc::EADDRINUSE | libc::EAGAIN) => Refusal::NoPort,
        Some(libc::EMFILE | libc::ENFILE) => Refusal::NoFile,
        _ => Refusal::Send,
    }
}

/// A socket that connects, and whether it has already.
fn start_connecting(server: SocketAddr, source: Option<IpAddr>) -> io::Result<(Socket, bool)> {
    let socket = Socket::new(
        Domain::for_address(server),
        Type::STREAM.nonblocking(),
        Some(Protocol::TCP),
    )?;
    socket.set_tcp_nodelay(true)?;
    if let Some(source) = source {
        socket::bind_source(&socket, source)?;
    }
    match socket.connect(&server.into()) {
        Ok(()) => Ok((socket, true)),
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok((socket, false)),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_causes_have_names_of_their_own() {
        for (number, refusal) in [
            (libc::EADDRNOTAVAIL, Refusal::NoPort),
            (libc::EMFILE, Refusal::NoFile),
            (libc::ENFILE, Refusal::NoFile),
            (libc::ECONNREFUSED, Refusal::ConnectFailed),
            (libc::ETIMEDOUT, Refusal::ConnectTimedOut),
            (libc::ENETUNREACH, Refusal::Unreachable),
            (libc::EPERM, Refusal::Send),
        ] {
            assert_eq!(refusal_of(&io::Error::from_raw_os_error(number)), refusal);
        }
    }
}

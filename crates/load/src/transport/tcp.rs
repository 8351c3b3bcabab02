//! TCP: pipelined queries, answers in any order, connections made when needed and made again when closed (RFC 7766).

use super::epoll::{Epoll, Ready};
use super::frame::{self, FrameReader};
use super::{Connections, Events, Transport, TransportTotals};
use crate::LoadError;
use crate::clock::Clock;
use crate::tally::Refusal;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// A client takes no further query while it has more than this to write: the server does not read.
const UNWRITTEN_LIMIT: usize = 64 * 1024;

/// Octets taken from a connection by one system call.
const READ_LEN: usize = 256 * 1024;

/// After a failed attempt a client waits this long before the next.
const RETRY_NS: u64 = 50_000_000;

/// What a client's connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is none; none is tried before this time.
    Closed { retry_ns: u64 },
    /// The handshake is under way.
    Connecting,
    /// Queries may be written.
    Open,
    /// Nothing can be written any more; what has arrived is still to be read.
    Ending,
}

struct Client {
    socket: Option<Socket>,
    state: State,
    outgoing: Vec<u8>,
    written: usize,
    frames: FrameReader,
    /// Has queries that `flush` is to look at.
    queued: bool,
    /// Whether epoll was told to watch for room to write.
    wants_room: bool,
}

impl Client {
    fn new() -> Self {
        Self {
            socket: None,
            state: State::Closed { retry_ns: 0 },
            outgoing: Vec::new(),
            written: 0,
            frames: FrameReader::default(),
            queued: false,
            wants_room: false,
        }
    }

    fn close(&mut self, retry_ns: u64) {
        self.socket = None;
        self.state = State::Closed { retry_ns };
        self.outgoing.clear();
        self.written = 0;
        self.frames.reset();
        self.wants_room = false;
    }

    fn unwritten(&self) -> usize {
        self.outgoing.len() - self.written
    }

    /// Writes as much as the kernel takes.
    fn write(&mut self) {
        let Some(socket) = &mut self.socket else {
            return;
        };
        while self.written < self.outgoing.len() {
            match socket.write(&self.outgoing[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.state = State::Ending;
                    break;
                }
            }
        }
        self.outgoing.clear();
        self.written = 0;
    }
}

/// TCP clients: each has at most one connection at a time.
pub struct Tcp {
    server: SocketAddr,
    clients: Vec<Client>,
    epoll: Epoll,
    /// Clients with `queued` set.
    queued: Vec<usize>,
    incoming: Vec<u8>,
    connections: Connections,
}

impl Tcp {
    /// Makes `clients` clients, none of them connected yet.
    ///
    /// # Errors
    /// [`LoadError::System`]
    pub fn open(server: SocketAddr, clients: usize) -> Result<Self, LoadError> {
        Ok(Self {
            server,
            clients: (0..clients).map(|_| Client::new()).collect(),
            epoll: Epoll::new()
                .map_err(|error| LoadError::system("making an epoll instance", error))?,
            queued: Vec::new(),
            incoming: vec![0; READ_LEN],
            connections: Connections::default(),
        })
    }

    fn connect(&mut self, index: usize, now_ns: u64, events: &mut impl Events) {
        self.connections.tried += 1;
        match start_connecting(self.server) {
            Ok(socket) if self.epoll.watch(socket.as_fd(), index, true, false).is_ok() => {
                let client = &mut self.clients[index];
                client.socket = Some(socket);
                client.state = State::Connecting;
                client.wants_room = true;
            }
            _ => self.fail(index, now_ns, events),
        }
    }

    fn fail(&mut self, index: usize, now_ns: u64, events: &mut impl Events) {
        self.connections.failed += 1;
        self.clients[index].close(now_ns + RETRY_NS);
        events.all_refused(index, Refusal::ConnectFailed);
    }

    fn lose(&mut self, index: usize, events: &mut impl Events) {
        self.connections.closed_by_peer += 1;
        if self.clients[index].frames.is_inside_message() {
            events.cut_message(index);
        }
        self.clients[index].close(0);
        events.all_refused(index, Refusal::ConnectionLost);
    }

    fn flush_client(&mut self, index: usize, clock: &impl Clock, events: &mut impl Events) {
        match self.clients[index].state {
            State::Closed { retry_ns } => {
                let now_ns = clock.now_ns();
                if now_ns >= retry_ns {
                    self.connect(index, now_ns, events);
                } else {
                    self.clients[index].outgoing.clear();
                    events.all_refused(index, Refusal::ConnectFailed);
                }
            }
            State::Open => self.write(index),
            State::Connecting | State::Ending => {}
        }
    }

    /// Writes, and watches for room as long as something is left.
    fn write(&mut self, index: usize) {
        let client = &mut self.clients[index];
        client.write();
        let wants_room = client.unwritten() > 0;
        if let (true, Some(socket)) = (wants_room != client.wants_room, &client.socket) {
            // If this fails, the queries that wait for room time out; nothing hangs.
            let _ = self.epoll.watch(socket.as_fd(), index, wants_room, true);
            client.wants_room = wants_room;
        }
    }

    fn handle(&mut self, ready: Ready, clock: &impl Clock, events: &mut impl Events) {
        let index = ready.client;
        if self.clients[index].state == State::Connecting {
            let failed = self.clients[index]
                .socket
                .as_ref()
                .is_none_or(|socket| !matches!(socket.take_error(), Ok(None)));
            if failed {
                return self.fail(index, clock.now_ns(), events);
            }
            if !ready.writable {
                return;
            }
            self.connections.opened += 1;
            self.clients[index].state = State::Open;
        }
        if ready.writable && self.clients[index].state == State::Open {
            self.write(index);
        }
        self.read(index, clock, events);
    }

    fn read(&mut self, index: usize, clock: &impl Clock, events: &mut impl Events) {
        let client = &mut self.clients[index];
        let Some(socket) = &mut client.socket else {
            return;
        };
        match socket.read(&mut self.incoming) {
            Ok(0) => self.lose(index, events),
            Ok(count) => {
                let now_ns = clock.now_ns();
                client.frames.feed(&self.incoming[..count], |message| {
                    events.answer(index, message, now_ns)
                });
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.lose(index, events),
        }
    }
}

impl Transport for Tcp {
    const STAMPS_ARRIVAL: bool = false;

    fn clients(&self) -> usize {
        self.clients.len()
    }

    fn has_room(&self, client: usize) -> bool {
        let client = &self.clients[client];
        client.state != State::Ending && client.unwritten() < UNWRITTEN_LIMIT
    }

    fn queue(&mut self, client: usize, id: u16, message: &[u8]) {
        let queued = &mut self.clients[client];
        frame::append(&mut queued.outgoing, id, message);
        if !queued.queued {
            queued.queued = true;
            self.queued.push(client);
        }
    }

    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events) {
        while let Some(index) = self.queued.pop() {
            self.clients[index].queued = false;
            self.flush_client(index, clock, events);
        }
    }

    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) {
        self.epoll.wait(0);
        while let Some(ready) = self.epoll.next_ready() {
            self.handle(ready, clock, events);
        }
    }

    fn wait(&mut self, clock: &impl Clock, until_ns: u64) {
        self.epoll.wait(until_ns.saturating_sub(clock.now_ns()));
    }

    fn totals(&self) -> TransportTotals {
        TransportTotals {
            connections: self.connections,
            socket_drops: 0,
        }
    }
}

fn start_connecting(server: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(server),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    match socket.connect(&server.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(socket),
    }
}

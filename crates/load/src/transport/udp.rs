//! UDP: connected sockets, batched system calls, arrival times from the kernel.

use super::epoll::Epoll;
use super::mmsg::{ReceiveBatch, SendBatch};
use super::sent_runs::SentRuns;
use super::{BATCH, Events, Transport, TransportTotals, socket};
use crate::LoadError;
use crate::clock::{Clock, realtime_ns};
use crate::refusal::Refusal;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Tries to send one datagram while earlier ones' ICMP errors are reported instead, or the kernel has no room.
const SEND_TRIES: u32 = 100;

/// Longest wait for room in the kernel's send buffer, each try.
const SEND_WAIT_MS: libc::c_int = 1;

/// Batches taken from one socket before it is another's turn, or that of sending.
const RECEIVE_ROUNDS: usize = 8;

/// UDP clients: each is a socket with a port of its own, connected to the server.
pub struct Udp {
    sockets: Vec<UdpSocket>,
    epoll: Epoll,
    incoming: ReceiveBatch,
    outgoing: SendBatch,
    runs: SentRuns,
    /// Clients to which an ICMP error has come since the last answer: they send each query on its own, since there is
    /// one error for a whole segmented send.
    refusing: Vec<bool>,
    /// The only socket has ICMP errors to be taken; unused with more than one.
    errors_waiting: bool,
}

impl Udp {
    /// Opens `clients` sockets, which send from `sources` in turn, or from where the kernel chooses if there are none.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for a source address that cannot be used, and [`LoadError::System`].
    pub fn open(server: SocketAddr, clients: usize, sources: &[IpAddr]) -> Result<Self, LoadError> {
        socket::check_sources(server, &sources[..sources.len().min(clients)])?;
        let epoll =
            Epoll::new().map_err(|error| LoadError::system("making an epoll instance", error))?;
        let mut sockets = Vec::with_capacity(clients);
        for client in 0..clients {
            let source = (!sources.is_empty()).then(|| sources[client % sources.len()]);
            let socket = connect(server, source).map_err(|error| {
                LoadError::client_socket(
                    format!("opening UDP socket {} of {clients}", client + 1),
                    error,
                )
            })?;
            epoll
                .watch(socket.as_fd(), client, false, false)
                .map_err(|error| LoadError::system("watching a UDP socket", error))?;
            sockets.push(socket);
        }
        Ok(Self {
            sockets,
            epoll,
            incoming: ReceiveBatch::new(),
            outgoing: SendBatch::new(),
            runs: SentRuns::new(),
            refusing: vec![false; clients],
            errors_waiting: false,
        })
    }

    /// Takes what has arrived at a socket, up to [`RECEIVE_ROUNDS`] batches; says whether that was all.
    fn receive_from(
        &mut self,
        client: usize,
        clock: &impl Clock,
        events: &mut impl Events,
    ) -> bool {
        for _ in 0..RECEIVE_ROUNDS {
            match self.incoming.receive(self.sockets[client].as_fd()) {
                Ok(count) => {
                    self.refusing[client] = false;
                    self.pass_on(client, count, clock, events);
                    if count < BATCH {
                        return true;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(_) => self.take_errors(client, clock, events),
            }
        }
        false
    }

    fn pass_on(&self, client: usize, count: usize, clock: &impl Clock, events: &mut impl Events) {
        let now_ns = clock.now_ns();
        let now_realtime_ns = realtime_ns();
        for index in 0..count {
            // The age of the stamp turns one clock into the other, whatever lies between them. A step of the real-time
            // clock in between can only make the stamp look older than the query or newer than now.
            let age_ns = self
                .incoming
                .arrival_realtime_ns(index)
                .map_or(0, |stamp| now_realtime_ns.saturating_sub(stamp));
            events.answer(
                client,
                self.incoming.message(index),
                now_ns.saturating_sub(age_ns),
            );
        }
    }

    /// Takes ICMP errors; each names the query it is about by the start of the datagram that it quotes. It stands for
    /// all that were sent with that one.
    fn take_errors(&mut self, client: usize, clock: &impl Clock, events: &mut impl Events) {
        let mut quoted = [0; 64];
        while let Some(error) = socket::take_error(self.sockets[client].as_fd(), &mut quoted) {
            self.refusing[client] = true;
            if error.payload_len < 2 {
                continue;
            }
            let refusal = if error.port_unreachable {
                Refusal::PortUnreachable
            } else {
                Refusal::Unreachable
            };
            let id = u16::from_be_bytes([quoted[0], quoted[1]]);
            let now_ns = clock.now_ns();
            let mut refuse = |id| events.refused(client, id, refusal, now_ns);
            refuse(id);
            self.runs.take(client, id, refuse);
        }
    }

    /// Remembers which of the queued datagrams from `first` to before `end` have just been sent as one message.
    fn remember_runs(&mut self, client: usize, mut first: usize, end: usize) {
        for size in self.outgoing.message_sizes() {
            if first >= end {
                return;
            }
            if size > 1 {
                let run = &self.outgoing.queued()[first..first + size];
                self.runs
                    .remember(client, run.iter().map(|queued| queued.id));
            }
            first += size;
        }
    }

    /// Sends the run of queued datagrams `first..end`, all of one client.
    fn send_run(
        &mut self,
        mut first: usize,
        end: usize,
        clock: &impl Clock,
        events: &mut impl Events,
    ) {
        let client = self.outgoing.queued()[first].client;
        let mut tries = 0;
        while first < end {
            let segmented = !self.refusing[client];
            let socket = self.sockets[client].as_fd();
            let error = match self.outgoing.send(socket, first, end, segmented) {
                Ok(count) => {
                    self.remember_runs(client, first, first + count);
                    first += count;
                    tries = 0;
                    continue;
                }
                Err(error) => error,
            };
            tries += 1;
            match error.raw_os_error() {
                Some(libc::EINTR) => continue,
                // A datagram too long for the link in one piece, or a link without the offload.
                Some(libc::EINVAL | libc::EIO | libc::EMSGSIZE)
                    if self.outgoing.give_up_segmentation() =>
                {
                    continue;
                }
                Some(libc::EAGAIN | libc::ENOBUFS) if tries < SEND_TRIES => {
                    wait_for_room(&self.sockets[client]);
                    continue;
                }
                // The error is that of an earlier datagram; this one has not been tried.
                Some(libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH) if tries < 3 => {
                    self.take_errors(client, clock, events);
                    continue;
                }
                _ => {}
            }
            let id = self.outgoing.queued()[first].id;
            events.refused(client, id, Refusal::Send, clock.now_ns());
            first += 1;
            tries = 0;
        }
    }
}

impl Transport for Udp {
    const STAMPS_ARRIVAL: bool = true;

    fn clients(&self) -> usize {
        self.sockets.len()
    }

    fn has_room(&self, _client: usize) -> bool {
        true
    }

    fn queue(&mut self, client: usize, id: u16, message: &[u8]) {
        self.outgoing.push(client, id, message);
    }

    fn flush(&mut self, clock: &impl Clock, events: &mut impl Events) {
        self.outgoing.sort();
        let mut first = 0;
        while let Some(start) = self.outgoing.queued().get(first).copied() {
            let same = self.outgoing.queued()[first..]
                .iter()
                .take_while(|next| next.client == start.client)
                .count();
            self.send_run(first, first + same, clock, events);
            first += same;
        }
        self.outgoing.clear();
    }

    fn receive(&mut self, clock: &impl Clock, events: &mut impl Events) -> bool {
        if self.sockets.len() == 1 {
            if std::mem::take(&mut self.errors_waiting) {
                self.take_errors(0, clock, events);
            }
            return self.receive_from(0, clock, events);
        }
        let mut drained = self.epoll.look();
        while let Some(ready) = self.epoll.next_ready() {
            if ready.error {
                self.take_errors(ready.client, clock, events);
            }
            drained &= self.receive_from(ready.client, clock, events);
        }
        drained
    }

    fn wait(&mut self, clock: &impl Clock, until_ns: u64) {
        self.epoll.wait(until_ns.saturating_sub(clock.now_ns()));
        if self.sockets.len() == 1 {
            // The one socket is always tried, which spares a system call a batch; only errors must be remembered.
            while let Some(ready) = self.epoll.next_ready() {
                self.errors_waiting |= ready.error;
            }
        }
    }

    fn ready_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    fn totals(&self) -> TransportTotals {
        let socket_drops = self
            .sockets
            .iter()
            .map(|socket| socket::drops(socket.as_fd()))
            .sum();
        TransportTotals {
            socket_drops,
            ..TransportTotals::default()
        }
    }
}

fn connect(server: SocketAddr, source: Option<IpAddr>) -> io::Result<UdpSocket> {
    let udp = Socket::new(
        Domain::for_address(server),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    socket::enlarge_buffers(udp.as_fd());
    socket::stamp_arrivals(udp.as_fd())?;
    socket::queue_errors(udp.as_fd(), server)?;
    udp.set_nonblocking(true)?;
    if let Some(source) = source {
        udp.bind(&SocketAddr::new(source, 0).into())?;
    }
    udp.connect(&server.into())?;
    Ok(udp.into())
}

fn wait_for_room(socket: &UdpSocket) {
    let mut poll = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: `poll` is one valid entry that outlives the call.
    unsafe { libc::poll(&mut poll, 1, SEND_WAIT_MS) };
}

//! What UDP and DoQ share: a socket for each client, connected to the server, with arrival times and ICMP errors from the
//! kernel.

use super::BATCH;
use super::epoll::Epoll;
use super::mmsg::ReceiveBatch;
use super::socket;
use crate::LoadError;
use crate::clock::{Clock, realtime_ns};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Batches taken from one socket before it is another's turn, or that of sending.
const RECEIVE_ROUNDS: usize = 8;

/// Tries to send one message while the kernel has no room.
const ROOM_TRIES: u32 = 100;

/// Longest wait for room in the kernel's send buffer, each try.
const ROOM_WAIT_MS: libc::c_int = 1;

/// Tries to send one message while earlier ones' ICMP errors are reported instead.
const ERROR_TRIES: u32 = 3;

/// Who takes what arrives at the sockets.
pub trait Receiver {
    /// The socket of a client.
    fn socket(&self, client: usize) -> BorrowedFd<'_>;

    /// These datagrams have arrived for a client.
    fn take_datagrams(&mut self, client: usize, received: &Received<'_>);

    /// ICMP errors may have come back to a client.
    fn take_errors(&mut self, client: usize);
}

/// Receives for many clients, a fair share each.
pub struct Inbox {
    epoll: Epoll,
    batch: ReceiveBatch,
    /// There is one socket. It is always tried, which spares a system call a batch.
    has_one_socket: bool,
    /// The only socket has ICMP errors to be taken; unused with more than one.
    errors_waiting: bool,
}

impl Inbox {
    /// Opens the sockets of `clients` clients, which send from `sources` in turn, or from where the kernel chooses if
    /// there are none, and which `prepare` has set options of before they are connected to `server`.
    ///
    /// # Errors
    /// [`LoadError::Setting`] for a source address that cannot be used, and [`LoadError::System`].
    pub fn open(
        server: SocketAddr,
        sources: &[IpAddr],
        clients: usize,
        prepare: impl Fn(BorrowedFd<'_>) -> io::Result<()>,
    ) -> Result<(Self, Vec<UdpSocket>), LoadError> {
        socket::check_sources(server, &sources[..sources.len().min(clients)])?;
        let epoll =
            Epoll::new().map_err(|error| LoadError::system("making an epoll instance", error))?;
        let mut sockets = Vec::with_capacity(clients);
        for client in 0..clients {
            let source = sources.get(client % sources.len().max(1)).copied();
            let socket = open_socket(server, source, &prepare).map_err(|error| {
                let from = source.map_or(String::new(), |source| format!(" from {source}"));
                let action = format!("opening UDP socket {} of {clients}{from}", client + 1);
                LoadError::client_socket(action, error)
            })?;
            epoll
                .watch(socket.as_fd(), client, false, false)
                .map_err(|error| LoadError::system("watching a UDP socket", error))?;
            sockets.push(socket);
        }
        let inbox = Self {
            epoll,
            batch: ReceiveBatch::new(),
            has_one_socket: clients == 1,
            errors_waiting: false,
        };
        Ok((inbox, sockets))
    }

    /// Has `receiver` take what has arrived, without blocking, up to [`RECEIVE_ROUNDS`] batches for each client; says
    /// whether that was all.
    pub fn receive(&mut self, clock: &impl Clock, receiver: &mut impl Receiver) -> bool {
        if self.has_one_socket {
            if std::mem::take(&mut self.errors_waiting) {
                receiver.take_errors(0);
            }
            return self.receive_from(0, clock, receiver);
        }
        let mut drained = self.epoll.look();
        while let Some(ready) = self.epoll.next_ready() {
            if ready.error {
                receiver.take_errors(ready.client);
            }
            drained &= self.receive_from(ready.client, clock, receiver);
        }
        drained
    }

    fn receive_from(
        &mut self,
        client: usize,
        clock: &impl Clock,
        receiver: &mut impl Receiver,
    ) -> bool {
        for _ in 0..RECEIVE_ROUNDS {
            match self.batch.receive(receiver.socket(client)) {
                Ok(count) => {
                    let received = Received {
                        batch: &self.batch,
                        count,
                        both: BothClocks::read(clock, realtime_ns),
                    };
                    receiver.take_datagrams(client, &received);
                    if count < BATCH {
                        return true;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(_) => receiver.take_errors(client),
            }
        }
        false
    }

    /// Blocks until something arrives, for at most `span_ns`.
    pub fn wait(&mut self, span_ns: u64) {
        self.epoll.wait(span_ns);
        if self.has_one_socket {
            // Only errors must be remembered.
            while let Some(ready) = self.epoll.next_ready() {
                self.errors_waiting |= ready.error;
            }
        }
    }

    /// A descriptor that is ready to be read when something has arrived.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

/// Datagrams that have been taken from one socket by one system call.
pub struct Received<'a> {
    batch: &'a ReceiveBatch,
    count: usize,
    both: BothClocks,
}

impl Received<'_> {
    /// When they were taken.
    pub fn now_ns(&self) -> u64 {
        self.both.now_ns
    }

    /// Their payloads, and when each arrived.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        (0..self.count).flat_map(|index| {
            let received = self.batch.received(index);
            let received_ns = received
                .arrival_realtime_ns
                .map_or(self.both.now_ns, |stamp_ns| self.both.time(stamp_ns));
            received
                .datagrams()
                .map(move |datagram| (datagram, received_ns))
        })
    }
}

/// One moment by the load's clock and by the real-time clock, which is that of the kernel's stamps.
#[derive(Clone, Copy, Debug)]
struct BothClocks {
    now_ns: u64,
    realtime_ns: u64,
}

impl BothClocks {
    /// Reads the two. Whatever passes between the reads, such as another thread's turn on the CPU, makes arrivals seem so
    /// much later: the load's clock is read last, for with the other order they would seem earlier, and the server faster
    /// than it is.
    fn read(clock: &impl Clock, realtime_ns: impl FnOnce() -> u64) -> Self {
        let realtime_ns = realtime_ns();
        let now_ns = clock.now_ns();
        Self {
            now_ns,
            realtime_ns,
        }
    }

    /// The time of a stamp by the load's clock, not after the moment itself: the stamp's age turns one into the other,
    /// whatever lies between them. Only what waits at the sockets while the real-time clock is being set is timed wrong.
    fn time(self, stamp_ns: u64) -> u64 {
        let age_ns = self.realtime_ns.saturating_sub(stamp_ns);
        self.now_ns.saturating_sub(age_ns)
    }
}

/// What to do about a message that the kernel did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Try again; if it had no room, that has been waited for.
    TryAgain,
    /// Do not have it cut up: the message is too long for the link in one piece, or the link lacks the offload.
    DoNotSegment,
    /// Take the ICMP errors of earlier messages, one of which was reported instead of trying this one; then try again.
    TakeErrors,
    /// Nothing helps.
    GiveUp,
}

impl Remedy {
    /// The one for this error, the last of `tries` tries for the same message in a row.
    pub fn of(error: &io::Error, tries: u32, may_segment: bool, socket: BorrowedFd<'_>) -> Self {
        match error.raw_os_error() {
            Some(libc::EINTR) => Self::TryAgain,
            Some(libc::EINVAL | libc::EIO | libc::EMSGSIZE) if may_segment => Self::DoNotSegment,
            Some(libc::EAGAIN | libc::ENOBUFS) if tries < ROOM_TRIES => {
                wait_for_room(socket);
                Self::TryAgain
            }
            Some(libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH)
                if tries < ERROR_TRIES =>
            {
                Self::TakeErrors
            }
            _ => Self::GiveUp,
        }
    }
}

fn wait_for_room(socket: BorrowedFd<'_>) {
    let mut poll = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: `poll` is one valid entry that outlives the call.
    unsafe { libc::poll(&mut poll, 1, ROOM_WAIT_MS) };
}

fn open_socket(
    server: SocketAddr,
    source: Option<IpAddr>,
    prepare: impl Fn(BorrowedFd<'_>) -> io::Result<()>,
) -> io::Result<UdpSocket> {
    let domain = Domain::for_address(server);
    let udp = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    socket::enlarge_buffers(udp.as_fd());
    socket::stamp_arrivals(udp.as_fd())?;
    socket::take_together(udp.as_fd());
    socket::queue_errors(udp.as_fd(), server)?;
    prepare(udp.as_fd())?;
    udp.set_nonblocking(true)?;
    if let Some(source) = source {
        socket::bind_source(&udp, source)?;
    }
    udp.connect(&server.into())?;
    Ok(udp.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// Time that passes with each look at it.
    struct Interrupted {
        time_ns: Cell<u64>,
        spans_ns: Cell<[u64; 2]>,
    }

    impl Interrupted {
        fn look(&self) -> u64 {
            let [span_ns, next_ns] = self.spans_ns.get();
            self.spans_ns.set([next_ns, 0]);
            self.time_ns.set(self.time_ns.get() + span_ns);
            self.time_ns.get()
        }
    }

    impl Clock for Interrupted {
        fn now_ns(&self) -> u64 {
            self.look()
        }

        fn sleep_until(&self, _deadline_ns: u64) {}

        fn thread_cpu_ns(&self) -> u64 {
            0
        }

        fn thread_run_delay_ns(&self) -> u64 {
            0
        }
    }

    #[test]
    fn sockets_send_from_the_sources_in_turn() {
        for address in [IpAddr::from([127, 0, 0, 1]), "::1".parse().unwrap()] {
            let Ok(server) = UdpSocket::bind((address, 0)) else {
                eprintln!("skipped: {address} is not configured here");
                continue;
            };
            let sources = match address {
                IpAddr::V4(_) => vec![[127, 0, 4, 1].into(), [127, 0, 4, 2].into()],
                IpAddr::V6(_) => vec![address],
            };
            let server = server.local_addr().unwrap();
            let (_, sockets) = Inbox::open(server, &sources, 5, |_| Ok(())).unwrap();
            let local = sockets.iter().map(|socket| socket.local_addr().unwrap());
            for (client, local) in local.enumerate() {
                assert_eq!(local.ip(), sources[client % sources.len()]);
                assert_ne!(local.port(), 0);
            }
        }
    }

    proptest! {
        /// However long the thread has no CPU before each look at a clock, and whatever lies between the two clocks.
        #[test]
        fn no_arrival_seems_earlier_than_it_was(
            arrived_ns in 0u64..1_000_000_000,
            spans_ns in [0u64..50_000_000, 0u64..50_000_000],
            apart_ns in 0u64..2_000_000_000_000_000_000,
        ) {
            let clock = Interrupted { time_ns: Cell::new(arrived_ns), spans_ns: Cell::new(spans_ns) };
            let both = BothClocks::read(&clock, || clock.look() + apart_ns);
            let received_ns = both.time(arrived_ns + apart_ns);
            prop_assert!((arrived_ns..=clock.time_ns.get()).contains(&received_ns));
            prop_assert!(spans_ns[1] > 0 || received_ns == arrived_ns);
        }
    }
}

//! Serving over UDP.

use super::accounts::Accounts;
use super::arrivals::{age, clock};
use super::datagrams::{Datagram, Outgoing, Received, Reply};
use super::delayed::Delayed;
use super::gathering::Gathering;
use super::packets::Packets;
use super::spare::Spare;
use super::{EXACTNESS, STOP_CHECK, Service};
use crate::InternetError;
use crate::answer::{Arrived, Scratch};
use dnsrig_answer::Transport;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// Octets of the longest message.
const MESSAGE_LEN: usize = 65_535;

/// What is to be sent from a socket.
struct Sending<'a> {
    socket: &'a UdpSocket,
    outgoing: Outgoing,
}

/// One thread's work.
struct Worker<'a> {
    service: &'a Service,
    /// One for each address family.
    sending: Vec<Sending<'a>>,
    /// For what leaves as whole packets.
    packets: Option<Packets>,
    scratch: Scratch,
    out: Box<[u8]>,
    delayed: Delayed<Reply>,
    due: Vec<Reply>,
    spare: Spare,
    accounts: Accounts,
}

fn failed(source: io::Error) -> InternetError {
    InternetError::Socket {
        protocol: "UDP",
        source,
    }
}

/// Answers on sockets, one for each address family, until told to stop.
///
/// What came by a link may be answered by `packets`, a socket that sends on it.
pub(super) fn run(
    service: &Service,
    sockets: &[UdpSocket],
    packets: Option<OwnedFd>,
) -> Result<(), InternetError> {
    let port = sockets[0].local_addr().map_err(failed)?.port();
    let on_link = service.options.link.zip(packets);
    let sending = |socket| Sending {
        socket,
        outgoing: Outgoing::new(),
    };
    let mut worker = Worker {
        service,
        sending: sockets.iter().map(sending).collect(),
        packets: on_link.map(|(link, socket)| Packets::new(socket, link, port)),
        scratch: Scratch::default(),
        out: vec![0; MESSAGE_LEN].into(),
        delayed: Delayed::new(service.beat.unwrap_or(super::SHORTEST_BEAT)),
        due: Vec::new(),
        spare: Spare::default(),
        accounts: Accounts::default(),
    };
    let mut received = Received::new();
    let mut polled: Vec<libc::pollfd> = sockets.iter().map(poll_of).collect();
    let mut handed_on = Instant::now();
    let mut gathering = Gathering::default();
    wake_precisely();
    while !service.should_stop() {
        gathering.every(service.between_looks());
        let now = service.began.elapsed();
        if gathering.is_time(now) {
            worker.wait(&mut polled).map_err(failed)?;
        } else {
            thread::sleep(gathering.pause(now, worker.delayed.next(now)));
            // Something has come between two looks mostly, so to ask first whether it has would be a call more.
            polled
                .iter_mut()
                .for_each(|poll| poll.revents = libc::POLLIN);
        }
        let looked = service.began.elapsed();
        if gathering.is_time(looked) {
            let mut came = 0;
            for (poll, socket) in polled.iter().zip(sockets) {
                if poll.revents != 0 {
                    came += worker.answer_all(socket, &mut received)?;
                }
            }
            gathering.looked(looked, came);
        }
        worker.send_due()?;
        if handed_on.elapsed() >= STOP_CHECK {
            handed_on = Instant::now();
            service.hand_on(&mut worker.accounts);
        }
    }
    service.hand_on(&mut worker.accounts);
    Ok(())
}

fn send_packets(service: &Service, packets: &mut Packets) -> Result<(), InternetError> {
    let refused = packets.send().map_err(failed)?;
    service.count_dropped(refused);
    Ok(())
}

/// By how much an answer may be early or late that is `delay` on its way, so that many leave together, when queries are looked for:
/// that is a part of its way, or the time between two looks, but not more than its way.
fn exactness(delay: Duration, between_looks: Duration) -> Duration {
    between_looks.min(delay).max(delay / EXACTNESS)
}

fn poll_of(socket: &UdpSocket) -> libc::pollfd {
    libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }
}

impl Worker<'_> {
    /// Answers what has arrived at a socket, up to a batch; returns how many queries that were.
    fn answer_all(
        &mut self,
        socket: &UdpSocket,
        received: &mut Received,
    ) -> Result<usize, InternetError> {
        let count = match received.receive(socket) {
            Ok(count) => count,
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => return Err(failed(error)),
            // It is what an ICMP message told about a peer.
            Err(_) => 0,
        };
        // Both clocks once, together, for all: when an answer is due does not depend on how long those before it take.
        let (now, day) = (self.service.began.elapsed(), clock());
        for place in 0..count {
            if let Some(query) = received.get(place) {
                let waited = query.arrived.map(|arrived| age(day, arrived));
                self.answer(&query, now, waited.unwrap_or_default())?;
            }
        }
        Ok(count)
    }

    /// Answers a query that was read at `now` and had `waited` for it.
    fn answer(
        &mut self,
        query: &Datagram<'_>,
        now: Duration,
        waited: Duration,
    ) -> Result<(), InternetError> {
        let server = query.server;
        let arrived = Arrived {
            server,
            transport: Transport::Udp,
            message: query.octets,
            now,
        };
        let mut answer = self
            .service
            .internet
            .answer(&arrived, &mut self.scratch, &mut self.out);
        let waits = !answer.delay.is_zero();
        let is_full = self.delayed.octets() >= self.service.options.delayed_octets_max;
        if answer.len.is_some() && waits && is_full {
            self.service.dropped.fetch_add(1, Ordering::Relaxed);
            answer.len = None;
        }
        self.accounts
            .add(&answer, query.octets.len(), false, &self.out);
        let Some(len) = answer.len else {
            return Ok(());
        };
        let reply = Reply {
            octets: self.spare.holding(&self.out[..len]),
            peer: query.peer,
            source: server,
            device: query.device,
        };
        if !waits {
            return self.push(reply);
        }
        let due = now + answer.delay.saturating_sub(waited);
        let octets = reply.octets.capacity();
        let exact = exactness(answer.delay, self.service.between_looks());
        self.delayed.put(due, exact, reply, octets);
        Ok(())
    }

    /// Sends what is due, and what need not wait.
    fn send_due(&mut self) -> Result<(), InternetError> {
        let mut due = std::mem::take(&mut self.due);
        self.delayed
            .take_due(self.service.began.elapsed(), |reply| due.push(reply));
        for reply in due.drain(..) {
            self.push(reply)?;
        }
        // Its memory is used again.
        self.due = due;
        if let Some(packets) = &mut self.packets {
            send_packets(self.service, packets)?;
        }
        let mut sending = self.sending.iter_mut();
        sending.try_for_each(|one| one.send(self.service, &mut self.spare))
    }

    /// Has an answer sent with the next ones.
    fn push(&mut self, reply: Reply) -> Result<(), InternetError> {
        if let Some(packets) = self.packets.as_mut().filter(|some| some.takes(&reply)) {
            if packets.is_full() {
                send_packets(self.service, packets)?;
            }
            packets.push(&reply);
            self.spare.keep(reply.octets);
            return Ok(());
        }
        // IPv4's socket is the first; who was asked over IPv6 has both.
        let one = &mut self.sending[usize::from(reply.source.is_ipv6())];
        if one.outgoing.is_full() {
            one.send(self.service, &mut self.spare)?;
        }
        one.outgoing.push(reply);
        Ok(())
    }

    /// Waits until a datagram comes, or until an answer is due.
    fn wait(&self, polled: &mut [libc::pollfd]) -> io::Result<()> {
        let next = self.delayed.next(self.service.began.elapsed());
        let timeout: Duration = next.map_or(STOP_CHECK, |next| next.min(STOP_CHECK));
        let timeout = libc::timespec {
            tv_sec: 0,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let count = polled.len() as libc::nfds_t;
        // SAFETY: as many pollfds as are said, and one timespec, all live; no signal mask.
        let result = unsafe { libc::ppoll(polled.as_mut_ptr(), count, &timeout, std::ptr::null()) };
        if result < 0 {
            // What the call before said of the sockets is still there, and harmless: receiving does not wait.
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Lets the calling thread's timers fire at their time instead of up to 50 us late, to be batched with others. The load
/// generator has the same call: all that both stand on is zone data, which has no timers.
fn wake_precisely() {
    // SAFETY: takes no pointers. If it fails, answers leave a little later.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

impl Sending<'_> {
    fn send(&mut self, service: &Service, spare: &mut Spare) -> Result<(), InternetError> {
        let refused = self.outgoing.send(self.socket, spare).map_err(failed)?;
        service.count_dropped(refused);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Answer;
    use crate::serve::accounts::{Account, ServedBy};
    use crate::serve::{InternetServer, Responding, ServeOptions, listen};
    use crate::servers::ServerId;
    use std::net::Ipv4Addr;
    use std::num::NonZeroUsize;
    use std::sync::Arc;

    const DISTANCE: Duration = Duration::from_millis(150);
    /// How long the query lies in the kernel's queue, at least; less than what makes a stamp too old to be believed.
    const UNREAD: Duration = Duration::from_millis(50);
    /// What the clock of the day, which the kernel's stamps are of, may be slewed meanwhile.
    const SLEWED: Duration = Duration::from_millis(1);

    /// A server that gives every query back, so far away.
    struct Echo(Duration);

    impl Responding for Echo {
        fn answer(&self, arrived: &Arrived<'_>, _: &mut Scratch, out: &mut [u8]) -> Answer {
            out[..arrived.message.len()].copy_from_slice(arrived.message);
            Answer {
                len: Some(arrived.message.len()),
                delay: self.0,
                server: None,
                rtype: 0,
            }
        }

        fn has_ipv6(&self) -> bool {
            false
        }

        fn nearest(&self) -> Option<Duration> {
            Some(self.0).filter(|distance| !distance.is_zero())
        }

        fn served_by(&self, _: ServerId) -> ServedBy {
            unreachable!("no query is to a server with a number")
        }

        fn signatures_made(&self) -> u64 {
            0
        }

        fn zones_made(&self) -> u64 {
            0
        }

        fn octets(&self) -> usize {
            0
        }
    }

    /// A client of the server at a port of the loopback device, which waits long, not for ever.
    fn client_of(port: u16) -> UdpSocket {
        let client = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        client.connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        client
    }

    #[test]
    fn distances_say_how_long_queries_are_gathered_or_else_who_serves() {
        let gathered = Duration::from_millis(7);
        let between_looks = |distance, gathers: Duration| {
            let service = Service::new(Arc::new(Echo(distance)), ServeOptions::new());
            let ns = gathers.as_nanos() as u64;
            service.gathers_ns.store(ns, Ordering::Relaxed);
            service.between_looks()
        };
        assert_eq!(between_looks(Duration::ZERO, gathered), gathered);
        assert_eq!(
            between_looks(Duration::ZERO, Duration::ZERO),
            Duration::ZERO
        );
        assert_eq!(between_looks(DISTANCE, gathered), Duration::from_millis(4));
        assert_eq!(
            between_looks(Duration::from_millis(2), gathered),
            Duration::from_micros(1600)
        );
    }

    #[test]
    fn what_comes_one_after_the_other_is_gathered_while_that_is_wanted() {
        const GATHERED: Duration = Duration::from_millis(200);
        let options = ServeOptions {
            port: 0,
            threads: NonZeroUsize::MIN,
            on_loopback: true,
            ..ServeOptions::new()
        };
        let mut server = InternetServer::start(Arc::new(Echo(Duration::ZERO)), options).unwrap();
        let client = client_of(server.port());
        let ask = || {
            client.send(&[0; 12]).unwrap();
            assert_eq!(client.recv(&mut [0; 12]).unwrap(), 12);
        };
        let time_of_four = || {
            ask();
            let began = Instant::now();
            (0..4).for_each(|_| ask());
            began.elapsed()
        };
        server.gather(GATHERED);
        // The first of them waits for the rest of a pause, the others for a whole one each.
        assert!(time_of_four() >= 3 * GATHERED);
        server.gather(Duration::ZERO);
        // Where other programs have the processor they take longer, but not each time.
        assert!((0..20).any(|_| time_of_four() < GATHERED));
        server.stop().unwrap();
    }

    /// When a query was sent, when the server began to read, and when the answer came.
    fn unread_for_a_while() -> (Instant, Instant, Instant) {
        let options = ServeOptions {
            port: 0,
            threads: NonZeroUsize::MIN,
            on_loopback: true,
            ..ServeOptions::new()
        };
        let sockets = listen::listen(&options, false, true).unwrap();
        let service = Service::new(Arc::new(Echo(DISTANCE)), options);
        let client = client_of(sockets.port);
        let sent = Instant::now();
        client.send(&[0; 12]).unwrap();
        thread::sleep(UNREAD);
        let began = Instant::now();
        thread::scope(|scope| {
            scope.spawn(|| run(&service, &sockets.udp[0], None).unwrap());
            let received = client.recv(&mut [0; 12]);
            let came = Instant::now();
            service.stop.store(true, Ordering::Relaxed);
            assert_eq!(received.unwrap(), 12);
            (sent, began, came)
        })
    }

    #[test]
    fn answers_are_as_exact_as_their_way_and_looks_allow() {
        let ms = Duration::from_millis;
        for (way, between_looks, exact) in
            [(1, 4, 1), (6, 4, 4), (20, 4, 4), (50, 4, 10), (6, 0, 1)]
        {
            let found = exactness(ms(way), ms(between_looks)).as_millis();
            assert_eq!(found, exact, "{way} ms, looks every {between_looks} ms");
        }
    }

    #[test]
    fn what_waited_to_be_read_has_waited_a_part_of_its_distance() {
        // Where the machine has no time for the threads an answer is late, so there is more than one try; an answer before its
        // time, counted from when the query was read, can only come by the stamp.
        let is_by_stamp = |_| {
            let (sent, began, came) = unread_for_a_while();
            let least = DISTANCE - DISTANCE / EXACTNESS - SLEWED;
            assert!(came >= sent + least, "an answer came too early");
            came < began + DISTANCE - UNREAD / 2
        };
        assert!(
            (0..20).any(is_by_stamp),
            "answers come a distance after queries were read, not after they arrived"
        );
    }

    #[test]
    fn answers_that_find_no_room_to_wait_are_dropped_and_counted() {
        const ASKED: u64 = 50;
        let options = ServeOptions {
            port: 0,
            threads: NonZeroUsize::MIN,
            on_loopback: true,
            delayed_octets_max: 1000,
            ..ServeOptions::new()
        };
        let mut server = InternetServer::start(Arc::new(Echo(DISTANCE)), options).unwrap();
        let client = client_of(server.port());
        for _ in 0..ASKED {
            client.send(&[0; 12]).unwrap();
        }
        // One had room, whatever else did.
        assert_eq!(client.recv(&mut [0; 12]).unwrap(), 12);
        let deadline = Instant::now() + Duration::from_secs(30);
        while server.queries() < ASKED {
            assert!(server.is_running() && Instant::now() < deadline);
            thread::sleep(STOP_CHECK);
        }
        let accounts = server.accounts();
        let sum = |count: fn(&Account) -> u64| accounts.iter().map(|(_, one)| count(one)).sum();
        let (queries, answers): (u64, u64) = (sum(|one| one.queries), sum(|one| one.answers));
        assert_eq!(queries, ASKED);
        assert!((1..ASKED).contains(&server.dropped()));
        assert_eq!(answers + server.dropped(), ASKED);
        server.stop().unwrap();
    }
}

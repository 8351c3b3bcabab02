//! Serving over UDP.

use super::accounts::Accounts;
use super::datagrams::{BATCH, Outgoing, Peer, Received};
use super::delayed::Delayed;
use super::{STOP_CHECK, Service};
use crate::InternetError;
use crate::answer::{Arrived, Scratch};
use dnsrig_answer::Transport;
use std::io;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// Octets of the longest message.
const MESSAGE_LEN: usize = 65_535;
/// Queries are looked for at most this often, so that one waking answers all that came meanwhile: a resolver's come one by one,
/// and to wake for each costs as much as to answer it. A query that comes after a longer pause is answered at once.
const GATHERING: Duration = Duration::from_micros(200);
/// With this many queries at once there is no gain in gathering more.
const MANY: usize = BATCH / 4;
/// Buffers of answers that were sent, kept for the next ones.
const SPARE_MAX: usize = 1024;

/// An answer that waits for its time.
struct Waiting {
    octets: Vec<u8>,
    peer: Peer,
    source: IpAddr,
}

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
    scratch: Scratch,
    out: Box<[u8]>,
    delayed: Delayed<Waiting>,
    due: Vec<Waiting>,
    spare: Vec<Vec<u8>>,
    accounts: Accounts,
}

fn failed(source: io::Error) -> InternetError {
    InternetError::Socket {
        protocol: "UDP",
        source,
    }
}

/// Answers on sockets, one for each address family, until told to stop.
pub(super) fn run(service: &Service, sockets: &[UdpSocket]) -> Result<(), InternetError> {
    let sending = |socket| Sending {
        socket,
        outgoing: Outgoing::new(),
    };
    let mut worker = Worker {
        service,
        sending: sockets.iter().map(sending).collect(),
        scratch: Scratch::default(),
        out: vec![0; MESSAGE_LEN].into(),
        delayed: Delayed::new(),
        due: Vec::new(),
        spare: Vec::new(),
        accounts: Accounts::default(),
    };
    let mut received = Received::new();
    let mut polled: Vec<libc::pollfd> = sockets.iter().map(poll_of).collect();
    let mut handed_on = Instant::now();
    let (mut looked, mut came) = (handed_on, 0);
    while !service.should_stop() {
        if came < MANY {
            thread::sleep(GATHERING.saturating_sub(looked.elapsed()));
        }
        worker.wait(&mut polled).map_err(failed)?;
        looked = Instant::now();
        came = 0;
        for (poll, socket) in polled.iter().zip(sockets) {
            if poll.revents != 0 {
                came += worker.answer_all(socket, &mut received)?;
            }
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
        for place in 0..count {
            if let Some((query, peer, server)) = received.get(place) {
                self.answer(query, peer, server)?;
            }
        }
        Ok(count)
    }

    fn answer(&mut self, query: &[u8], peer: Peer, server: IpAddr) -> Result<(), InternetError> {
        let now = self.service.began.elapsed();
        let arrived = Arrived {
            server,
            transport: Transport::Udp,
            message: query,
            now,
        };
        let answer = self
            .service
            .internet
            .answer(&arrived, &mut self.scratch, &mut self.out);
        self.accounts.add(&answer, query.len(), false, &self.out);
        let Some(len) = answer.len else {
            return Ok(());
        };
        if answer.delay.is_zero() {
            return push(
                &mut self.sending,
                self.service,
                &self.out[..len],
                peer,
                server,
            );
        }
        if self.delayed.len() >= self.service.options.delayed_max {
            self.service.dropped.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let mut octets = self.spare.pop().unwrap_or_default();
        octets.extend_from_slice(&self.out[..len]);
        let waiting = Waiting {
            octets,
            peer,
            source: server,
        };
        self.delayed.put(now + answer.delay, waiting);
        Ok(())
    }

    /// Sends what is due, and what need not wait.
    fn send_due(&mut self) -> Result<(), InternetError> {
        let due = &mut self.due;
        self.delayed
            .take_due(self.service.began.elapsed(), |waiting| due.push(waiting));
        for mut waiting in self.due.drain(..) {
            push(
                &mut self.sending,
                self.service,
                &waiting.octets,
                waiting.peer,
                waiting.source,
            )?;
            if self.spare.len() < SPARE_MAX {
                waiting.octets.clear();
                self.spare.push(waiting.octets);
            }
        }
        let mut sending = self.sending.iter_mut();
        sending.try_for_each(|one| one.send(self.service))
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

/// Has a datagram sent with the next ones from `source`.
fn push(
    sending: &mut [Sending<'_>],
    service: &Service,
    octets: &[u8],
    peer: Peer,
    source: IpAddr,
) -> Result<(), InternetError> {
    // IPv4's socket is the first; who was asked over IPv6 has both.
    let one = &mut sending[usize::from(source.is_ipv6())];
    if one.outgoing.is_full() {
        one.send(service)?;
    }
    one.outgoing.push(octets, peer, source);
    Ok(())
}

impl Sending<'_> {
    fn send(&mut self, service: &Service) -> Result<(), InternetError> {
        let refused = self.outgoing.send(self.socket).map_err(failed)?;
        if refused > 0 {
            service.dropped.fetch_add(refused as u64, Ordering::Relaxed);
        }
        Ok(())
    }
}

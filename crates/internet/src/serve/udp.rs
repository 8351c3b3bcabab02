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
use std::time::{Duration, Instant};

/// Octets of the longest message.
const MESSAGE_LEN: usize = 65_535;

/// An answer that waits for its time.
struct Waiting {
    octets: Box<[u8]>,
    peer: Peer,
    source: IpAddr,
}

/// One thread's work.
struct Worker<'a> {
    service: &'a Service,
    socket: &'a UdpSocket,
    scratch: Scratch,
    out: Box<[u8]>,
    outgoing: Outgoing,
    delayed: Delayed<Waiting>,
    accounts: Accounts,
}

fn failed(source: io::Error) -> InternetError {
    InternetError::Socket {
        protocol: "UDP",
        source,
    }
}

/// Answers on one socket until told to stop.
pub(super) fn run(service: &Service, socket: &UdpSocket) -> Result<(), InternetError> {
    let mut worker = Worker {
        service,
        socket,
        scratch: Scratch::default(),
        out: vec![0; MESSAGE_LEN].into(),
        outgoing: Outgoing::new(),
        delayed: Delayed::new(),
        accounts: Accounts::default(),
    };
    let mut received = Received::new();
    let mut handed_on = Instant::now();
    // Whether all that had arrived was taken: then it waits at once, not after a further call that finds nothing.
    let mut is_drained = false;
    while !service.should_stop() {
        if is_drained {
            worker.wait().map_err(failed)?;
        }
        let count = match received.receive(socket) {
            Ok(count) => count,
            Err(error) if error.raw_os_error() == Some(libc::EBADF) => return Err(failed(error)),
            // Nothing has come, or it is what an ICMP message told about a peer.
            Err(_) => 0,
        };
        is_drained = count < BATCH;
        for place in 0..count {
            if let Some((query, peer, server)) = received.get(place) {
                worker.answer(query, peer, server)?;
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

impl Worker<'_> {
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
            if self.outgoing.is_full() {
                self.send()?;
            }
            self.outgoing.push(&self.out[..len], peer, server);
            return Ok(());
        }
        if self.delayed.len() >= self.service.options.delayed_max {
            self.service.dropped.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        let waiting = Waiting {
            octets: self.out[..len].into(),
            peer,
            source: server,
        };
        self.delayed.put(now + answer.delay, waiting);
        Ok(())
    }

    fn send(&mut self) -> Result<(), InternetError> {
        let refused = self.outgoing.send(self.socket).map_err(failed)?;
        self.service
            .dropped
            .fetch_add(refused as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Sends what is due, and what need not wait.
    fn send_due(&mut self) -> Result<(), InternetError> {
        let mut due = Vec::new();
        self.delayed
            .take_due(self.service.began.elapsed(), |waiting| due.push(waiting));
        for waiting in due {
            if self.outgoing.is_full() {
                self.send()?;
            }
            self.outgoing
                .push(&waiting.octets, waiting.peer, waiting.source);
        }
        self.send()
    }

    /// Waits until a datagram comes, or until an answer is due.
    fn wait(&self) -> io::Result<()> {
        let next = self.delayed.next(self.service.began.elapsed());
        let timeout: Duration = next.map_or(STOP_CHECK, |next| next.min(STOP_CHECK));
        let timeout = libc::timespec {
            tv_sec: 0,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        let mut poll = libc::pollfd {
            fd: self.socket.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one pollfd and one timespec, both live; no signal mask.
        let result = unsafe { libc::ppoll(&mut poll, 1, &timeout, std::ptr::null()) };
        if result < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(())
    }
}

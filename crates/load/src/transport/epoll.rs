//! Waiting for many sockets with a deadline in nanoseconds.

use crate::clock::to_timespec;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

/// Readiness taken by one system call.
const EVENTS: usize = 256;

/// What a socket is ready for.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// The number the socket was added under.
    pub client: usize,
    /// It can be read: octets, the end, or an error.
    pub readable: bool,
    /// It can be written to, or connecting has ended.
    pub writable: bool,
    /// There is an error to be fetched.
    pub error: bool,
}

/// An epoll instance, level-triggered.
#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
    ready: usize,
    /// The kernel has `epoll_pwait2` (Linux 5.11), and no sandbox forbids it.
    has_pwait2: bool,
}

impl Epoll {
    /// Makes one.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new() -> io::Result<Self> {
        // SAFETY: takes no pointers.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` was just made and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let mut epoll = Self {
            fd,
            events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS],
            ready: 0,
            has_pwait2: true,
        };
        epoll.has_pwait2 = epoll.pwait2(0) >= 0;
        Ok(epoll)
    }

    /// Watches a socket for reading, and for writing if `writable`; `known` if it is watched already.
    ///
    /// # Errors
    /// The kernel's.
    pub fn watch(
        &self,
        socket: BorrowedFd<'_>,
        client: usize,
        writable: bool,
        known: bool,
    ) -> io::Result<()> {
        let operation = if known {
            libc::EPOLL_CTL_MOD
        } else {
            libc::EPOLL_CTL_ADD
        };
        let interest = libc::EPOLLIN | if writable { libc::EPOLLOUT } else { 0 };
        let mut event = libc::epoll_event {
            events: interest as u32,
            u64: client as u64,
        };
        // SAFETY: `event` outlives the call, and both descriptors are open.
        let result = unsafe {
            libc::epoll_ctl(
                self.fd.as_raw_fd(),
                operation,
                socket.as_raw_fd(),
                &mut event,
            )
        };
        if result < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// The instance's own descriptor, ready to be read when a watched socket is ready.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Waits for readiness for at most `span_ns`, unless some is still to be taken.
    pub fn wait(&mut self, span_ns: u64) {
        if self.ready > 0 {
            return;
        }
        let count = if self.has_pwait2 {
            self.pwait2(span_ns)
        } else {
            self.poll_and_wait(span_ns)
        };
        // A signal ends the wait early, which is no harm: callers look at the time themselves.
        self.ready = usize::try_from(count).unwrap_or(0);
    }

    /// Takes the readiness of now, without waiting, unless some is still to be taken. Says whether what there is to take
    /// is that of now, and all of it.
    pub fn look(&mut self) -> bool {
        let is_stale = self.ready > 0;
        self.wait(0);
        !is_stale && self.ready < EVENTS
    }

    fn pwait2(&mut self, span_ns: u64) -> libc::c_long {
        let span = to_timespec(span_ns);
        // SAFETY: `events` has room for as many as are asked for, `span` outlives the call, and no signal mask is given.
        unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS as libc::c_int,
                &raw const span,
                ptr::null::<libc::sigset_t>(),
                0usize,
            )
        }
    }

    /// The same with older system calls: one waits to the nanosecond, the other tells what is ready.
    fn poll_and_wait(&mut self, span_ns: u64) -> libc::c_long {
        let span = to_timespec(span_ns);
        let mut poll = libc::pollfd {
            fd: self.fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        if span_ns > 0 {
            // SAFETY: `poll` is one valid entry; it and `span` outlive the call, and no signal mask is given.
            unsafe { libc::ppoll(&mut poll, 1, &span, ptr::null()) };
        }
        // SAFETY: `events` has room for as many as are asked for.
        let count = unsafe {
            libc::epoll_wait(
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                EVENTS as libc::c_int,
                0,
            )
        };
        libc::c_long::from(count)
    }

    /// Takes one socket's readiness.
    pub fn next_ready(&mut self) -> Option<Ready> {
        self.ready = self.ready.checked_sub(1)?;
        let event = self.events[self.ready];
        let has = |flags: libc::c_int| event.events & flags as u32 != 0;
        Some(Ready {
            client: event.u64 as usize,
            readable: has(libc::EPOLLIN | libc::EPOLLERR | libc::EPOLLHUP),
            writable: has(libc::EPOLLOUT | libc::EPOLLERR | libc::EPOLLHUP),
            error: has(libc::EPOLLERR),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn old_and_new_system_calls_tell_the_same() {
        for has_pwait2 in [true, false] {
            let mut epoll = Epoll::new().unwrap();
            epoll.has_pwait2 &= has_pwait2;
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            epoll.watch(socket.as_fd(), 3, false, false).unwrap();
            epoll.wait(1_000);
            assert!(epoll.next_ready().is_none());
            socket.send_to(b"x", socket.local_addr().unwrap()).unwrap();
            epoll.wait(10_000_000_000);
            assert!(!epoll.look(), "this was ready some time ago");
            let ready = epoll.next_ready().unwrap();
            assert_eq!((ready.client, ready.error), (3, false));
            assert!(epoll.look() && epoll.next_ready().is_some());
        }
    }
}

//! A bare UDP echo server: the fastest server there can be, to measure the generator's own ceiling against.

use crate::LoadError;
use crate::answer::HEADER_LEN;
use crate::transport::{BATCH, Control, LONGEST_MESSAGE, enlarge_buffers, pin_to_cpu};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Octets of a buffer: longer queries are cut. The odd length spreads the buffers' beginnings over the cache.
const BUFFER_LEN: usize = 4096 + 192;

/// Longest time without a look at the stop flag.
const STOP_CHECK: Duration = Duration::from_millis(100);

/// Answers every DNS query that arrives at `address` with itself, QR set, so NOERROR without records, until `stop`.
///
/// `address` may have port 0; the one in use is given to `on_ready` once queries can be sent. It runs on the calling
/// thread, pinned to `cpu` if given. With `offload`, answers of one length leave together (UDP segmentation offload), which
/// is faster for both ends than any name server; without it, each is a send of its own. What is no query (shorter than a header, or QR = 1) gets no answer.
/// Gives the number of queries answered.
///
/// # Errors
/// [`LoadError::System`]
pub fn serve_echo(
    address: SocketAddr,
    cpu: Option<usize>,
    offload: bool,
    stop: &AtomicBool,
    on_ready: impl FnOnce(SocketAddr),
) -> Result<u64, LoadError> {
    if let Some(cpu) = cpu {
        pin_to_cpu(cpu)?;
    }
    let socket = bind(address)
        .map_err(|error| LoadError::system(format!("opening the sink at {address}"), error))?;
    let bound = socket
        .local_addr()
        .map_err(|error| LoadError::system("asking for the sink's address", error))?;
    let mut batch = Batch::new();
    on_ready(bound);
    let mut answered = 0;
    while !stop.load(Ordering::Relaxed) {
        match batch.receive(&socket) {
            Ok(count) => {
                batch.turn_into_answers(count, offload);
                answered += batch.send(&socket) as u64;
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(LoadError::system("receiving at the sink", error)),
        }
    }
    Ok(answered)
}

fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    enlarge_buffers(socket.as_fd());
    socket.bind(&address.into())?;
    socket.set_read_timeout(Some(STOP_CHECK))?;
    Ok(socket.into())
}

/// Datagrams with their senders' addresses; received and sent from the same memory.
struct Batch {
    headers: Vec<libc::mmsghdr>,
    /// `headers` and `answers` point into these four, which never move or grow.
    names: Vec<libc::sockaddr_storage>,
    iovecs: Vec<libc::iovec>,
    buffers: Vec<u8>,
    controls: Vec<Control>,
    /// Headers of the answers among the received. Answers of one length to one client that stand side by side share a
    /// header, and the kernel cuts them up again: the sink is to be faster than what is measured against it.
    answers: Vec<libc::mmsghdr>,
}

impl Batch {
    fn new() -> Self {
        // SAFETY: all-zero socket addresses and headers are valid, empty ones.
        let mut names: Vec<libc::sockaddr_storage> = vec![unsafe { mem::zeroed() }; BATCH];
        let mut buffers = vec![0; BATCH * BUFFER_LEN];
        let mut iovecs: Vec<libc::iovec> = buffers
            .chunks_exact_mut(BUFFER_LEN)
            .map(|buffer| libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: BUFFER_LEN,
            })
            .collect();
        let headers = names.iter_mut().zip(&mut iovecs).map(|(name, iovec)| {
            // SAFETY: as above.
            let mut header: libc::mmsghdr = unsafe { mem::zeroed() };
            header.msg_hdr.msg_name = ptr::from_mut(name).cast();
            header.msg_hdr.msg_iov = iovec;
            header.msg_hdr.msg_iovlen = 1;
            header
        });
        Self {
            headers: headers.collect(),
            names,
            iovecs,
            buffers,
            controls: vec![Control::EMPTY; BATCH],
            answers: Vec::with_capacity(BATCH),
        }
    }

    fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        for (header, iovec) in self.headers.iter_mut().zip(&mut self.iovecs) {
            header.msg_hdr.msg_namelen =
                mem::size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            iovec.iov_len = BUFFER_LEN;
        }
        // SAFETY: `headers` holds BATCH entries that point to memory owned by `self`; no time-out is given.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                BATCH as libc::c_uint,
                libc::MSG_WAITFORONE as _,
                ptr::null_mut(),
            )
        };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }

    /// Makes answers of the queries among the first `received` datagrams, with `offload` those alike as one message.
    fn turn_into_answers(&mut self, received: usize, offload: bool) {
        self.answers.clear();
        let mut last_query = None;
        for index in 0..received {
            let len = (self.headers[index].msg_len as usize).min(BUFFER_LEN);
            let flags = &mut self.buffers[index * BUFFER_LEN + 2];
            if len < HEADER_LEN || *flags & 0x80 != 0 {
                continue;
            }
            *flags |= 0x80;
            self.iovecs[index].iov_len = len;
            let place = self.answers.len();
            let joins = offload
                && last_query.is_some_and(|last| last + 1 == index && self.is_alike(last, index));
            if joins && self.answers[place - 1].msg_hdr.msg_iovlen * len < LONGEST_MESSAGE {
                let header = &mut self.answers[place - 1].msg_hdr;
                header.msg_iovlen += 1;
                self.controls[place - 1].cut_at(len as u16, header);
            } else {
                self.answers.push(self.headers[index]);
            }
            last_query = Some(index);
        }
    }

    /// Whether two messages are of one length and for one client.
    fn is_alike(&self, first: usize, second: usize) -> bool {
        let octets = |index: usize| {
            let len = self.headers[index].msg_hdr.msg_namelen as usize;
            // SAFETY: the kernel wrote `len` octets of address, never more than the storage has.
            unsafe {
                std::slice::from_raw_parts(ptr::from_ref(&self.names[index]).cast::<u8>(), len)
            }
        };
        self.iovecs[first].iov_len == self.iovecs[second].iov_len && octets(first) == octets(second)
    }

    /// Sends the answers; what the kernel does not take is dropped, as servers do. Gives the number taken.
    fn send(&mut self, socket: &UdpSocket) -> usize {
        // SAFETY: `answers` are copies of headers that point to memory owned by `self`.
        let sent = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                self.answers.as_mut_ptr(),
                self.answers.len() as libc::c_uint,
                libc::MSG_DONTWAIT as _,
            )
        };
        let sent = usize::try_from(sent).unwrap_or(0);
        self.answers[..sent]
            .iter()
            .map(|header| header.msg_hdr.msg_iovlen)
            .sum()
    }
}

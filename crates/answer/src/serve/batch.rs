//! Receiving and sending datagrams in batches, one system call for many.

use std::io;
use std::mem;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::ptr;

/// Datagrams in one batch.
const BATCH: usize = 64;
/// Longest query accepted over UDP; a longer one is dropped.
const QUERY_LEN: usize = 4096;
/// Longest response over UDP; a responder's `udp_payload` above this is of no use.
const RESPONSE_LEN: usize = 4096;

/// Buffers for a batch of queries and their responses.
pub(super) struct Batch {
    queries: Vec<[u8; QUERY_LEN]>,
    responses: Vec<[u8; RESPONSE_LEN]>,
    peers: Vec<libc::sockaddr_storage>,
    iovecs: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
    received: usize,
}

impl Batch {
    pub fn new() -> Self {
        // SAFETY: these C structures are valid when all octets are zero: null pointers and lengths of nothing.
        let (peer, header, iovec) = unsafe { (mem::zeroed(), mem::zeroed(), mem::zeroed()) };
        Self {
            queries: vec![[0; QUERY_LEN]; BATCH],
            responses: vec![[0; RESPONSE_LEN]; BATCH],
            peers: vec![peer; BATCH],
            iovecs: vec![iovec; BATCH],
            headers: vec![header; BATCH],
            received: 0,
        }
    }

    /// Waits for queries, then takes all that have arrived, up to a batch; returns how many.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.received = 0;
        for place in 0..BATCH {
            let query = self.queries[place].as_mut_ptr();
            self.point(place, query, QUERY_LEN);
            self.headers[place].msg_hdr.msg_namelen =
                mem::size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        }
        // SAFETY: each header points to a peer and an iovec of its own, and that to a query buffer of QUERY_LEN octets; all of
        // them belong to `self` and outlive the call.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                BATCH as libc::c_uint,
                libc::MSG_WAITFORONE,
                ptr::null_mut(),
            )
        };
        if received < 0 {
            return Err(io::Error::last_os_error());
        }
        self.received = received as usize;
        Ok(self.received)
    }

    /// Has `answer` write a response to each query received and sends those; returns how many could not be sent.
    ///
    /// `answer` returns the response's length, or `None` to send nothing.
    pub fn answer(
        &mut self,
        socket: &UdpSocket,
        mut answer: impl FnMut(&[u8], &mut [u8]) -> Option<usize>,
    ) -> io::Result<usize> {
        let mut to_send = 0;
        for place in 0..self.received {
            let header = &self.headers[place];
            if header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0 {
                continue;
            }
            let query = &self.queries[place][..header.msg_len as usize];
            let response = &mut self.responses[to_send];
            let Some(len) = answer(query, response) else {
                continue;
            };
            let pointer = response.as_mut_ptr();
            let peer_len = header.msg_hdr.msg_namelen;
            self.peers[to_send] = self.peers[place];
            self.point(to_send, pointer, len);
            self.headers[to_send].msg_hdr.msg_namelen = peer_len;
            to_send += 1;
        }
        // SAFETY: the first `to_send` headers point to a peer, an iovec and initialised octets that belong to `self`.
        unsafe { send_all(socket, &mut self.headers[..to_send]) }
    }

    fn point(&mut self, place: usize, octets: *mut u8, len: usize) {
        self.iovecs[place] = libc::iovec {
            iov_base: octets.cast(),
            iov_len: len,
        };
        let header = &mut self.headers[place].msg_hdr;
        header.msg_name = ptr::from_mut(&mut self.peers[place]).cast();
        header.msg_iov = &mut self.iovecs[place];
        header.msg_iovlen = 1;
        header.msg_flags = 0;
    }
}

/// Sends datagrams with as few system calls as can be; returns how many the system refused: their peers are gone or not to be
/// reached, or there is no room. The others go out.
///
/// # Errors
/// The socket is closed.
///
/// # Safety
/// What the headers point to is valid until this returns: addresses, iovecs and their octets, control messages.
pub unsafe fn send_all(socket: &impl AsRawFd, headers: &mut [libc::mmsghdr]) -> io::Result<usize> {
    let (mut sent, mut refused) = (0, 0);
    while sent < headers.len() {
        let rest = &mut headers[sent..];
        // SAFETY: the caller says that the headers are valid.
        let result = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                rest.as_mut_ptr(),
                rest.len() as libc::c_uint,
                0,
            )
        };
        if result > 0 {
            sent += result as usize;
            continue;
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EBADF) => return Err(error),
            // The error is the first message's.
            _ => {
                refused += 1;
                sent += 1;
            }
        }
    }
    Ok(refused)
}

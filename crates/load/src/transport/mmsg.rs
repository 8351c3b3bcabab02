//! Batches of datagrams: `sendmmsg` and `recvmmsg` over preallocated memory.

use super::BATCH;
use crate::clock::timespec_ns;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// Octets of a receive buffer, the longest UDP payload. The odd length spreads the buffers' beginnings over the cache.
const BUFFER_LEN: usize = 65_536 + 192;

/// Octets of control data with what is received: a `timespec` and an `int`, each with its header.
const CONTROL_LEN: usize = 64;

/// Control data is aligned as its headers need it.
#[repr(C, align(8))]
#[derive(Clone)]
pub struct Control([u8; CONTROL_LEN]);

/// Octets that a control message of two octets takes: `CMSG_SPACE(2)`.
const SEGMENT_CONTROL_SPACE: usize = mem::size_of::<libc::cmsghdr>() + 8;

/// Octets of a message that is to be cut up, at most.
pub const LONGEST_MESSAGE: usize = 60_000;

impl Control {
    /// Control data without anything in it.
    pub const EMPTY: Self = Self([0; CONTROL_LEN]);

    /// Has the kernel cut the message of `header` into datagrams of `len` octets (`UDP_SEGMENT`).
    ///
    /// `header` then points to `self`, which must not move before the message is sent.
    pub fn cut_at(&mut self, len: u16, header: &mut libc::msghdr) {
        header.msg_controllen = SEGMENT_CONTROL_SPACE;
        self.set_segment_len(len);
        header.msg_control = self.0.as_mut_ptr().cast();
    }

    /// The control messages among the first `used` octets: level, type, value (cmsg(3)).
    fn messages(&self, used: usize) -> impl Iterator<Item = (i32, i32, &[u8])> {
        let header_len = mem::size_of::<libc::cmsghdr>();
        let mut rest = &self.0[..used.min(CONTROL_LEN)];
        std::iter::from_fn(move || {
            if rest.len() < header_len {
                return None;
            }
            // SAFETY: there are octets enough, and any octets are a valid cmsghdr.
            let header = unsafe { rest.as_ptr().cast::<libc::cmsghdr>().read_unaligned() };
            let value = rest.get(header_len..header.cmsg_len)?;
            let next = header.cmsg_len.next_multiple_of(mem::align_of::<usize>());
            rest = rest.get(next..).unwrap_or_default();
            Some((header.cmsg_level, header.cmsg_type, value))
        })
    }

    fn set_segment_len(&mut self, len: u16) {
        let header_len = mem::size_of::<libc::cmsghdr>();
        // SAFETY: any octets are a valid cmsghdr, which the array has room for and is aligned for.
        let header = unsafe { &mut *self.0.as_mut_ptr().cast::<libc::cmsghdr>() };
        header.cmsg_level = libc::SOL_UDP;
        header.cmsg_type = libc::UDP_SEGMENT;
        header.cmsg_len = header_len + mem::size_of::<u16>();
        self.0[header_len..header_len + 2].copy_from_slice(&len.to_ne_bytes());
    }
}

/// Buffers that datagrams are received into.
pub struct ReceiveBatch {
    headers: Vec<libc::mmsghdr>,
    /// `headers` points into these two, which never move or grow.
    _iovecs: Vec<libc::iovec>,
    controls: Vec<Control>,
    buffers: Vec<u8>,
}

// SAFETY: the raw pointers in `headers` point only into heap blocks that the batch owns and moves along with it.
unsafe impl Send for ReceiveBatch {}

impl ReceiveBatch {
    /// Room for [`BATCH`] datagrams.
    pub fn new() -> Self {
        let mut buffers = vec![0; BATCH * BUFFER_LEN];
        let mut controls = vec![Control::EMPTY; BATCH];
        let mut iovecs: Vec<libc::iovec> = buffers
            .chunks_exact_mut(BUFFER_LEN)
            .map(|buffer| libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: BUFFER_LEN,
            })
            .collect();
        let headers = iovecs
            .iter_mut()
            .zip(&mut controls)
            .map(|(iovec, control)| message_header(iovec, control.0.as_mut_ptr()))
            .collect();
        Self {
            headers,
            _iovecs: iovecs,
            controls,
            buffers,
        }
    }

    /// Receives what is there, without blocking; gives the number of datagrams.
    ///
    /// # Errors
    /// The kernel's; `WouldBlock` if nothing is there.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        for header in &mut self.headers {
            header.msg_hdr.msg_controllen = CONTROL_LEN as _;
        }
        // SAFETY: `headers` holds BATCH entries that point to buffers owned by `self`; no time-out is given.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                BATCH as libc::c_uint,
                libc::MSG_DONTWAIT as _,
                ptr::null_mut(),
            )
        };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }

    /// What was received at `index`, and what the kernel said of it.
    pub fn received(&self, index: usize) -> Received<'_> {
        let start = index * BUFFER_LEN;
        let len = (self.headers[index].msg_len as usize).min(BUFFER_LEN);
        let mut received = Received {
            octets: &self.buffers[start..start + len],
            arrival_realtime_ns: None,
            segment_len: None,
        };
        let used = self.headers[index].msg_hdr.msg_controllen;
        for (level, kind, value) in self.controls[index].messages(used) {
            match (level, kind) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    received.arrival_realtime_ns = read_timespec(value).map(timespec_ns);
                }
                (libc::SOL_UDP, libc::UDP_GRO) => {
                    let len = value
                        .first_chunk()
                        .map(|octets| i32::from_ne_bytes(*octets));
                    received.segment_len = len.and_then(|len| usize::try_from(len).ok());
                }
                _ => {}
            }
        }
        received
    }
}

/// One datagram, or several of one length (the last may be shorter) that the kernel has put together (`UDP_GRO`).
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    octets: &'a [u8],
    /// When it arrived, in nanoseconds of `CLOCK_REALTIME`, if the kernel said so.
    pub arrival_realtime_ns: Option<u64>,
    /// The length of each datagram, if there may be several.
    segment_len: Option<usize>,
}

impl<'a> Received<'a> {
    /// The payload of each datagram.
    pub fn datagrams(self) -> impl Iterator<Item = &'a [u8]> {
        let len = self.segment_len.unwrap_or(self.octets.len());
        let empty = self.octets.is_empty().then_some(self.octets);
        empty.into_iter().chain(self.octets.chunks(len.max(1)))
    }
}

fn read_timespec(value: &[u8]) -> Option<libc::timespec> {
    if value.len() < mem::size_of::<libc::timespec>() {
        return None;
    }
    // SAFETY: there are octets enough, and any octets are a valid timespec.
    Some(unsafe { value.as_ptr().cast::<libc::timespec>().read_unaligned() })
}

/// One queued datagram.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// Its client.
    pub client: usize,
    /// Its message ID.
    pub id: u16,
    start: usize,
    len: usize,
}

/// Datagrams that wait for being sent.
///
/// Those of one client and one length go to the kernel as a single message that it cuts up (UDP segmentation offload,
/// udp(7)): each travels as a datagram of its own, but the way down the protocol stack is gone only once.
pub struct SendBatch {
    octets: Vec<u8>,
    queued: Vec<Queued>,
    /// Memory of sorting.
    keys: Vec<u64>,
    sorted: Vec<Queued>,
    /// Where each datagram went, if sorting moved any.
    places: Vec<u32>,
    headers: Vec<libc::mmsghdr>,
    iovecs: Vec<libc::iovec>,
    /// For each header, the size to cut at.
    controls: Vec<Control>,
    segmentation: bool,
}

// SAFETY: the raw pointers in `headers` and `iovecs` are set anew, to memory the batch owns, before each use.
unsafe impl Send for SendBatch {}

impl SendBatch {
    /// Room for [`BATCH`] datagrams; more make it grow.
    pub fn new() -> Self {
        Self {
            octets: Vec::with_capacity(BATCH * 512),
            queued: Vec::with_capacity(BATCH),
            keys: Vec::with_capacity(BATCH),
            sorted: Vec::with_capacity(BATCH),
            places: Vec::with_capacity(BATCH),
            headers: Vec::with_capacity(BATCH),
            iovecs: Vec::with_capacity(BATCH),
            controls: Vec::with_capacity(BATCH),
            segmentation: true,
        }
    }

    /// Adds one datagram with its message ID replaced.
    pub fn push(&mut self, client: usize, id: u16, message: &[u8]) {
        let start = self.octets.len();
        self.octets.extend_from_slice(message);
        self.octets[start..start + 2].copy_from_slice(&id.to_be_bytes());
        self.queued.push(Queued {
            client,
            id,
            start,
            len: message.len(),
        });
    }

    /// Puts datagrams of one client and, among them, of one length side by side, otherwise in the order they came.
    pub fn sort(&mut self) {
        let key = |queued: &Queued| (queued.client as u64) << 40 | (queued.len as u64) << 24;
        self.places.clear();
        if self.queued.is_sorted_by_key(key) {
            return;
        }
        // Plain numbers are sorted several times as fast as the datagrams would be.
        let places = (0u64..).zip(&self.queued);
        self.keys.clear();
        self.keys
            .extend(places.map(|(place, queued)| key(queued) | place));
        self.keys.sort_unstable();
        self.sorted.clear();
        let place = |key: &u64| (key & 0xff_ffff) as usize;
        self.sorted
            .extend(self.keys.iter().map(|key| self.queued[place(key)]));
        mem::swap(&mut self.queued, &mut self.sorted);
        self.places.resize(self.keys.len(), 0);
        for (to, key) in (0..).zip(&self.keys) {
            self.places[place(key)] = to;
        }
    }

    /// Where the last sorting put the datagram that was added as number `index`.
    pub fn place(&self, index: usize) -> usize {
        self.places
            .get(index)
            .map_or(index, |place| *place as usize)
    }

    /// The queued datagrams.
    pub fn queued(&self) -> &[Queued] {
        &self.queued
    }

    /// Octets of the queued datagrams from `first` to before `end`.
    pub fn octets(&self, first: usize, end: usize) -> u64 {
        let queued = self.queued[first..end].iter();
        queued.map(|queued| queued.len as u64).sum()
    }

    /// Forgets all datagrams.
    pub fn clear(&mut self) {
        self.octets.clear();
        self.queued.clear();
    }

    /// Whether segmentation offload is used.
    pub fn segments(&self) -> bool {
        self.segmentation
    }

    /// Stops using segmentation offload.
    pub fn give_up_segmentation(&mut self) {
        self.segmentation = false;
    }

    /// Sends the datagrams `first..end`, all of one client, over its socket, those of one length as one message if
    /// `segmented`; gives how many the kernel took.
    ///
    /// # Errors
    /// The kernel's for the first of them.
    pub fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        first: usize,
        end: usize,
        segmented: bool,
    ) -> io::Result<usize> {
        self.lay_out(first, end, segmented && self.segmentation);
        // SAFETY: headers point to iovecs and controls, iovecs to octets of the batch; none moves during the call.
        let count = unsafe {
            libc::sendmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as libc::c_uint,
                libc::MSG_DONTWAIT as _,
            )
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        Ok(self.headers[..count]
            .iter()
            .map(|header| header.msg_hdr.msg_iovlen)
            .sum())
    }

    /// The number of datagrams in each message of the last [`Self::send`], sent or not.
    pub fn message_sizes(&self) -> impl Iterator<Item = usize> {
        self.headers.iter().map(|header| header.msg_hdr.msg_iovlen)
    }

    /// Makes the headers for the datagrams `first..end`.
    fn lay_out(&mut self, first: usize, end: usize, segmented: bool) {
        let base = self.octets.as_mut_ptr();
        let datagrams = &self.queued[first..end];
        self.iovecs.clear();
        self.iovecs
            .extend(datagrams.iter().map(|queued| libc::iovec {
                iov_base: base.wrapping_add(queued.start).cast(),
                iov_len: queued.len,
            }));
        self.headers.clear();
        self.controls.clear();
        self.controls.resize(datagrams.len(), Control::EMPTY);
        let mut start = 0;
        while start < datagrams.len() {
            let len = datagrams[start].len;
            let most = if segmented {
                (LONGEST_MESSAGE / len).min(BATCH)
            } else {
                1
            };
            let same = datagrams[start..]
                .iter()
                .take(most.max(1))
                .take_while(|queued| queued.len == len)
                .count();
            let mut header = message_header(&mut self.iovecs[start], ptr::null_mut());
            header.msg_hdr.msg_iovlen = same;
            if same > 1 {
                self.controls[start].cut_at(len as u16, &mut header.msg_hdr);
            }
            self.headers.push(header);
            start += same;
        }
    }
}

fn message_header(iovec: &mut libc::iovec, control: *mut u8) -> libc::mmsghdr {
    // SAFETY: an all-zero mmsghdr is a valid one without name, buffers and control data.
    let mut header: libc::mmsghdr = unsafe { mem::zeroed() };
    header.msg_hdr.msg_iov = iovec;
    header.msg_hdr.msg_iovlen = 1;
    header.msg_hdr.msg_control = control.cast();
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::socket;
    use proptest::prelude::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    /// Sends payloads over loopback, those of one length in a row as one message; gives what is received.
    fn send_and_receive(payloads: &[Vec<u8>], together: bool) -> Vec<Vec<u8>> {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket::stamp_arrivals(receiver.as_fd()).unwrap();
        if together {
            socket::take_together(receiver.as_fd());
        }
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        let mut batch = SendBatch::new();
        for payload in payloads {
            let id = u16::from_be_bytes([payload[0], payload[1]]);
            batch.push(0, id, payload);
        }
        batch.sort();
        let mut sent = 0;
        while sent < payloads.len() {
            sent += batch
                .send(sender.as_fd(), sent, payloads.len(), true)
                .unwrap();
        }
        let mut incoming = ReceiveBatch::new();
        let mut found = Vec::new();
        while let Ok(count) = incoming.receive(receiver.as_fd()) {
            for index in 0..count {
                let received = incoming.received(index);
                assert!(received.arrival_realtime_ns.is_some());
                found.extend(received.datagrams().map(<[u8]>::to_vec));
            }
        }
        found
    }

    #[test]
    fn datagrams_that_are_received_together_are_told_apart() {
        let payloads: Vec<Vec<u8>> = (0..60u8)
            .map(|number| vec![number; 2 + usize::from(number % 3)])
            .collect();
        let mut expected = payloads.clone();
        expected.sort_by_key(Vec::len);
        for together in [false, true] {
            assert_eq!(send_and_receive(&payloads, together), expected);
        }
    }

    #[test]
    fn a_datagram_without_payload_is_one() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket::take_together(receiver.as_fd());
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.send_to(&[], receiver.local_addr().unwrap()).unwrap();
        let mut incoming = ReceiveBatch::new();
        assert_eq!(incoming.receive(receiver.as_fd()).unwrap(), 1);
        assert_eq!(incoming.received(0).datagrams().count(), 1);
    }

    proptest! {
        #[test]
        fn sorting_brings_together_what_one_send_takes_and_keeps_the_order_otherwise(
            datagrams in prop::collection::vec((0usize..4, 12usize..16), 0..150)
        ) {
            let mut batch = SendBatch::new();
            for (place, (client, len)) in datagrams.iter().enumerate() {
                batch.push(*client, place as u16, &vec![0; *len]);
            }
            batch.sort();
            let found: Vec<_> = batch.queued().iter().map(|queued| (queued.client, queued.len, queued.id)).collect();
            let mut expected: Vec<_> =
                datagrams.iter().zip(0u16..).map(|((client, len), id)| (*client, *len, id)).collect();
            expected.sort();
            prop_assert_eq!(&found, &expected);
            for (index, (client, len)) in datagrams.iter().enumerate() {
                prop_assert_eq!(found[batch.place(index)], (*client, *len, index as u16));
            }
            let starts_right = |queued: &Queued| batch.octets[queued.start..][..2] == queued.id.to_be_bytes();
            prop_assert!(batch.queued().iter().all(starts_right));
        }
    }
}

//! Batches of datagrams: `sendmmsg` and `recvmmsg` over preallocated memory.

use super::BATCH;
use crate::clock::timespec_ns;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// Octets of a receive buffer, the longest UDP payload. The odd length spreads the buffers' beginnings over the cache.
const BUFFER_LEN: usize = 65_536 + 192;

/// Octets of control data with one datagram: one `timespec`, with room to spare.
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

    /// The payload of received datagram `index`.
    pub fn message(&self, index: usize) -> &[u8] {
        let start = index * BUFFER_LEN;
        let len = (self.headers[index].msg_len as usize).min(BUFFER_LEN);
        &self.buffers[start..start + len]
    }

    /// When datagram `index` arrived, in nanoseconds of `CLOCK_REALTIME`, if the kernel said so.
    pub fn arrival_realtime_ns(&self, index: usize) -> Option<u64> {
        let header_len = mem::size_of::<libc::cmsghdr>();
        let used = self.headers[index].msg_hdr.msg_controllen;
        if used < header_len + mem::size_of::<libc::timespec>() {
            return None;
        }
        let control = self.controls[index].0.as_ptr();
        // SAFETY: the kernel wrote at least a header and a timespec to the 64 octets, which are aligned to 8.
        let header = unsafe { &*control.cast::<libc::cmsghdr>() };
        if header.cmsg_level != libc::SOL_SOCKET || header.cmsg_type != libc::SCM_TIMESTAMPNS {
            return None;
        }
        // SAFETY: as above; a control message of this type holds a timespec after its header.
        let stamp = unsafe {
            control
                .add(header_len)
                .cast::<libc::timespec>()
                .read_unaligned()
        };
        Some(timespec_ns(stamp))
    }
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
    }

    /// The queued datagrams.
    pub fn queued(&self) -> &[Queued] {
        &self.queued
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
    use proptest::prelude::*;

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
            prop_assert_eq!(found, expected);
            let starts_right = |queued: &Queued| batch.octets[queued.start..][..2] == queued.id.to_be_bytes();
            prop_assert!(batch.queued().iter().all(starts_right));
        }
    }
}

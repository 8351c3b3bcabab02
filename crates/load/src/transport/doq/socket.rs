//! One client's UDP socket, connected to the server.

use crate::transport::Control;
use crate::transport::datagram::Remedy;
use std::io;
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr;

/// Octets of the headers of IP and UDP before a datagram's payload.
const HEADERS_V4: u16 = 28;
const HEADERS_V6: u16 = 48;

/// A socket with a port of its own.
#[derive(Debug)]
pub struct DatagramSocket {
    socket: UdpSocket,
}

impl DatagramSocket {
    /// One that is connected.
    pub fn new(socket: UdpSocket) -> Self {
        Self { socket }
    }

    /// Its descriptor.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Octets of the longest datagram that the way to the server carries, as far as the kernel knows.
    pub fn longest_datagram(&self, server: SocketAddr) -> Option<u16> {
        let (level, name, headers) = match server {
            SocketAddr::V4(_) => (libc::IPPROTO_IP, libc::IP_MTU, HEADERS_V4),
            SocketAddr::V6(_) => (libc::IPPROTO_IPV6, libc::IPV6_MTU, HEADERS_V6),
        };
        let mut mtu: libc::c_int = 0;
        let mut len = mem::size_of_val(&mtu) as libc::socklen_t;
        // SAFETY: `mtu` has room for `len` octets, and both outlive the call.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                level,
                name,
                (&raw mut mtu).cast(),
                &mut len,
            )
        };
        let mtu = u16::try_from(mtu.min(i32::from(u16::MAX))).ok()?;
        (result == 0).then(|| mtu.saturating_sub(headers))
    }

    /// Sends datagrams that lie end to end in `octets`, all but the last one of `segment` octets. One that the kernel does
    /// not take is as good as lost on the way, which QUIC mends. Says whether cutting up by the kernel is at fault.
    pub fn send(&self, octets: &[u8], segment: Option<usize>) -> Result<(), NoSegmentation> {
        let mut tries = 0;
        while let Err(error) = self.try_send(octets, segment) {
            tries += 1;
            match Remedy::of(&error, tries, segment.is_some(), self.as_fd()) {
                // Errors stay in their queue, to be taken when their turn comes.
                Remedy::TryAgain | Remedy::TakeErrors => {}
                Remedy::DoNotSegment => return Err(NoSegmentation),
                Remedy::GiveUp => return Ok(()),
            }
        }
        Ok(())
    }

    fn try_send(&self, octets: &[u8], segment: Option<usize>) -> io::Result<()> {
        let mut buffer = libc::iovec {
            iov_base: octets.as_ptr().cast_mut().cast(),
            iov_len: octets.len(),
        };
        // SAFETY: an all-zero msghdr is a valid one without name, buffers and control data.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        header.msg_iov = &mut buffer;
        header.msg_iovlen = 1;
        header.msg_control = ptr::null_mut();
        let mut control = Control::EMPTY;
        if let Some(segment) = segment {
            control.cut_at(segment as u16, &mut header);
        }
        // SAFETY: `header` points to `buffer` and `control`, that to `octets`; none moves, all outlive the call, and the
        // kernel only reads them.
        let sent =
            unsafe { libc::sendmsg(self.socket.as_raw_fd(), &header, libc::MSG_DONTWAIT as _) };
        if sent < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }
}

/// The kernel does not cut up messages for this link.
#[derive(Clone, Copy, Debug)]
pub struct NoSegmentation;

/// QUIC's datagrams are never fragmented (RFC 9000 section 14).
pub fn forbid_fragments(socket: BorrowedFd<'_>, server: SocketAddr) -> io::Result<()> {
    let (level, name, value) = match server {
        SocketAddr::V4(_) => (
            libc::IPPROTO_IP,
            libc::IP_MTU_DISCOVER,
            libc::IP_PMTUDISC_PROBE,
        ),
        SocketAddr::V6(_) => (
            libc::IPPROTO_IPV6,
            libc::IPV6_MTU_DISCOVER,
            libc::IPV6_PMTUDISC_PROBE,
        ),
    };
    // SAFETY: the option's value is an int, and that is the size given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            mem::size_of_val(&value) as libc::socklen_t,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

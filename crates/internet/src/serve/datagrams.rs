//! Receiving and sending datagrams in batches, each with the address of this side.

use super::arrivals::since_1970;
use super::spare::Spare;
use dnsrig_answer::send_all;
use std::io;
use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

/// Datagrams in one batch.
pub(super) const BATCH: usize = 64;
/// Longest query received.
const QUERY_LEN: usize = crate::answer::QUERY_LEN_MAX;
/// Octets for the control messages with addresses and with the time, aligned as the system wants it.
type Control = [u64; 10];

/// A peer's address as the system has it; that of IPv4 is shorter.
#[derive(Clone, Copy)]
pub(super) struct Peer {
    storage: libc::sockaddr_in6,
    len: libc::socklen_t,
}

/// Memory for datagrams that were received.
pub(super) struct Received {
    queries: Vec<[u8; QUERY_LEN]>,
    peers: Vec<Peer>,
    controls: Vec<Control>,
    iovecs: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
    /// How many headers the system may have written to.
    written: usize,
}

impl Peer {
    /// Address and port.
    pub fn address(&self) -> SocketAddr {
        let port = u16::from_be(self.storage.sin6_port);
        if libc::c_int::from(self.storage.sin6_family) == libc::AF_INET6 {
            let address = Ipv6Addr::from(self.storage.sin6_addr.s6_addr);
            return SocketAddrV6::new(address, port, 0, self.storage.sin6_scope_id).into();
        }
        // SAFETY: the system wrote an address of IPv4, which is shorter; port and family have the same places.
        let ipv4: &libc::sockaddr_in = unsafe { &*(&raw const self.storage).cast() };
        SocketAddrV4::new(
            Ipv4Addr::from_bits(u32::from_be(ipv4.sin_addr.s_addr)),
            port,
        )
        .into()
    }
}

pub(super) fn zeroed<T>() -> T {
    // SAFETY: used for C structures alone, which are valid when all octets are zero: null pointers and lengths of nothing.
    unsafe { mem::zeroed() }
}

/// A datagram that was received.
pub(super) struct Datagram<'a> {
    pub octets: &'a [u8],
    /// Who sent it.
    pub peer: Peer,
    /// The address that it was sent to.
    pub server: IpAddr,
    /// The number of the device that it came by.
    pub device: u32,
    /// When it arrived, by the clock of the day; none where sockets do not stamp.
    pub arrived: Option<Duration>,
}

impl Received {
    pub fn new() -> Self {
        let peer = Peer {
            storage: zeroed(),
            len: 0,
        };
        Self {
            queries: vec![[0; QUERY_LEN]; BATCH],
            peers: vec![peer; BATCH],
            controls: vec![Control::default(); BATCH],
            iovecs: vec![zeroed(); BATCH],
            headers: vec![zeroed(); BATCH],
            written: BATCH,
        }
    }

    /// Takes what has arrived, up to a batch, without waiting; returns how many.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        // The system has written to no others since.
        for place in 0..self.written {
            self.iovecs[place] = libc::iovec {
                iov_base: self.queries[place].as_mut_ptr().cast(),
                iov_len: QUERY_LEN,
            };
            let header = &mut self.headers[place].msg_hdr;
            header.msg_name = (&raw mut self.peers[place].storage).cast();
            header.msg_namelen = size_of::<libc::sockaddr_in6>() as libc::socklen_t;
            header.msg_iov = &mut self.iovecs[place];
            header.msg_iovlen = 1;
            header.msg_control = self.controls[place].as_mut_ptr().cast();
            header.msg_controllen = size_of::<Control>();
            header.msg_flags = 0;
        }
        // One more may have been begun with when the system found an error or nothing more.
        self.written = 1;
        // SAFETY: each header points to a peer, an iovec with a buffer of QUERY_LEN octets, and control memory of its own;
        // all of them belong to `self` and outlive the call.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                BATCH as libc::c_uint,
                libc::MSG_DONTWAIT,
                ptr::null_mut(),
            )
        };
        if received < 0 {
            return Err(io::Error::last_os_error());
        }
        self.written = BATCH.min(received as usize + 1);
        Ok(received as usize)
    }

    /// One of those that were received; none if it was too long.
    pub fn get(&self, place: usize) -> Option<Datagram<'_>> {
        let header = &self.headers[place];
        if header.msg_hdr.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
            return None;
        }
        let peer = Peer {
            storage: self.peers[place].storage,
            len: header.msg_hdr.msg_namelen,
        };
        let Circumstances {
            server,
            device,
            arrived,
        } = circumstances(&header.msg_hdr);
        Some(Datagram {
            octets: &self.queries[place][..header.msg_len as usize],
            peer,
            server: server?,
            device,
            arrived,
        })
    }
}

/// What the system says of a datagram: the address that it was sent to, the device that it came by, and when it arrived.
#[derive(Default)]
struct Circumstances {
    server: Option<IpAddr>,
    device: u32,
    arrived: Option<Duration>,
}

fn circumstances(header: &libc::msghdr) -> Circumstances {
    let mut found = Circumstances::default();
    // SAFETY: the header's control memory was filled by the system; the macros stay within it.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header).as_ref() };
    while let Some(message) = next {
        // SAFETY: a control message's data follows its header.
        let data = unsafe { libc::CMSG_DATA(message) };
        match (message.cmsg_level, message.cmsg_type) {
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => {
                // SAFETY: this kind has an in_pktinfo as its data, at any alignment.
                let info: libc::in_pktinfo = unsafe { ptr::read_unaligned(data.cast()) };
                found.server = Some(Ipv4Addr::from_bits(u32::from_be(info.ipi_addr.s_addr)).into());
                found.device = info.ipi_ifindex as u32;
            }
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => {
                // SAFETY: this kind has an in6_pktinfo as its data, at any alignment.
                let info: libc::in6_pktinfo = unsafe { ptr::read_unaligned(data.cast()) };
                found.server = Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into());
                found.device = info.ipi6_ifindex as u32;
            }
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                // SAFETY: this kind has a timespec as its data, at any alignment.
                found.arrived = Some(since_1970(unsafe { ptr::read_unaligned(data.cast()) }));
            }
            _ => {}
        }
        // SAFETY: as for the first one; `message` is one of this header's.
        next = unsafe { libc::CMSG_NXTHDR(header, message).as_ref() };
    }
    found
}

/// A datagram to be sent.
pub(super) struct Reply {
    pub octets: Vec<u8>,
    pub peer: Peer,
    /// The address that it is from.
    pub source: IpAddr,
    /// The number of the device that its query came by.
    pub device: u32,
}

/// Datagrams to be sent together.
pub(super) struct Outgoing {
    datagrams: Vec<Reply>,
    controls: Vec<Control>,
    iovecs: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

impl Outgoing {
    pub fn new() -> Self {
        Self {
            datagrams: Vec::with_capacity(BATCH),
            controls: vec![Control::default(); BATCH],
            iovecs: vec![zeroed(); BATCH],
            headers: vec![zeroed(); BATCH],
        }
    }

    pub fn is_full(&self) -> bool {
        self.datagrams.len() == BATCH
    }

    /// Adds a datagram; [`Outgoing::is_full`] must be false.
    pub fn push(&mut self, reply: Reply) {
        self.datagrams.push(reply);
    }

    /// Sends all; returns how many the system refused. Buffers go back to `spare`.
    pub fn send(&mut self, socket: &UdpSocket, spare: &mut Spare) -> io::Result<usize> {
        let count = self.datagrams.len();
        for (place, reply) in self.datagrams.iter_mut().enumerate() {
            self.iovecs[place] = libc::iovec {
                iov_base: reply.octets.as_mut_ptr().cast(),
                iov_len: reply.octets.len(),
            };
            let header = &mut self.headers[place].msg_hdr;
            header.msg_name = (&raw mut reply.peer.storage).cast();
            header.msg_namelen = reply.peer.len;
            header.msg_iov = &mut self.iovecs[place];
            header.msg_iovlen = 1;
            header.msg_flags = 0;
            set_source(header, &mut self.controls[place], reply.source);
        }
        // SAFETY: the first `count` headers point to peers, iovecs, control memory and octets that belong to `self`.
        let result = unsafe { send_all(socket, &mut self.headers[..count]) };
        let sent = self.datagrams.drain(..);
        sent.for_each(|reply| spare.keep(reply.octets));
        result
    }
}

/// Has a datagram leave from `source`.
fn set_source(header: &mut libc::msghdr, control: &mut Control, source: IpAddr) {
    header.msg_control = control.as_mut_ptr().cast();
    match source {
        IpAddr::V4(source) => {
            let mut info: libc::in_pktinfo = zeroed();
            info.ipi_spec_dst.s_addr = source.to_bits().to_be();
            put_control(header, libc::IPPROTO_IP, libc::IP_PKTINFO, info);
        }
        IpAddr::V6(source) => {
            let mut info: libc::in6_pktinfo = zeroed();
            info.ipi6_addr.s6_addr = source.octets();
            put_control(header, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info);
        }
    }
}

fn put_control<T>(header: &mut libc::msghdr, level: libc::c_int, kind: libc::c_int, info: T) {
    const { assert!(size_of::<T>() + size_of::<libc::cmsghdr>() <= size_of::<Control>()) };
    let octets = size_of::<T>() as libc::c_uint;
    // SAFETY: CMSG_SPACE only computes.
    header.msg_controllen = unsafe { libc::CMSG_SPACE(octets) } as _;
    // SAFETY: the header points to control memory that has room for the message, as checked above, aligned for it.
    unsafe {
        let message = libc::CMSG_FIRSTHDR(header);
        (*message).cmsg_level = level;
        (*message).cmsg_type = kind;
        (*message).cmsg_len = libc::CMSG_LEN(octets) as _;
        ptr::write_unaligned(libc::CMSG_DATA(message).cast(), info);
    }
}

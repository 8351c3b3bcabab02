//! Answers as whole packets on a link whose other end is known. The system's own way of sending a datagram looks for a route, a
//! neighbour and rules each time, which takes longer than to find the answer.

use super::ServeOptions;
use super::datagrams::{BATCH, Reply, zeroed};
use super::listen::set_option;
use crate::InternetError;
use dnsrig_answer::send_all;
use dnsrig_traffic::Endpoint;
use dnsrig_traffic::write::packet::push_udp;
use std::io;
use std::mem::size_of;
use std::os::fd::{FromRawFd, OwnedFd};

/// Octets of the longest answer that is sent so: with its headers it fits into the smallest MTU that a link may have (RFC 8200
/// section 5), so that no router has anything to say to it. The system sends others, in fragments where it has to.
const LONGEST: usize = 1280 - 40 - 8;
/// Room for packets that the other end has not taken yet; the system may grant less.
const BUFFER_LEN: libc::c_int = 8 << 20;

/// An Ethernet link over which queries come, and answers may leave as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EthernetLink {
    /// The number of this end in the network namespace that is served from.
    pub index: u32,
    /// The hardware address of the other end, to which all answers go.
    pub neighbour: [u8; 6],
}

/// Answers to be sent together.
pub(super) struct Packets {
    socket: OwnedFd,
    link: EthernetLink,
    /// What answers come from.
    port: u16,
    /// The first `count` are to be sent; others have room.
    packets: Vec<Vec<u8>>,
    count: usize,
    /// The other end, by IPv4 and by IPv6.
    neighbours: [libc::sockaddr_ll; 2],
    iovecs: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
}

/// A socket for each thread that sends packets, if a link is told; none where the system or its permissions have no such sockets.
///
/// # Errors
/// There are too many open files, or too little memory.
pub(super) fn sockets(options: &ServeOptions) -> Result<Vec<OwnedFd>, InternetError> {
    let threads = options.threads.get();
    let count = options.link.map_or(0, |_| threads);
    let opened: io::Result<_> = (0..count).map(|_| open()).collect();
    opened.or_else(|source| match source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES | libc::EAFNOSUPPORT | libc::ENOPROTOOPT) => Ok(Vec::new()),
        _ => Err(InternetError::Socket {
            protocol: "packet",
            source,
        }),
    })
}

/// A socket that sends packets, packet(7); it needs CAP_NET_RAW.
fn open() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // Of no protocol, so that it receives nothing. The system writes the header of the link.
    // SAFETY: takes no pointers.
    let descriptor = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just opened, and nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
    // No queue lies before a virtual link.
    set_option(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, 1)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, BUFFER_LEN)?;
    Ok(socket)
}

impl Packets {
    /// Sends by a socket of [`sockets`] on a link, from `port`.
    pub fn new(socket: OwnedFd, link: EthernetLink, port: u16) -> Self {
        let neighbour = |protocol: libc::c_int| {
            let mut address: libc::sockaddr_ll = zeroed();
            address.sll_family = libc::AF_PACKET as libc::c_ushort;
            address.sll_protocol = (protocol as u16).to_be();
            address.sll_ifindex = link.index as libc::c_int;
            address.sll_halen = link.neighbour.len() as u8;
            address.sll_addr[..link.neighbour.len()].copy_from_slice(&link.neighbour);
            address
        };
        Self {
            socket,
            link,
            port,
            packets: vec![Vec::new(); BATCH],
            count: 0,
            neighbours: [neighbour(libc::ETH_P_IP), neighbour(libc::ETH_P_IPV6)],
            iovecs: vec![zeroed(); BATCH],
            headers: vec![zeroed(); BATCH],
        }
    }

    /// Whether an answer can be sent so: its query came over this link, and it is not too long.
    pub fn takes(&self, reply: &Reply) -> bool {
        reply.device == self.link.index && reply.octets.len() <= LONGEST
    }

    pub fn is_full(&self) -> bool {
        self.count == BATCH
    }

    /// Adds an answer that it takes; [`Packets::is_full`] must be false.
    pub fn push(&mut self, reply: &Reply) {
        let packet = &mut self.packets[self.count];
        packet.clear();
        let from = Endpoint::new(reply.source, self.port);
        let fits = push_udp(from, reply.peer.address().into(), &reply.octets, packet);
        debug_assert!(fits, "none that it takes is too long");
        self.count += 1;
    }

    /// Sends all; returns how many the system refused.
    pub fn send(&mut self) -> io::Result<usize> {
        for place in 0..self.count {
            let packet = &mut self.packets[place];
            // The version of IP is what its header begins with.
            let neighbour = &raw const self.neighbours[usize::from(packet[0] >> 4 == 6)];
            self.iovecs[place] = libc::iovec {
                iov_base: packet.as_mut_ptr().cast(),
                iov_len: packet.len(),
            };
            let header = &mut self.headers[place].msg_hdr;
            // It is only read.
            header.msg_name = neighbour.cast_mut().cast();
            header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            header.msg_iov = &mut self.iovecs[place];
            header.msg_iovlen = 1;
        }
        // SAFETY: the first `count` headers point to addresses, iovecs and packets that belong to `self`.
        let refused = unsafe { send_all(&self.socket, &mut self.headers[..self.count]) };
        self.count = 0;
        refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::datagrams::{Datagram, Received};
    use crate::serve::listen;
    use std::net::{Ipv6Addr, UdpSocket};
    use std::num::NonZeroUsize;
    use std::time::Duration;

    fn loopback() -> EthernetLink {
        // SAFETY: the name ends with a zero.
        let index = unsafe { libc::if_nametoindex(c"lo".as_ptr()) };
        EthernetLink {
            index,
            neighbour: [0; 6],
        }
    }

    /// None where packets cannot be sent.
    fn on(link: EthernetLink, port: u16) -> Option<Packets> {
        let options = ServeOptions {
            threads: NonZeroUsize::MIN,
            link: Some(link),
            ..ServeOptions::new()
        };
        let socket = sockets(&options).unwrap().pop()?;
        Some(Packets::new(socket, link, port))
    }

    /// A reply to `query` with octets of its own.
    fn reply(query: &Datagram<'_>, octets: Vec<u8>) -> Reply {
        Reply {
            octets,
            peer: query.peer,
            source: query.server,
            device: query.device,
        }
    }

    #[test]
    fn what_leaves_as_a_packet_arrives_as_any_datagram() {
        let options = ServeOptions {
            port: 0,
            threads: NonZeroUsize::MIN,
            on_loopback: true,
            ..ServeOptions::new()
        };
        if UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
            return;
        }
        let sockets = listen::listen(&options, true, false).unwrap();
        let Some(mut packets) = on(loopback(), sockets.port) else {
            return;
        };
        // By IPv6: what has addresses of 127.0.0.0/8 comes from the system itself, or is dropped.
        let socket = &sockets.udp[0][1];
        let client = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
        client.connect((Ipv6Addr::LOCALHOST, sockets.port)).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        client.send(b"query").unwrap();
        let mut received = Received::new();
        while received.receive(socket).unwrap_or_default() == 0 {
            std::thread::yield_now();
        }
        let query = received.get(0).unwrap();
        assert_eq!(query.peer.address(), client.local_addr().unwrap());
        // An odd length, one whose sum overflows, and the longest: the system drops what has a wrong checksum.
        for octets in [vec![7; 13], vec![0xff; 14], vec![0; LONGEST]] {
            let reply = reply(&query, octets.clone());
            assert!(packets.takes(&reply));
            packets.push(&reply);
            assert_eq!(packets.send().unwrap(), 0);
            let mut came = [1; 4096];
            // Connected, it receives from the address and port that it asked alone.
            let len = client.recv(&mut came).unwrap();
            assert_eq!(came[..len], octets);
        }
        assert!(!packets.takes(&reply(&query, vec![0; LONGEST + 1])));
        let elsewhere = Reply {
            device: query.device + 1,
            ..reply(&query, vec![0])
        };
        assert!(!packets.takes(&elsewhere));
    }

    #[test]
    fn a_link_that_is_not_there_has_packets_refused_and_counted() {
        let link = EthernetLink {
            index: 0x7fff_ffff,
            neighbour: [0; 6],
        };
        let Some(mut packets) = on(link, 53) else {
            return;
        };
        packets.packets[0] = vec![0x45; 40];
        packets.count = 1;
        assert_eq!(packets.send().unwrap(), 1);
        assert_eq!(packets.count, 0);
    }
}

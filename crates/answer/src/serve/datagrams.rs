//! Datagrams of QUIC, many to a system call.

use quinn_proto::{EndpointConfig, Transmit};
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::UdpSocket;

/// A UDP socket with what the system offers to send and receive much at once.
pub(super) struct Socket {
    pub socket: mio::net::UdpSocket,
    pub state: UdpSocketState,
}

impl Socket {
    pub fn new(socket: UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self {
            socket: mio::net::UdpSocket::from_std(socket),
            state,
        })
    }

    /// Sends one or more datagrams; false if the system refused. QUIC sends again what is lost.
    pub fn send(&self, transmit: &Transmit, octets: &[u8]) -> bool {
        let transmit = quinn_udp::Transmit {
            destination: transmit.destination,
            ecn: transmit
                .ecn
                .and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8)),
            contents: &octets[..transmit.size],
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        self.state
            .try_send((&self.socket).into(), &transmit)
            .is_ok()
    }
}

/// Memory for the datagrams that one system call gives.
pub(super) struct Buffers {
    octets: Vec<u8>,
    each: usize,
    metas: [RecvMeta; BATCH_SIZE],
}

/// One datagram, and where it came from.
pub(super) struct Datagram<'a> {
    pub meta: &'a RecvMeta,
    pub octets: &'a [u8],
}

impl Buffers {
    pub fn new(state: &UdpSocketState) -> Self {
        // The system joins datagrams up to the longest that IP has.
        let each = match state.gro_segments() {
            1 => EndpointConfig::default().get_max_udp_payload_size() as usize,
            _ => usize::from(u16::MAX),
        };
        Self {
            octets: vec![0; each * BATCH_SIZE],
            each,
            metas: [RecvMeta::default(); BATCH_SIZE],
        }
    }

    /// Takes what has come in, up to a batch; returns how many buffers are filled.
    pub fn receive(&mut self, socket: &Socket) -> io::Result<usize> {
        let mut slices = self.octets.chunks_exact_mut(self.each).map(IoSliceMut::new);
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] =
            std::array::from_fn(|_| slices.next().unwrap_or_else(|| IoSliceMut::new(&mut [])));
        let socket_ref = (&socket.socket).into();
        match socket.state.recv(socket_ref, &mut slices, &mut self.metas) {
            Err(error) => match error.kind() {
                // An ICMP error about an earlier datagram can surface here as ECONNREFUSED.
                ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionRefused => {
                    Ok(0)
                }
                _ => Err(error),
            },
            result => result,
        }
    }

    pub fn datagrams(&self, received: usize) -> impl Iterator<Item = Datagram<'_>> {
        let filled = self.metas[..received].iter();
        filled
            .zip(self.octets.chunks_exact(self.each))
            .flat_map(|(meta, octets)| {
                let octets = &octets[..meta.len];
                let datagrams = octets.chunks(meta.stride.max(1));
                datagrams.map(move |octets| Datagram { meta, octets })
            })
    }
}

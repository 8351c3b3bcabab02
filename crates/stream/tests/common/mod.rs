//! A small writer of packets and captures, for tests.

use std::net::{IpAddr, SocketAddr};

pub const ETHERNET: u16 = 1;
pub const RAW: u16 = 101;

/// A query (opcode 0, RD) for `name` with a type A question; `name` has no escapes.
pub fn query(name: &str) -> Vec<u8> {
    let mut message = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        message.push(label.len() as u8);
        message.extend_from_slice(label.as_bytes());
    }
    message.extend_from_slice(b"\0\0\x01\0\x01");
    message
}

/// What a stream has of a query: ID zero.
pub fn without_id(message: &[u8]) -> Vec<u8> {
    let mut message = message.to_vec();
    message[..2].fill(0);
    message
}

pub fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

pub fn udp(source: SocketAddr, destination: SocketAddr, payload: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    for field in [
        source.port(),
        destination.port(),
        8 + payload.len() as u16,
        0,
    ] {
        datagram.extend_from_slice(&field.to_be_bytes());
    }
    datagram.extend_from_slice(payload);
    ip(source.ip(), destination.ip(), 17, &datagram)
}

pub fn tcp(
    source: SocketAddr,
    destination: SocketAddr,
    flags: u8,
    sequence: u32,
    payload: &[u8],
) -> Vec<u8> {
    let mut segment = Vec::new();
    segment.extend_from_slice(&source.port().to_be_bytes());
    segment.extend_from_slice(&destination.port().to_be_bytes());
    segment.extend_from_slice(&sequence.to_be_bytes());
    segment.extend_from_slice(&[0, 0, 0, 0, 0x60, flags, 255, 255, 0, 0, 0, 0, 1, 1, 1, 1]);
    segment.extend_from_slice(payload);
    ip(source.ip(), destination.ip(), 6, &segment)
}

pub fn ip(source: IpAddr, destination: IpAddr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            packet.extend_from_slice(&[0x45, 0]);
            packet.extend_from_slice(&(20 + payload.len() as u16).to_be_bytes());
            packet.extend_from_slice(&[0, 0, 0x40, 0, 64, protocol, 0, 0]);
            packet.extend_from_slice(&source.octets());
            packet.extend_from_slice(&destination.octets());
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            packet.extend_from_slice(&[0x60, 0, 0, 0]);
            packet.extend_from_slice(&(payload.len() as u16).to_be_bytes());
            packet.extend_from_slice(&[protocol, 64]);
            packet.extend_from_slice(&source.octets());
            packet.extend_from_slice(&destination.octets());
        }
        _ => panic!("two families in one packet"),
    }
    packet.extend_from_slice(payload);
    packet
}

/// Puts an IP packet into an Ethernet frame with the tags of `vlans`.
pub fn ethernet(vlans: &[u16], packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    for vlan in vlans {
        frame.extend_from_slice(&[0x81, 0]);
        frame.extend_from_slice(&vlan.to_be_bytes());
    }
    let is_ipv4 = packet[0] >> 4 == 4;
    frame.extend_from_slice(if is_ipv4 { &[0x08, 0] } else { &[0x86, 0xDD] });
    frame.extend_from_slice(packet);
    frame
}

/// A packet to write: time in ns since 1970, and octets, of which at most the snapshot length is written.
pub type Packet = (u64, Vec<u8>);

/// Which of the four kinds of pcap files is written.
#[derive(Clone, Copy, Debug)]
pub struct Pcap {
    pub is_big_endian: bool,
    pub has_nanoseconds: bool,
    pub link_type: u16,
    pub snap_len: usize,
}

impl Default for Pcap {
    fn default() -> Self {
        Self {
            is_big_endian: false,
            has_nanoseconds: false,
            link_type: ETHERNET,
            snap_len: 262_144,
        }
    }
}

impl Pcap {
    pub fn write(&self, packets: &[Packet]) -> Vec<u8> {
        let number = |value: u32| match self.is_big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        };
        let version = match self.is_big_endian {
            true => [0, 2, 0, 4],
            false => [2, 0, 4, 0],
        };
        let (magic, unit_ns) = match self.has_nanoseconds {
            true => (0xA1B2_3C4D, 1),
            false => (0xA1B2_C3D4, 1000),
        };
        let mut file = [
            number(magic),
            version,
            number(0),
            number(0),
            number(self.snap_len as u32),
        ]
        .concat();
        file.extend_from_slice(&number(self.link_type.into()));
        for (time_ns, octets) in packets {
            let captured = &octets[..octets.len().min(self.snap_len)];
            let (seconds, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
            for field in [
                seconds as u32,
                (ns / unit_ns) as u32,
                captured.len() as u32,
                octets.len() as u32,
            ] {
                file.extend_from_slice(&number(field));
            }
            file.extend_from_slice(captured);
        }
        file
    }
}

/// Writes pcapng blocks in either byte order.
pub struct Pcapng {
    pub is_big_endian: bool,
    pub file: Vec<u8>,
}

impl Pcapng {
    pub fn new(is_big_endian: bool) -> Self {
        let mut new = Self {
            is_big_endian,
            file: Vec::new(),
        };
        new.section();
        new
    }

    pub fn section(&mut self) {
        let mut body = self.u32(0x1A2B_3C4D).to_vec();
        body.extend_from_slice(&self.u16(1));
        body.extend_from_slice(&self.u16(0));
        body.extend_from_slice(&[0xFF; 8]);
        self.block(0x0A0D_0D0A, &body);
    }

    /// Describes an interface; `options` are codes with values.
    pub fn interface(&mut self, link_type: u16, snap_len: u32, options: &[(u16, &[u8])]) {
        let mut body = [self.u16(link_type), self.u16(0)].concat();
        body.extend_from_slice(&self.u32(snap_len));
        for (code, value) in options {
            body.extend_from_slice(&self.u16(*code));
            body.extend_from_slice(&self.u16(value.len() as u16));
            body.extend_from_slice(value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        self.block(1, &body);
    }

    pub fn enhanced_packet(&mut self, interface: u32, timestamp: u64, octets: &[u8]) {
        let len = octets.len() as u32;
        let mut body = Vec::new();
        for field in [
            interface,
            (timestamp >> 32) as u32,
            timestamp as u32,
            len,
            len,
        ] {
            body.extend_from_slice(&self.u32(field));
        }
        body.extend_from_slice(octets);
        self.block(6, &body);
    }

    pub fn simple_packet(&mut self, snap_len: usize, octets: &[u8]) {
        let mut body = self.u32(octets.len() as u32).to_vec();
        body.extend_from_slice(&octets[..octets.len().min(snap_len)]);
        self.block(3, &body);
    }

    pub fn block(&mut self, kind: u32, body: &[u8]) {
        let padded = body.len().next_multiple_of(4);
        let len = self.u32(padded as u32 + 12);
        let kind = self.u32(kind);
        self.file.extend_from_slice(&kind);
        self.file.extend_from_slice(&len);
        self.file.extend_from_slice(body);
        self.file.resize(self.file.len() + padded - body.len(), 0);
        self.file.extend_from_slice(&len);
    }

    pub fn u64(&self, value: u64) -> [u8; 8] {
        match self.is_big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }

    fn u32(&self, value: u32) -> [u8; 4] {
        match self.is_big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }

    fn u16(&self, value: u16) -> [u8; 2] {
        match self.is_big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }
}

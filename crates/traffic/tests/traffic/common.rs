//! Captures made in memory, written to files.

use dnsrig_traffic::TrafficError;
use dnsrig_traffic::read::{Ports, ReadSummary, Reading, messages};
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

pub const CLIENT: &str = "192.0.2.1";
pub const SERVER: &str = "198.51.100.53";
pub const ETHERNET: u16 = 1;
pub const RAW: u16 = 101;
/// 2023-11-14 22:13:20.
pub const START_NS: i64 = 1_700_000_000_000_000_000;
pub const SECOND_NS: i64 = 1_000_000_000;

/// A packet of raw IP and when it was captured.
#[derive(Clone, Debug)]
pub struct Captured {
    pub time_ns: i64,
    pub octets: Vec<u8>,
}

pub fn at(time_ns: i64, octets: Vec<u8>) -> Captured {
    Captured { time_ns, octets }
}

/// A name in wire format.
pub fn wire_name(name: &str) -> Vec<u8> {
    let labels = name.split('.').filter(|label| !label.is_empty());
    let mut wire: Vec<u8> = labels
        .flat_map(|label| [&[label.len() as u8], label.as_bytes()].concat())
        .collect();
    wire.push(0);
    wire
}

/// A message with one question of class IN.
pub fn message(id: u16, flags: u16, name: &str, qtype: u16) -> Vec<u8> {
    let mut octets = Vec::new();
    for field in [id, flags, 1, 0, 0, 0] {
        octets.extend_from_slice(&field.to_be_bytes());
    }
    octets.extend_from_slice(&wire_name(name));
    octets.extend_from_slice(&qtype.to_be_bytes());
    octets.extend_from_slice(&1_u16.to_be_bytes());
    octets
}

pub fn query(id: u16, name: &str, qtype: u16) -> Vec<u8> {
    message(id, 0x0100, name, qtype)
}

/// An authoritative answer without records.
pub fn answer(id: u16, name: &str, qtype: u16, rcode: u16) -> Vec<u8> {
    message(id, 0x8500 | rcode, name, qtype)
}

/// Appends an OPT record.
pub fn with_opt(mut octets: Vec<u8>, udp_size: u16, dnssec_ok: bool, options: &[u8]) -> Vec<u8> {
    octets[11] += 1;
    octets.extend_from_slice(&[0, 0, 41]);
    octets.extend_from_slice(&udp_size.to_be_bytes());
    octets.extend_from_slice(&[0, 0, if dnssec_ok { 0x80 } else { 0 }, 0]);
    octets.extend_from_slice(&(options.len() as u16).to_be_bytes());
    octets.extend_from_slice(options);
    octets
}

pub fn udp(from: (&str, u16), to: (&str, u16), payload: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    for field in [from.1, to.1, 8 + payload.len() as u16, 0] {
        datagram.extend_from_slice(&field.to_be_bytes());
    }
    datagram.extend_from_slice(payload);
    ip(from.0, to.0, 17, &datagram)
}

/// A query of `CLIENT` over UDP.
pub fn udp_query(port: u16, payload: &[u8]) -> Vec<u8> {
    udp((CLIENT, port), (SERVER, 53), payload)
}

/// An answer to `CLIENT` over UDP.
pub fn udp_answer(port: u16, payload: &[u8]) -> Vec<u8> {
    udp((SERVER, 53), (CLIENT, port), payload)
}

pub fn tcp(
    from: (&str, u16),
    to: (&str, u16),
    sequence: u32,
    flags: u8,
    payload: &[u8],
) -> Vec<u8> {
    let mut segment = Vec::new();
    for field in [from.1, to.1] {
        segment.extend_from_slice(&field.to_be_bytes());
    }
    segment.extend_from_slice(&sequence.to_be_bytes());
    segment.extend_from_slice(&[0, 0, 0, 0, 0x50, flags, 0x10, 0, 0, 0, 0, 0]);
    segment.extend_from_slice(payload);
    ip(from.0, to.0, 6, &segment)
}

/// An IP packet; the family is that of the source.
pub fn ip(from: &str, to: &str, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let ends: [IpAddr; 2] = [from, to].map(|end| end.parse().unwrap());
    let mut packet = match ends[0] {
        IpAddr::V4(_) => {
            let len = (20 + payload.len() as u16).to_be_bytes();
            vec![0x45, 0, len[0], len[1], 0, 0, 0, 0, 64, protocol, 0, 0]
        }
        IpAddr::V6(_) => {
            let len = (payload.len() as u16).to_be_bytes();
            vec![0x60, 0, 0, 0, len[0], len[1], protocol, 64]
        }
    };
    for end in ends {
        match end {
            IpAddr::V4(address) => packet.extend_from_slice(&address.octets()),
            IpAddr::V6(address) => packet.extend_from_slice(&address.octets()),
        }
    }
    packet.extend_from_slice(payload);
    packet
}

/// A message as it is on TCP.
pub fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes(), message].concat()
}

/// How a pcap file is written.
#[derive(Clone, Copy, Debug)]
pub struct PcapForm {
    pub is_big_endian: bool,
    pub is_nanoseconds: bool,
    pub link_type: u16,
    pub snap_len: usize,
}

pub const PCAP: PcapForm = PcapForm {
    is_big_endian: false,
    is_nanoseconds: true,
    link_type: RAW,
    snap_len: 65_535,
};

pub fn pcap(form: PcapForm, packets: &[Captured]) -> Vec<u8> {
    let number = |value: u32| match form.is_big_endian {
        true => value.to_be_bytes(),
        false => value.to_le_bytes(),
    };
    let magic = if form.is_nanoseconds {
        0xA1B2_3C4D
    } else {
        0xA1B2_C3D4
    };
    let version = if form.is_big_endian {
        0x0002_0004
    } else {
        0x0004_0002
    };
    let fields = [
        magic,
        version,
        0,
        0,
        form.snap_len as u32,
        form.link_type.into(),
    ];
    let mut file: Vec<u8> = fields.into_iter().flat_map(number).collect();
    for packet in packets {
        let octets = framed_for(form.link_type, &packet.octets);
        let fraction =
            packet.time_ns.rem_euclid(SECOND_NS) / if form.is_nanoseconds { 1 } else { 1000 };
        let captured = octets.len().min(form.snap_len);
        for field in [
            packet.time_ns.div_euclid(SECOND_NS) as u32,
            fraction as u32,
            captured as u32,
            octets.len() as u32,
        ] {
            file.extend_from_slice(&number(field));
        }
        file.extend_from_slice(&octets[..captured]);
    }
    file
}

/// The packet with what a link has around it.
fn framed_for(link_type: u16, packet: &[u8]) -> Vec<u8> {
    let ethertype: [u8; 2] = if packet[0] >> 4 == 4 {
        [8, 0]
    } else {
        [0x86, 0xDD]
    };
    match link_type {
        ETHERNET => [&[0; 12][..], &ethertype, packet].concat(),
        _ => packet.to_vec(),
    }
}

/// A pcapng file with times in ns.
pub fn pcapng(packets: &[Captured]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let len = (12 + body.len() as u32).to_le_bytes();
        [&kind.to_le_bytes()[..], &len, body, &len].concat()
    };
    let mut file = block(
        0x0A0D_0D0A,
        b"\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
    );
    // Interface 0: raw IP, no snapshot length, if_tsresol of 9.
    file.extend(block(
        1,
        b"\x65\0\0\0\0\0\0\0\x09\0\x01\0\x09\0\0\0\0\0\0\0",
    ));
    file.extend(block(0x0000_0BAD, b"unused\0\0"));
    for packet in packets {
        let mut body = Vec::new();
        let time = packet.time_ns as u64;
        let len = packet.octets.len() as u32;
        for field in [0, (time >> 32) as u32, time as u32, len, len] {
            body.extend_from_slice(&field.to_le_bytes());
        }
        body.extend_from_slice(&packet.octets);
        body.resize(body.len().next_multiple_of(4), 0);
        file.extend(block(6, &body));
    }
    file
}

/// A message that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub time_ns: i64,
    pub source: String,
    pub destination: String,
    pub transport: &'static str,
    pub octets: Vec<u8>,
    pub is_cut: bool,
    pub number: u64,
}

static NEVER: AtomicBool = AtomicBool::new(false);

pub fn with_reading<T>(
    files: &[PathBuf],
    threads: usize,
    work: impl FnOnce(&Reading<'_>) -> T,
) -> T {
    work(&Reading {
        files,
        ports: &Ports::default(),
        threads: NonZeroUsize::new(threads),
        cancel: &NEVER,
        progress: &|_| (),
    })
}

pub fn read_all(files: &[PathBuf]) -> Result<(Vec<Read>, ReadSummary), TrafficError> {
    let mut read = Vec::new();
    let summary = with_reading(files, 1, |reading| {
        messages(reading, |message| {
            read.push(Read {
                time_ns: message.time_ns,
                source: message.source.to_string(),
                destination: message.destination.to_string(),
                transport: message.transport.name(),
                octets: message.octets.to_vec(),
                is_cut: message.is_cut,
                number: message.number,
            });
            ControlFlow::Continue(())
        })
    })?;
    Ok((read, summary))
}

pub fn write(folder: &Path, name: &str, octets: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, octets).unwrap();
    path
}

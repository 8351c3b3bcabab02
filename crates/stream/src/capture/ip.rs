//! IPv4 (RFC 791), IPv6 with its extension headers (RFC 8200), and UDP (RFC 768).

use super::link::Frame;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The protocol number of TCP.
pub const TCP: u8 = 6;
/// The protocol number of UDP.
pub const UDP: u8 = 17;

const IPV4_HEADER_LEN: usize = 20;
const IPV6_HEADER_LEN: usize = 40;
const UDP_HEADER_LEN: usize = 8;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

/// What an IP packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket<'a> {
    /// Its source.
    pub source: IpAddr,
    /// Its destination.
    pub destination: IpAddr,
    /// The protocol of the payload.
    pub protocol: u8,
    /// The payload, as far as it was captured.
    pub payload: &'a [u8],
    /// Octets of the payload that were not captured.
    pub missing: usize,
}

/// Why a frame has no whole payload of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPayload {
    /// It is not IP.
    NotIp,
    /// The link type is not known.
    UnknownLink,
    /// It is a fragment.
    Fragment,
    /// It ends inside a header.
    TooShort,
    /// Its headers contradict themselves.
    BadHeader,
}

impl<'a> IpPacket<'a> {
    /// Reads the headers of the packet in `frame`.
    ///
    /// # Errors
    /// A [`NoPayload`]; a packet whose payload is not whole is no error, but has octets missing.
    pub fn parse(frame: Frame<'a>) -> Result<Self, NoPayload> {
        match frame {
            Frame::Ipv4(octets) => ipv4(octets),
            Frame::Ipv6(octets) => ipv6(octets),
            Frame::Other => Err(NoPayload::NotIp),
            Frame::TooShort => Err(NoPayload::TooShort),
            Frame::UnknownLink => Err(NoPayload::UnknownLink),
        }
    }
}

fn ipv4(octets: &[u8]) -> Result<IpPacket<'_>, NoPayload> {
    let header = octets
        .first_chunk::<IPV4_HEADER_LEN>()
        .ok_or(NoPayload::TooShort)?;
    let header_len = usize::from(header[0] & 0x0F) * 4;
    if header[0] >> 4 != 4 || header_len < IPV4_HEADER_LEN {
        return Err(NoPayload::BadHeader);
    }
    // More fragments, or an offset.
    if u16::from_be_bytes([header[6], header[7]]) & 0x3FFF != 0 {
        return Err(NoPayload::Fragment);
    }
    let total_len = match u16::from_be_bytes([header[2], header[3]]) {
        // A packet that the network card is to split has not got its length yet.
        0 => octets.len(),
        len => len.into(),
    };
    let address = |place: usize| -> IpAddr {
        Ipv4Addr::new(
            header[place],
            header[place + 1],
            header[place + 2],
            header[place + 3],
        )
        .into()
    };
    let (payload, missing) = whole_payload(octets, header_len, total_len)?;
    Ok(IpPacket {
        source: address(12),
        destination: address(16),
        protocol: header[9],
        payload,
        missing,
    })
}

/// The octets of `octets` from `start` to `end`, and how many of them are not there.
fn whole_payload(octets: &[u8], start: usize, end: usize) -> Result<(&[u8], usize), NoPayload> {
    if end < start {
        return Err(NoPayload::BadHeader);
    }
    let payload = octets
        .get(start..end.min(octets.len()))
        .ok_or(NoPayload::TooShort)?;
    Ok((payload, end - start - payload.len()))
}

fn ipv6(octets: &[u8]) -> Result<IpPacket<'_>, NoPayload> {
    let header = octets
        .first_chunk::<IPV6_HEADER_LEN>()
        .ok_or(NoPayload::TooShort)?;
    if header[0] >> 4 != 6 {
        return Err(NoPayload::BadHeader);
    }
    let end = match u16::from_be_bytes([header[4], header[5]]) {
        // A jumbogram, or a packet that the network card is to split.
        0 => octets.len(),
        len => IPV6_HEADER_LEN + usize::from(len),
    };
    let address = |place: usize| -> IpAddr {
        let octets: [u8; 16] = header[place..place + 16].try_into().expect("16 octets");
        Ipv6Addr::from(octets).into()
    };
    let (mut payload, missing) = whole_payload(octets, IPV6_HEADER_LEN, end)?;
    let mut protocol = header[6];
    while let Some(len) = extension_len(protocol, payload)? {
        protocol = payload[0];
        payload = payload.get(len..).ok_or(match missing {
            0 => NoPayload::BadHeader,
            _ => NoPayload::TooShort,
        })?;
    }
    Ok(IpPacket {
        source: address(8),
        destination: address(24),
        protocol,
        payload,
        missing,
    })
}

/// The length of the extension header `kind` at the start of `payload`; `None` if `kind` is none.
fn extension_len(kind: u8, payload: &[u8]) -> Result<Option<usize>, NoPayload> {
    if !matches!(
        kind,
        HOP_BY_HOP
            | ROUTING
            | FRAGMENT
            | AUTHENTICATION
            | DESTINATION_OPTIONS
            | MOBILITY
            | HOST_IDENTITY
            | SHIM6
    ) {
        return Ok(None);
    }
    let &[_, len, offset_high, offset_low] =
        payload.first_chunk::<4>().ok_or(NoPayload::TooShort)?;
    Ok(Some(match kind {
        FRAGMENT => {
            // A packet in one fragment (RFC 6946) is whole; bits 1 and 2 are reserved.
            if u16::from_be_bytes([offset_high, offset_low]) & 0xFFF9 != 0 {
                return Err(NoPayload::Fragment);
            }
            8
        }
        AUTHENTICATION => (usize::from(len) + 2) * 4,
        _ => (usize::from(len) + 1) * 8,
    }))
}

/// Ports and payload of a UDP datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp<'a> {
    /// The source port.
    pub source: u16,
    /// The destination port.
    pub destination: u16,
    /// The payload; `None` if it is not whole in the payload of IP.
    pub payload: Option<&'a [u8]>,
}

impl<'a> Udp<'a> {
    /// Reads the payload of an IP packet; `None` if it ends inside the header, or if its length is less than the header's.
    pub fn parse(octets: &'a [u8]) -> Option<Self> {
        let header = octets.first_chunk::<UDP_HEADER_LEN>()?;
        let len = match u16::from_be_bytes([header[4], header[5]]) {
            // A jumbogram (RFC 2675).
            0 => octets.len(),
            len => usize::from(len),
        };
        if len < UDP_HEADER_LEN {
            return None;
        }
        Some(Self {
            source: u16::from_be_bytes([header[0], header[1]]),
            destination: u16::from_be_bytes([header[2], header[3]]),
            payload: octets.get(UDP_HEADER_LEN..len),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, payload.len() as u8, next, 64];
        packet.extend_from_slice(&[1; 16]);
        packet.extend_from_slice(&[2; 16]);
        packet.extend_from_slice(payload);
        packet
    }

    #[test]
    fn extension_headers_are_passed_over() {
        let mut payload = vec![DESTINATION_OPTIONS, 0, 0, 0, 0, 0, 0, 0];
        payload.extend_from_slice(&[AUTHENTICATION, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        payload.extend_from_slice(&[FRAGMENT, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        payload.extend_from_slice(&[UDP, 0, 0, 6, 0, 0, 0, 9]);
        payload.extend_from_slice(b"datagram");
        let packet = v6(HOP_BY_HOP, &payload);
        let read = IpPacket::parse(Frame::Ipv6(&packet)).unwrap();
        assert_eq!(
            (read.protocol, read.payload, read.missing),
            (UDP, &b"datagram"[..], 0)
        );
        let cut = IpPacket::parse(Frame::Ipv6(&packet[..packet.len() - 3])).unwrap();
        assert_eq!((cut.payload, cut.missing), (&b"datag"[..], 3));
    }

    #[test]
    fn fragments_are_told_from_packets_in_one_fragment() {
        for (field, is_fragment) in [(0, false), (6, false), (1, true), (8, true)] {
            let packet = v6(FRAGMENT, &[UDP, 0, 0, field, 0, 0, 0, 9, 1]);
            let read = IpPacket::parse(Frame::Ipv6(&packet));
            assert_eq!(read.err(), is_fragment.then_some(NoPayload::Fragment));
        }
        let mut packet = [0; 20];
        (packet[0], packet[3]) = (0x45, 20);
        for (high, low, is_fragment) in [(0x40, 0, false), (0x20, 0, true), (0, 1, true)] {
            (packet[6], packet[7]) = (high, low);
            let read = IpPacket::parse(Frame::Ipv4(&packet));
            assert_eq!(read.err(), is_fragment.then_some(NoPayload::Fragment));
        }
    }

    #[test]
    fn padding_of_ethernet_is_no_payload() {
        let mut packet = vec![
            0x46, 0, 0, 26, 0, 0, 0, 0, 64, UDP, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, 0, 0, 0, 0, 7, 8,
        ];
        packet.extend_from_slice(&[0; 20]);
        let read = IpPacket::parse(Frame::Ipv4(&packet)).unwrap();
        assert_eq!((read.payload, read.missing), (&[7, 8][..], 0));
        assert_eq!(read.source, IpAddr::from([192, 0, 2, 1]));
        packet[3] = 23;
        assert_eq!(
            IpPacket::parse(Frame::Ipv4(&packet)),
            Err(NoPayload::BadHeader)
        );
    }
}

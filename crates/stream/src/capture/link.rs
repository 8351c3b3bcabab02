//! What is around an IP packet on a link (<https://www.tcpdump.org/linktypes.html>).

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
/// The values that systems have given to raw IP, beside the one that files should have.
const RAW: [u16; 5] = [12, 14, 101, 228, 229];
const LOOP: u16 = 108;
const LINUX_COOKED: u16 = 113;
const LINUX_COOKED_2: u16 = 276;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86DD;
/// Tags of VLANs: 802.1Q, 802.1ad, and the value in use before it.
const ETHERTYPE_TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];
/// The address families of IPv6 on Linux, the BSDs and macOS.
const IPV6_FAMILIES: [u32; 4] = [10, 24, 28, 30];
const IPV4_FAMILY: u32 = 2;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// An IPv4 packet, perhaps with octets after it.
    Ipv4(&'a [u8]),
    /// An IPv6 packet, perhaps with octets after it.
    Ipv6(&'a [u8]),
    /// Something else.
    Other,
    /// The frame is shorter than what is around a packet.
    TooShort,
    /// The link type is not known.
    UnknownLink,
}

impl<'a> Frame<'a> {
    /// Takes off what is around the packet in `octets`, which begin with the link layer `link_type`.
    pub fn parse(link_type: u16, octets: &'a [u8]) -> Self {
        let parsed = match link_type {
            ETHERNET => by_ethertype(octets, 12, 14),
            LINUX_COOKED => by_ethertype(octets, 14, 16),
            LINUX_COOKED_2 => by_ethertype(octets, 0, 20),
            NULL | LOOP => by_family(octets),
            _ if RAW.contains(&link_type) => by_version(octets),
            _ => Some(Self::UnknownLink),
        };
        parsed.unwrap_or(Self::TooShort)
    }
}

/// Reads a header of `len` octets with an EtherType at `place`, and tags of VLANs after it.
fn by_ethertype(octets: &[u8], place: usize, len: usize) -> Option<Frame<'_>> {
    let mut ethertype = be_u16(octets, place)?;
    let mut rest = octets.get(len..)?;
    while ETHERTYPE_TAGS.contains(&ethertype) {
        ethertype = be_u16(rest, 2)?;
        rest = rest.get(4..)?;
    }
    Some(match ethertype {
        ETHERTYPE_IPV4 => Frame::Ipv4(rest),
        ETHERTYPE_IPV6 => Frame::Ipv6(rest),
        _ => Frame::Other,
    })
}

/// Reads an address family in four octets, in the byte order of whichever machine captured it.
fn by_family(octets: &[u8]) -> Option<Frame<'_>> {
    let (family, rest) = octets.split_first_chunk::<4>()?;
    let family = u32::from_be_bytes(*family).min(u32::from_le_bytes(*family));
    Some(match family {
        IPV4_FAMILY => Frame::Ipv4(rest),
        family if IPV6_FAMILIES.contains(&family) => Frame::Ipv6(rest),
        _ => Frame::Other,
    })
}

fn by_version(octets: &[u8]) -> Option<Frame<'_>> {
    Some(match octets.first()? >> 4 {
        4 => Frame::Ipv4(octets),
        6 => Frame::Ipv6(octets),
        _ => Frame::Other,
    })
}

fn be_u16(octets: &[u8], place: usize) -> Option<u16> {
    let field = octets.get(place..place + 2)?;
    Some(u16::from_be_bytes([field[0], field[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_type_gives_the_packet() {
        let mut ethernet = vec![0; 12];
        ethernet.extend_from_slice(b"\x88\xa8\0\x01\x81\0\0\x02\x08\0\x45rest");
        assert_eq!(Frame::parse(1, &ethernet), Frame::Ipv4(b"\x45rest"));
        assert_eq!(Frame::parse(1, &ethernet[..20]), Frame::TooShort);
        let mut cooked = vec![0; 14];
        cooked.extend_from_slice(b"\x86\xdd\x60rest");
        assert_eq!(Frame::parse(113, &cooked), Frame::Ipv6(b"\x60rest"));
        let mut cooked = b"\x86\xdd".to_vec();
        cooked.resize(20, 0);
        assert_eq!(Frame::parse(276, &cooked), Frame::Ipv6(b""));
        assert_eq!(Frame::parse(0, b"\x02\0\0\0\x45"), Frame::Ipv4(b"\x45"));
        assert_eq!(Frame::parse(0, b"\x1e\0\0\0\x60"), Frame::Ipv6(b"\x60"));
        assert_eq!(Frame::parse(108, b"\0\0\0\x18\x60"), Frame::Ipv6(b"\x60"));
        assert_eq!(Frame::parse(101, b"\x60"), Frame::Ipv6(b"\x60"));
        assert_eq!(Frame::parse(12, b"\x45"), Frame::Ipv4(b"\x45"));
        assert_eq!(Frame::parse(101, b""), Frame::TooShort);
        assert_eq!(Frame::parse(101, b"\x10"), Frame::Other);
        assert_eq!(Frame::parse(147, b"\x45"), Frame::UnknownLink);
    }
}

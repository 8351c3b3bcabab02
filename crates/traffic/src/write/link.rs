//! What stands before an IP packet on a link (<https://www.tcpdump.org/linktypes.html>), made anew.

/// BSD loopback: the address family in the byte order of the machine that captured.
pub const NULL: u16 = 0;
/// Ethernet.
pub const ETHERNET: u16 = 1;
/// Raw IP: nothing before the packet.
pub const RAW: u16 = 101;
/// OpenBSD loopback: the address family in network byte order.
pub const LOOP: u16 = 108;
/// Linux "cooked" capture.
pub const LINUX_COOKED: u16 = 113;
/// Linux "cooked" capture, version 2.
pub const LINUX_COOKED_2: u16 = 276;
/// Raw IPv4.
const IPV4: u16 = 228;
/// Raw IPv6.
const IPV6: u16 = 229;

/// The header of link type `link_type` before a made packet of IPv4 or IPv6; `None` where no such packet can be.
///
/// Addresses of the link are zero, as nothing is known of them.
pub fn header(link_type: u16, is_ipv6: bool) -> Option<&'static [u8]> {
    Some(match (link_type, is_ipv6) {
        (RAW, _) | (IPV4, false) | (IPV6, true) => b"",
        (ETHERNET, false) => b"\0\0\0\0\0\0\0\0\0\0\0\0\x08\0",
        (ETHERNET, true) => b"\0\0\0\0\0\0\0\0\0\0\0\0\x86\xDD",
        // Packet to us, ARPHRD_NONE, no address.
        (LINUX_COOKED, false) => b"\0\0\xFF\xFE\0\0\0\0\0\0\0\0\0\0\x08\0",
        (LINUX_COOKED, true) => b"\0\0\xFF\xFE\0\0\0\0\0\0\0\0\0\0\x86\xDD",
        (LINUX_COOKED_2, false) => b"\x08\0\0\0\0\0\0\0\xFF\xFE\0\0\0\0\0\0\0\0\0\0",
        (LINUX_COOKED_2, true) => b"\x86\xDD\0\0\0\0\0\0\xFF\xFE\0\0\0\0\0\0\0\0\0\0",
        (NULL, false) => b"\x02\0\0\0",
        (NULL, true) => b"\x1E\0\0\0",
        (LOOP, false) => b"\0\0\0\x02",
        (LOOP, true) => b"\0\0\0\x18",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dnsrig_stream::capture::link::Frame;

    #[test]
    fn every_header_is_read_back() {
        for link_type in [NULL, ETHERNET, RAW, LOOP, LINUX_COOKED, LINUX_COOKED_2] {
            for (packet, is_ipv6) in [(&b"\x45rest"[..], false), (b"\x60rest", true)] {
                let frame = [header(link_type, is_ipv6).unwrap(), packet].concat();
                let expected = match is_ipv6 {
                    true => Frame::Ipv6(packet),
                    false => Frame::Ipv4(packet),
                };
                assert_eq!(Frame::parse(link_type, &frame), expected, "{link_type}");
            }
        }
        assert_eq!(header(IPV4, true), None);
        assert_eq!(header(147, false), None);
    }
}

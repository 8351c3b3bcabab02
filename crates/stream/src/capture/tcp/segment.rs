//! TCP segments (RFC 9293 section 3.1).

const HEADER_LEN: usize = 20;
pub(super) const FIN: u8 = 0x01;
pub(super) const SYN: u8 = 0x02;
pub(super) const RST: u8 = 0x04;

/// The ends of a connection, IPv4 addresses mapped to IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowKey {
    /// The client's address.
    pub client: u128,
    /// The server's address.
    pub server: u128,
    /// The client's port.
    pub client_port: u16,
    /// The server's port.
    pub server_port: u16,
}

/// A TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The source port.
    pub source: u16,
    /// The destination port.
    pub destination: u16,
    /// The sequence number of the first octet of data, or of SYN.
    pub sequence: u32,
    pub(super) flags: u8,
    /// The data, as far as they were captured.
    pub data: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Reads the payload of an IP packet; `None` if it ends inside the header, or the header contradicts itself.
    pub fn parse(octets: &'a [u8]) -> Option<Self> {
        let header = octets.first_chunk::<HEADER_LEN>()?;
        let header_len = usize::from(header[12] >> 4) * 4;
        if header_len < HEADER_LEN {
            return None;
        }
        Some(Self {
            source: u16::from_be_bytes([header[0], header[1]]),
            destination: u16::from_be_bytes([header[2], header[3]]),
            sequence: u32::from_be_bytes([header[4], header[5], header[6], header[7]]),
            flags: header[13],
            data: octets.get(header_len..)?,
        })
    }

    /// Whether one of `flags` is set.
    pub(super) fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }
}

//! The OPT record (RFC 6891 section 6.1).

use super::Record;

/// What an OPT record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opt<'a> {
    /// The largest UDP payload that its sender takes, in octets.
    pub udp_size: u16,
    /// The upper eight bits of the RCODE.
    pub extended_rcode: u8,
    /// The version.
    pub version: u8,
    /// DO.
    pub dnssec_ok: bool,
    /// The options as they are.
    pub data: &'a [u8],
}

impl<'a> Opt<'a> {
    /// What `record` says, which must be of type OPT.
    #[inline]
    pub fn of(record: &Record<'a>) -> Self {
        let [extended_rcode, version, flags, _] = record.ttl.to_be_bytes();
        Self {
            udp_size: record.class,
            extended_rcode,
            version,
            dnssec_ok: flags & 0x80 != 0,
            data: record.data(),
        }
    }

    /// The options in their order.
    pub fn options(&self) -> EdnsOptions<'a> {
        EdnsOptions { rest: self.data }
    }
}

/// One option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdnsOption<'a> {
    /// Its code (<https://www.iana.org/assignments/dns-parameters>).
    pub code: u16,
    /// Its data.
    pub data: &'a [u8],
}

/// The options of an OPT record; ends before the first that is not whole.
#[derive(Clone, Debug)]
pub struct EdnsOptions<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for EdnsOptions<'a> {
    type Item = EdnsOption<'a>;

    #[inline]
    fn next(&mut self) -> Option<EdnsOption<'a>> {
        let (&[a, b, c, d], rest) = self.rest.split_first_chunk::<4>()?;
        let (data, rest) = rest.split_at_checked(u16::from_be_bytes([c, d]).into())?;
        self.rest = rest;
        Some(EdnsOption {
            code: u16::from_be_bytes([a, b]),
            data,
        })
    }
}

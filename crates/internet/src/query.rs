//! The parts of queries and responses that servers' habits change.

use domain::base::iana::Rtype;

/// Octets of a message's header.
pub(crate) const HEADER: usize = 12;
pub(crate) const FLAG_RESPONSE: u8 = 0x80;
/// Octets of an OPT record without options.
pub(crate) const OPT_LEN: usize = 11;
/// Where in an OPT record the size of UDP answers stands.
const PAYLOAD_AT: usize = 3;

/// Octets of the longest name (RFC 1035 section 2.3.4).
pub(crate) const NAME_MAX: usize = 255;

/// Where the question of a message with exactly one ends; its name is whole, and not compressed.
pub(crate) fn question_end(message: &[u8]) -> Option<usize> {
    if message.get(4..6)? != [0, 1] {
        return None;
    }
    let mut at = HEADER;
    loop {
        match *message.get(at)? {
            0 => break,
            length @ 1..=63 => at += 1 + usize::from(length),
            _ => return None,
        }
    }
    let end = at + 5;
    let is_name = at + 1 - HEADER <= NAME_MAX;
    (is_name && end <= message.len()).then_some(end)
}

/// The OPT record of a query that has no other record, as resolvers send it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opt {
    at: usize,
}

/// Finds the OPT record that follows the question.
pub(crate) fn find_opt(message: &[u8], question_end: usize) -> Option<Opt> {
    let is_alone = message.get(6..HEADER)? == [0, 0, 0, 0, 0, 1];
    let rest = message.get(question_end..)?;
    let is_opt =
        rest.len() >= OPT_LEN && rest[0] == 0 && rest[1..3] == Rtype::OPT.to_int().to_be_bytes();
    (is_alone && is_opt).then_some(Opt { at: question_end })
}

impl Opt {
    /// What it says but options: UDP payload, extended code, version and flags; none if it does not end the query, or options
    /// are cut.
    pub fn says(self, message: &[u8]) -> Option<&[u8]> {
        let opt = &message[self.at..];
        let len = usize::from(u16::from_be_bytes([opt[OPT_LEN - 2], opt[OPT_LEN - 1]]));
        let mut options = &opt[OPT_LEN..];
        if options.len() != len {
            return None;
        }
        while let [_, _, high, low, rest @ ..] = options {
            options = rest.get(usize::from(u16::from_be_bytes([*high, *low]))..)?;
        }
        options.is_empty().then_some(&opt[PAYLOAD_AT..OPT_LEN - 2])
    }

    /// The query without it, in `copy`, which is as long.
    pub fn removed<'a>(self, message: &[u8], copy: &'a mut [u8]) -> &'a [u8] {
        copy.copy_from_slice(message);
        copy[HEADER - 1] = 0;
        &copy[..self.at]
    }

    /// The query in `copy`, asking for UDP answers of at most `payload` octets.
    pub fn limited<'a>(self, message: &[u8], copy: &'a mut [u8], payload: u16) -> &'a [u8] {
        copy.copy_from_slice(message);
        let at = self.at + PAYLOAD_AT;
        let wanted = u16::from_be_bytes([copy[at], copy[at + 1]]);
        copy[at..at + 2].copy_from_slice(&wanted.min(payload).to_be_bytes());
        copy
    }

    /// Has a response that ends in an OPT record without options announce `payload`.
    pub fn announce(response: &mut [u8], payload: u16) {
        let Some(at) = response.len().checked_sub(OPT_LEN) else {
            return;
        };
        let opt = &mut response[at..];
        if opt[0] == 0 && opt[1..3] == Rtype::OPT.to_int().to_be_bytes() {
            opt[PAYLOAD_AT..PAYLOAD_AT + 2].copy_from_slice(&payload.to_be_bytes());
        }
    }
}

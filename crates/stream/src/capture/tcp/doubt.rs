//! Doubt about a place: whether messages begin where a guess said that they do.

use super::beginning::{Wanted, beginning_of_one};
use crate::capture::dns::next_frame;
use crate::capture::form::Beginning;

/// Messages that must be as messages are before a guess is taken for sure: what is by chance as one is hardly ever followed by so many.
const SURE_AFTER: u8 = 8;

/// What still has to show that a place is right. By default nothing has: it is sure.
#[derive(Debug, Default)]
pub(super) struct Doubt {
    /// Messages that have to.
    left: u8,
    /// Octets of the message at hand that were looked at.
    seen: usize,
}

impl Doubt {
    /// Doubt about a guess.
    pub fn new() -> Self {
        Self {
            left: SURE_AFTER,
            seen: 0,
        }
    }

    /// Whether there is any.
    pub fn is_left(&self) -> bool {
        self.left > 0
    }

    /// The message at hand is given up.
    pub fn begin_anew(&mut self) {
        self.seen = 0;
    }

    /// Whether `octets`, of which the first are those of the message at hand, can be messages, the last of which need not be whole.
    ///
    /// A message that is long in coming is looked at again when twice as much of it is there, so that all looks together take
    /// no longer than two at the whole.
    pub fn allows(&mut self, octets: &[u8], wanted: Wanted) -> bool {
        let mut rest = octets;
        while let Some((message, after)) = next_frame(rest).filter(|_| self.is_left()) {
            if !wanted.has_form(message) {
                return false;
            }
            (self.left, self.seen) = (self.left - 1, 0);
            rest = after;
        }
        if !self.is_left() || rest.is_empty() || rest.len() < 2 * self.seen {
            return true;
        }
        self.seen = rest.len();
        beginning_of_one(rest) != Beginning::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query for a name of one letter, after its length.
    const QUERY: &[u8] = b"\0\x13\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01";

    #[test]
    fn enough_messages_leave_no_doubt() {
        let nonsense = [b'a'; 40];
        for count in 0..SURE_AFTER {
            let mut doubt = Doubt::new();
            for _ in 0..count {
                assert!(doubt.allows(QUERY, Wanted::Messages) && doubt.is_left());
            }
            assert!(!doubt.allows(&nonsense, Wanted::Messages), "{count}");
        }
        let mut doubt = Doubt::new();
        let many = QUERY.repeat(SURE_AFTER.into());
        assert!(doubt.allows(&many, Wanted::Queries) && !doubt.is_left());
        assert!(doubt.allows(&nonsense, Wanted::Messages));
        assert!(Doubt::default().allows(&nonsense, Wanted::Messages));
    }

    #[test]
    fn a_long_message_is_looked_at_a_few_times() {
        let mut long = QUERY[2..].to_vec();
        // Records of 11 octets, with a root for their name.
        long[6..8].copy_from_slice(&5000_u16.to_be_bytes());
        for _ in 0..5000 {
            long.extend_from_slice(b"\0\0\x01\0\x01\0\0\0\0\0\0");
        }
        let framed = [&(long.len() as u16).to_be_bytes()[..], &long].concat();
        let (mut doubt, mut looks) = (Doubt::new(), 0);
        for len in 1..framed.len() {
            let seen = doubt.seen;
            assert!(doubt.allows(&framed[..len], Wanted::Messages), "{len}");
            looks += u32::from(doubt.seen != seen);
        }
        assert_eq!(looks, framed.len().ilog2() + 1);
        assert!(doubt.allows(&framed, Wanted::Messages));
        assert_eq!(doubt.left, SURE_AFTER - 1);
    }

    #[test]
    fn a_message_that_begins_well_is_looked_at_again() {
        let mut octets = QUERY.to_vec();
        (octets[0], octets[9]) = (0x40, 99);
        let mut doubt = Doubt::new();
        assert!(doubt.allows(&octets, Wanted::Messages));
        octets.resize(2 * QUERY.len() - 1, b'a');
        assert!(doubt.allows(&octets, Wanted::Messages));
        octets.push(b'a');
        assert!(!doubt.allows(&octets, Wanted::Messages));
    }
}

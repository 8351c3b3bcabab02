//! UDP datagrams that stand in a capture as one packet.
//!
//! A sender may leave the cutting of what it sends into datagrams to the system (UDP segmentation offload), and a receiver's system
//! may put together what it got (GRO, URO): a capture on such a machine holds one packet with the payloads of all of them, one after
//! the other, all of the same length but for the last, which may be shorter (Linux, `UDP_SEGMENT` and `UDP_GRO` in udp(7)). The
//! packet does not tell that length, but the messages do, which tell where they end.

use super::form::{Beginning, beginning_of_message, end_of_message};
use std::slice::Chunks;

/// The messages of a packet that holds those of several datagrams.
#[derive(Clone, Debug)]
pub struct Datagrams<'a> {
    messages: Chunks<'a, u8>,
    is_cut: bool,
}

impl<'a> Datagrams<'a> {
    /// Takes apart `octets`, the payload of one UDP packet, of which the capture holds the beginning alone if it `is_cut`; `None` if it
    /// is the payload of one datagram.
    ///
    /// It is of several if each piece of the length of the first message is a message of the same direction and ends where the
    /// piece does.
    pub fn of(octets: &'a [u8], is_cut: bool) -> Option<Self> {
        let len = end_of_message(octets).filter(|len| *len < octets.len())?;
        let mut pieces = octets.chunks(len).skip(1).peekable();
        while let Some(piece) = pieces.next() {
            let is_of_same_direction = piece
                .get(2)
                .is_none_or(|flags| (flags ^ octets[2]) & 0x80 == 0);
            let is_cut = is_cut && pieces.peek().is_none() && piece.len() < len;
            let is_message = match is_cut {
                true => beginning_of_message(piece, len) != Beginning::Other,
                false => end_of_message(piece) == Some(piece.len()),
            };
            if !(is_of_same_direction && is_message) {
                return None;
            }
        }
        Some(Self {
            messages: octets.chunks(len),
            is_cut,
        })
    }
}

impl<'a> Iterator for Datagrams<'a> {
    /// A message, and whether the capture may hold its beginning alone: if anything was cut off, that of the last is said to be cut, also
    /// where it was cut behind it.
    type Item = (&'a [u8], bool);

    fn next(&mut self) -> Option<Self::Item> {
        let message = self.messages.next()?;
        let is_last = self.messages.len() == 0;
        Some((message, self.is_cut && is_last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A query or answer with a name of one label of `len` octets.
    fn message(len: u8, is_answer: bool) -> Vec<u8> {
        let mut message = vec![
            0,
            7,
            if is_answer { 0x84 } else { 1 },
            0,
            0,
            1,
            0,
            0,
            0,
            0,
            0,
            0,
        ];
        message[7] = u8::from(is_answer);
        message.push(len);
        message.extend(std::iter::repeat_n(b'a', len.into()));
        message.extend_from_slice(b"\0\0\x01\0\x01");
        if is_answer {
            message.extend_from_slice(b"\xC0\x0C\0\x01\0\x01\0\0\0\x05\0\x04\xC0\0\x02\x01");
        }
        message
    }

    fn pieces(octets: &[u8], is_cut: bool) -> Option<Vec<(Vec<u8>, bool)>> {
        let owned = |(message, is_cut): (&[u8], bool)| (message.to_vec(), is_cut);
        Datagrams::of(octets, is_cut).map(|all| all.map(owned).collect())
    }

    proptest! {
        #[test]
        fn what_was_put_together_is_taken_apart(
            len in 2..40_u8, less in 0..2_u8, count in 1..20_usize, is_answer: bool, missing in 0..30_usize
        ) {
            let mut messages = vec![message(len, is_answer); count];
            messages.push(message(len - less, is_answer));
            let all = messages.concat();
            let whole: Vec<_> = messages.iter().cloned().map(|message| (message, false)).collect();
            prop_assert_eq!(pieces(&all, false), Some(whole.clone()));
            // Another direction, and octets that are no message.
            let odd = [&all[..], &message(len, !is_answer)].concat();
            prop_assert_eq!(pieces(&odd, false), None);
            prop_assert_eq!(pieces(&[&all[..], b"nonsense"].concat(), false), None);
            // The beginning of it.
            let there = all.len() - missing;
            let last = messages[count].len();
            if there > messages[0].len() && missing < last {
                let mut expected = whole;
                expected[count] = (messages[count][..last - missing].to_vec(), true);
                prop_assert_eq!(pieces(&all[..there], true), Some(expected));
            }
        }

        #[test]
        fn no_octets_make_it_panic(octets in prop::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 0..120), is_cut: bool) {
            if let Some(all) = Datagrams::of(&octets, is_cut) {
                let together: Vec<u8> = all.flat_map(|(message, _)| message.to_vec()).collect();
                prop_assert_eq!(together, octets);
            }
        }
    }

    #[test]
    fn one_message_is_one_datagram() {
        for is_answer in [false, true] {
            let message = message(9, is_answer);
            assert!(Datagrams::of(&message, false).is_none());
            assert!(Datagrams::of(&message[..message.len() - 1], true).is_none());
            // Of different lengths, of which the last is the longest: no system puts such together.
            let longer = [&message[..], &super::tests::message(10, is_answer)].concat();
            assert!(Datagrams::of(&longer, false).is_none());
        }
        assert!(Datagrams::of(b"", false).is_none());
    }
}

//! Random case of letters in the question, as an answer's proof that its sender saw the query
//! (draft-vixie-dnsext-dns0x20).

use super::Sending;
use super::mix::{Mix, Purpose};
use crate::answer::qnames;

/// The bit in which an ASCII letter differs from the same one in the other case, in eight octets.
const CASE_BITS: u64 = 0x2020_2020_2020_2020;

/// Gives every letter of the QNAMEs in `sent` the case that it has in this sending. `sent` begins with a copy of
/// `question`, a section of `count` questions that parses.
pub fn randomise(sent: &mut [u8], count: u16, question: &[u8], seed: u64, sending: Sending) {
    let place = (sending.client as u64) << 16 | u64::from(sending.id);
    let mut mix = Mix::new(seed, Purpose::Case, &[place, sending.query as u64]);
    for qname in qnames(count, question) {
        for octets in sent[qname].chunks_mut(8) {
            flip_letters(octets, mix.draw());
        }
    }
}

fn flip_letters(octets: &mut [u8], random: u64) {
    let flips = (random & CASE_BITS).to_le_bytes();
    for (octet, flip) in octets.iter_mut().zip(flips) {
        if octet.is_ascii_alphabetic() {
            *octet ^= flip;
        }
    }
}

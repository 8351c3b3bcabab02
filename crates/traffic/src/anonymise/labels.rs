//! Pseudonyms of labels: a keyed permutation of all labels of one length and kind, so that no two labels become one.
//!
//! A Feistel network over the label's characters as FF1's (NIST SP 800-38G), but adding character by character, which spares
//! long arithmetic, and walking on until the outcome is of the same kind again (J. Black and P. Rogaway, "Ciphers with
//! Arbitrary Finite Domains", CT-RSA 2002).

use super::prf::{BLOCK_LEN, CipherUse, Prf, expand, mac};
use aes::cipher::BlockCipherEncBackend;
use aes::cipher::consts::U16;

/// The most octets of a label.
pub const MAX_LABEL_LEN: usize = 63;
/// As many as FF1 has.
const ROUNDS: u8 = 10;
/// Letters and digits first, then the hyphen, the underscore, and all other octets but capital letters.
const ALPHABET: [u8; 230] = alphabet();
/// Where each octet stands in [`ALPHABET`]; capital letters as small ones.
const PLACES: [u8; 256] = places();

const fn alphabet() -> [u8; 230] {
    let first = *b"abcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut made = [0; 230];
    let mut len = 0;
    while len < first.len() {
        made[len] = first[len];
        len += 1;
    }
    let mut octet = 0;
    while octet < 256 {
        let character = octet as u8;
        if !character.is_ascii_alphanumeric() && character != b'-' && character != b'_' {
            made[len] = character;
            len += 1;
        }
        octet += 1;
    }
    made
}

const fn places() -> [u8; 256] {
    let mut made = [0; 256];
    let mut place = 0;
    while place < ALPHABET.len() {
        made[ALPHABET[place] as usize] = place as u8;
        made[ALPHABET[place].to_ascii_uppercase() as usize] = place as u8;
        place += 1;
    }
    made
}

/// What labels are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Letters, digits and hyphens, no hyphen first or last (RFC 1123 section 2.1).
    HostName,
    /// Letters, digits, hyphens and underscores otherwise.
    Text,
    /// Any octets otherwise.
    Octets,
}

const HYPHEN: u8 = 36;
const UNDERSCORE: u8 = 37;

impl Kind {
    /// The kind of a label given by its characters' places.
    fn of(places: &[u8]) -> Self {
        let is_edge_hyphen = |place: Option<&u8>| place == Some(&HYPHEN);
        match places.iter().max() {
            Some(&highest) if highest > UNDERSCORE => Self::Octets,
            Some(&UNDERSCORE) => Self::Text,
            _ if is_edge_hyphen(places.first()) || is_edge_hyphen(places.last()) => Self::Text,
            _ => Self::HostName,
        }
    }

    /// How many characters of [`ALPHABET`] it has.
    fn radix(self) -> u8 {
        match self {
            Self::HostName => UNDERSCORE,
            Self::Text => UNDERSCORE + 1,
            Self::Octets => ALPHABET.len() as u8,
        }
    }
}

/// Gives labels their pseudonyms.
pub struct LabelCipher {
    prf: Prf,
}

impl LabelCipher {
    pub fn new(key: [u8; BLOCK_LEN]) -> Self {
        Self { prf: Prf::new(key) }
    }

    /// Puts its pseudonym under `tweak` in the place of `label`: as long, in small letters, and not one of those that
    /// `is_kept` names, of which `label` must be none.
    ///
    /// # Panics
    /// For a label of no octets, or of more than 63.
    pub fn encipher(
        &self,
        tweak: [u8; BLOCK_LEN],
        label: &mut [u8],
        is_kept: impl Fn(&[u8]) -> bool,
    ) {
        let mut room = [0; MAX_LABEL_LEN];
        let places = &mut room[..label.len()];
        for (place, octet) in places.iter_mut().zip(&*label) {
            *place = PLACES[usize::from(*octet)];
        }
        let kind = Kind::of(places);
        let tweak = tweak_of(tweak, kind, label.len());
        loop {
            self.prf.with(Permutation {
                tweak,
                radix: kind.radix(),
                places: &mut *places,
            });
            for (octet, place) in label.iter_mut().zip(&*places) {
                *octet = ALPHABET[usize::from(*place)];
            }
            if Kind::of(places) == kind && !is_kept(label) {
                return;
            }
        }
    }
}

/// A permutation of all labels of one length over the first `radix` characters, which is to be done once.
struct Permutation<'a> {
    tweak: [u8; BLOCK_LEN],
    radix: u8,
    places: &'a mut [u8],
}

impl CipherUse for Permutation<'_> {
    #[inline(always)]
    fn run(self, backend: &impl BlockCipherEncBackend<BlockSize = U16>) {
        let Self {
            tweak,
            radix,
            places,
        } = self;
        if let [place] = places {
            *place = shuffled(backend, tweak, radix, *place);
            return;
        }
        let (left, right) = places.split_at_mut(places.len() / 2);
        for round in (0..ROUNDS).step_by(2) {
            add(backend, tweak, round, radix, left, right);
            add(backend, tweak, round + 1, radix, right, left);
        }
    }
}

/// Adds to one half what follows from the other.
#[inline(always)]
fn add(
    backend: &impl BlockCipherEncBackend<BlockSize = U16>,
    mut tweak: [u8; BLOCK_LEN],
    round: u8,
    radix: u8,
    half: &mut [u8],
    other: &[u8],
) {
    tweak[0] ^= round;
    let mut stream = [0; 2 * MAX_LABEL_LEN.div_ceil(2)];
    let stream = &mut stream[..2 * half.len()];
    expand(backend, mac(backend, tweak, other), stream);
    for (place, random) in half.iter_mut().zip(stream.as_chunks::<2>().0) {
        let sum = u32::from(*place) + u32::from(u16::from_be_bytes(*random));
        *place = (sum % u32::from(radix)) as u8;
    }
}

/// A permutation of single characters, for which there are no halves: the shuffle of R. Durstenfeld.
fn shuffled(
    backend: &impl BlockCipherEncBackend<BlockSize = U16>,
    tweak: [u8; BLOCK_LEN],
    radix: u8,
    place: u8,
) -> u8 {
    let mut stream = [0; 4 * ALPHABET.len()];
    expand(backend, mac(backend, tweak, &[]), &mut stream);
    let mut order: [u8; ALPHABET.len()] = std::array::from_fn(|place| place as u8);
    let randoms = stream.as_chunks::<4>().0;
    for last in (1..usize::from(radix)).rev() {
        let random = u32::from_be_bytes(randoms[last]);
        order.swap(last, random as usize % (last + 1));
    }
    order[usize::from(place)]
}

/// Labels of another length or kind have nothing in common.
fn tweak_of(mut tweak: [u8; BLOCK_LEN], kind: Kind, len: usize) -> [u8; BLOCK_LEN] {
    tweak[1] ^= kind.radix();
    tweak[2] ^= len as u8;
    tweak
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn enciphered(key: u8, tweak: u8, label: &[u8]) -> Vec<u8> {
        let mut label = label.to_vec();
        LabelCipher::new([key; 16]).encipher([tweak; 16], &mut label, |label| label == b"_tcp");
        label
    }

    fn kind(label: &[u8]) -> Kind {
        let places: Vec<u8> = label
            .iter()
            .map(|octet| PLACES[usize::from(*octet)])
            .collect();
        Kind::of(&places)
    }

    #[test]
    fn all_labels_of_one_and_two_characters_keep_apart() {
        for (kind_wanted, counts) in [(Kind::HostName, [36, 36 * 36]), (Kind::Text, [2, 148])] {
            for (len, count) in [1, 2].into_iter().zip(counts) {
                let labels = (0..38_usize.pow(len))
                    .map(|number| [ALPHABET[number % 38], ALPHABET[number / 38]])
                    .map(|label| label[..len as usize].to_vec())
                    .filter(|label| kind(label) == kind_wanted);
                let pseudonyms: Vec<Vec<u8>> =
                    labels.map(|label| enciphered(1, 2, &label)).collect();
                assert_eq!(pseudonyms.len(), count);
                assert!(pseudonyms.iter().all(|label| kind(label) == kind_wanted));
                assert_eq!(pseudonyms.iter().collect::<HashSet<_>>().len(), count);
            }
        }
        let octets = (0..=255_u8).filter(|octet| !octet.is_ascii_uppercase());
        let pseudonyms: HashSet<Vec<u8>> = octets.map(|octet| enciphered(3, 4, &[octet])).collect();
        assert_eq!(pseudonyms.len(), 230);
    }

    #[test]
    fn what_is_kept_is_no_pseudonym() {
        let cipher = LabelCipher::new([5; 16]);
        let is_kept = |label: &[u8]| matches!(label, [first, _] if first.is_ascii_digit());
        let mut seen = HashSet::new();
        for first in b'a'..=b'z' {
            for second in b'a'..=b'z' {
                let mut label = [first, second];
                cipher.encipher([0; 16], &mut label, is_kept);
                assert!(!is_kept(&label) && seen.insert(label));
            }
        }
    }

    proptest! {
        #[test]
        fn labels_keep_length_and_kind_and_apart(label: Vec<u8>, other: Vec<u8>, key: u8, tweak: u8) {
            for label in [&label, &other] {
                prop_assume!((1..=MAX_LABEL_LEN).contains(&label.len()));
            }
            let pseudonym = enciphered(key, tweak, &label);
            prop_assert_eq!(pseudonym.len(), label.len());
            prop_assert_eq!(kind(&pseudonym), kind(&label));
            prop_assert!(!pseudonym.iter().any(u8::is_ascii_uppercase));
            let is_same = label.eq_ignore_ascii_case(&other);
            prop_assert_eq!(enciphered(key, tweak, &other) == pseudonym, is_same);
        }

        #[test]
        fn host_names_stay_host_names(label in "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", key: u8) {
            let pseudonym = enciphered(key, 0, label.as_bytes());
            prop_assert_eq!(kind(&pseudonym), Kind::HostName);
            let capitals = label.to_ascii_uppercase();
            prop_assert_eq!(enciphered(key, 0, capitals.as_bytes()), pseudonym);
        }
    }
}

//! Labels out of numbers.

use super::super::random::{mix, scale};

const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
const VOWELS: &[u8; 5] = b"aeiou";
/// How many syllables there are of a consonant and a vowel.
const SYLLABLES: u64 = 100;
/// The most syllables that tell a number.
const MOST_SYLLABLES: u32 = 9;
/// Has no factor in common with the number of syllables, so that multiplication maps no two numbers to one.
const SPREAD: u128 = 61_803_398_874_989;
/// What hosts are called.
const HOSTS: [&str; 16] = [
    "www", "mail", "api", "ns1", "cdn", "img", "m", "static", "app", "mx", "ftp", "smtp", "login",
    "news", "blog", "shop",
];

/// Appends a label.
pub(super) fn push_text(label: &str, target: &mut Vec<u8>) {
    target.push(label.len() as u8);
    target.extend_from_slice(label.as_bytes());
}

/// Appends the label of a host; numbers next to each other have different ones.
pub(super) fn push_hosts_label(number: u64, target: &mut Vec<u8>) {
    push_text(HOSTS[(number % HOSTS.len() as u64) as usize], target);
}

/// Appends a label of `octets` random letters.
pub(super) fn push_letters(mut bits: u64, octets: usize, target: &mut Vec<u8>) {
    target.push(octets as u8);
    for _ in 0..octets {
        bits = mix(bits);
        target.push(b'a' + scale(bits, 26) as u8);
    }
}

/// Appends a label that can be pronounced: syllables that tell `number`, and more, drawn by `bits`, until it has `octets`.
pub(super) fn push_syllables(number: u64, octets: usize, bits: u64, target: &mut Vec<u8>) {
    let start = target.len();
    target.push(0);
    let (mut count, mut span) = (1, u128::from(SYLLABLES));
    while span <= u128::from(number) && count < MOST_SYLLABLES {
        count += 1;
        span *= u128::from(SYLLABLES);
    }
    let mut rest = (u128::from(number) * SPREAD % span) as u64;
    for _ in 0..count {
        push_syllable(rest % SYLLABLES, target);
        rest /= SYLLABLES;
    }
    let mut bits = bits;
    while target.len() - start - 1 < octets {
        bits = mix(bits);
        push_syllable(scale(bits, SYLLABLES), target);
    }
    // The syllables that tell the number stay whole.
    let least = 2 * count as usize;
    target.truncate(start + 1 + octets.max(least));
    target[start] = (target.len() - start - 1) as u8;
}

fn push_syllable(number: u64, target: &mut Vec<u8>) {
    let [consonant, vowel] = [number / 5 % 20, number % 5].map(|place| place as usize);
    target.extend_from_slice(&[CONSONANTS[consonant], VOWELS[vowel]]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn numbers_have_different_labels_as_long_as_they_should_be() {
        for octets in [3, 8, 63] {
            let mut seen = HashSet::new();
            for number in (0..3000).chain([10_u64.pow(12), u64::MAX]) {
                let mut label = Vec::new();
                push_syllables(number, octets, 0, &mut label);
                assert_eq!(usize::from(label[0]), label.len() - 1);
                let is_told = label.len() - 1 == octets || octets < 18;
                assert!(is_told && label.len() <= 64, "{label:?}");
                assert!(label[1..].iter().all(u8::is_ascii_lowercase));
                seen.insert(label);
            }
            assert!(seen.len() > 2950, "{octets}: {}", seen.len());
        }
    }

    #[test]
    fn random_letters_are_as_many_as_asked_for() {
        let mut label = Vec::new();
        push_letters(7, 12, &mut label);
        assert_eq!((label[0], label.len()), (12, 13));
    }
}

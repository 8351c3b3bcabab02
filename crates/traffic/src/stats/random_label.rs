//! Whether a name seems to be made at random.

use crate::wire::labels;

/// Letters of the names by which Chromium asked whether a network answers everything (chromium.org issue 1090985).
const PROBE_LETTERS: std::ops::RangeInclusive<usize> = 7..=15;
/// A single label that comes more often is a name that somebody has in mind, such as localhost.
const MAX_PROBES: u64 = 4;
/// Characters from which on a label is long.
const LONG: usize = 20;
/// A label at random goes over from letters to digits or back once in so many characters, at the least: hexadecimal digits do so
/// twice as often, while a word with a number after it does so once.
const CHARACTERS_OF_A_CHANGE: usize = 6;

/// Whether `name`, in lower case and wire format, which came `count` times, seems to be made at random. Two kinds are told, by rule
/// of thumb:
///
/// - a single label of 7 to 15 letters that comes at most four times, as browsers sent them to see whether a network answers every
///   name;
/// - a first label of 20 and more letters and digits that goes over from one to the other at least once in six characters, as
///   hashes, attacks with random labels and names that carry data do.
pub fn is_random(name: &[u8], count: u64) -> bool {
    let mut labels = labels(name);
    let first = labels.next();
    first.is_some_and(|first| is_random_label(first, labels.next().is_none(), count))
}

/// The same of a name as [`crate::wire::shown_name`] writes it.
pub fn is_shown_random(name: &str, count: u64) -> bool {
    // What is written with a backslash is neither letter nor digit, and neither is a dot inside a label.
    let (first, rest) = name.split_once('.').unwrap_or((name, ""));
    is_random_label(first.as_bytes(), rest.is_empty(), count)
}

fn is_random_label(first: &[u8], is_single: bool, count: u64) -> bool {
    if is_single && PROBE_LETTERS.contains(&first.len()) {
        return count <= MAX_PROBES && first.iter().all(u8::is_ascii_lowercase);
    }
    first.len() >= LONG
        && first.iter().all(u8::is_ascii_alphanumeric)
        && changes(first) * CHARACTERS_OF_A_CHANGE >= first.len()
}

/// How often a label goes over from letters to digits or back.
fn changes(label: &[u8]) -> usize {
    let pairs = label.windows(2);
    pairs
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_names_are_told_from_usual_ones() {
        let name = |text: &str| -> Vec<u8> {
            let labels = text.split('.');
            labels
                .flat_map(|label| [&[label.len() as u8], label.as_bytes()].concat())
                .collect()
        };
        for random in [
            "qwfkzbx",
            "hgbzajdyxcvqwer",
            "d41d8cd98f00b204e9800998ecf8427e.example.com",
            "k3v9x0q2m7z1b8n4c6w5.example",
        ] {
            assert!(is_random(&name(random), 1), "{random}");
            assert!(is_shown_random(&format!("{random}."), 1), "{random}");
        }
        for usual in [
            "com",
            "localdomain-1",
            "www.example.com",
            "internationalorganizations2024.example.com",
            "aaaaaaaaaaaaaaaaaaaa1111111111.example",
            "4.3.2.1.in-addr.arpa",
        ] {
            assert!(!is_random(&name(usual), 1), "{usual}");
            assert!(!is_shown_random(&format!("{usual}."), 1), "{usual}");
        }
        assert!(!is_random(b"", 1));
        assert!(!is_shown_random(".", 1));
        let dotted = b"\x07qwf.zbx";
        assert!(!is_random(dotted, 1));
        assert!(!is_shown_random(&crate::wire::shown_name(dotted), 1));
        assert!(!is_random(&name("localhost"), 5));
    }
}

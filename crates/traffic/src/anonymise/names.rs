//! What becomes of names: addresses in them are anonymised always, labels get pseudonyms where that is asked for.

mod address_text;
mod labels_of;
mod pseudonyms;
mod reverse;
mod suffixes;

pub use suffixes::KeptSuffixes;

use super::cryptopan::CachedPan;
use super::key::KeySet;
use crate::wire::{MAX_NAME_LEN, labels};
use labels_of::Labels;
use pseudonyms::Pseudonyms;
use serde::{Deserialize, Serialize};

/// Whether names stay readable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NamePolicy {
    /// They do, apart from addresses in them.
    #[default]
    Keep,
    /// Labels below the public suffix get pseudonyms of the same length.
    Pseudonyms,
}

/// What became of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// It stays as it is.
    Same,
    /// It is another one with as many labels.
    Changed {
        /// A bit for each label, from the first on as bit 0, that is mapped together with the one before it; what stands for
        /// the name that begins with such a label may be something else.
        inner: u128,
    },
    /// It would be longer than names may be.
    TooLong,
}

/// Maps names; one for each thread.
pub struct NameMapper<'k> {
    policy: NamePolicy,
    pseudonyms: Pseudonyms<'k>,
}

impl<'k> NameMapper<'k> {
    /// A mapper by `keys` that has nothing at hand yet.
    pub fn new(policy: NamePolicy, keys: &'k KeySet, suffixes: &'k KeptSuffixes) -> Self {
        Self {
            policy,
            pseudonyms: Pseudonyms::new(keys, suffixes),
        }
    }

    /// Maps `name`, uncompressed and with its root label; if it changes, the new name is in `output`.
    pub fn map(&mut self, name: &[u8], pan: &mut CachedPan<'_>, output: &mut Vec<u8>) -> Mapped {
        if self.policy == NamePolicy::Keep && !may_hold_address(name) {
            return Mapped::Same;
        }
        let mut small = [0; MAX_NAME_LEN];
        let small = &mut small[..name.len()];
        small.copy_from_slice(name);
        // Lengths of labels are below the capital letters.
        small.make_ascii_lowercase();
        let labels = Labels::of(small);
        output.clear();
        let changed = match reverse::Zone::of(&labels) {
            Some(zone) => {
                reverse::map(
                    (zone, 0),
                    &labels,
                    self.policy,
                    &mut self.pseudonyms,
                    pan,
                    output,
                );
                output.push(0);
                Some(0)
            }
            None if self.policy == NamePolicy::Pseudonyms => {
                output.extend_from_slice(self.pseudonyms.name(&labels));
                Some(0)
            }
            None => address_text::map(&labels, &mut self.pseudonyms, pan, name, output),
        };
        match changed {
            None => Mapped::Same,
            Some(_) if output.len() > MAX_NAME_LEN => Mapped::TooLong,
            Some(inner) => Mapped::Changed { inner },
        }
    }
}

/// Whether a name that is kept otherwise needs a closer look: it ends in `arpa` or `int`, has as many digits as the shortest
/// address or as many labels of one octet as the shortest IPv6 prefix, separators as between the groups of an IPv6 address, or a
/// label as of a reverse zone, with digits in it or before it.
fn may_hold_address(name: &[u8]) -> bool {
    let ends_in = |tail: &[u8]| {
        name.len() >= tail.len() && name[name.len() - tail.len()..].eq_ignore_ascii_case(tail)
    };
    let has_zone = || {
        labels(name).any(|label| match label.len() {
            3 => label.eq_ignore_ascii_case(b"ip6"),
            7 => label[..3].eq_ignore_ascii_case(b"in-"),
            _ => false,
        })
    };
    // One octet is enough for each count, as no name is longer, and sixteen octets are looked at as one.
    let count =
        |is_one: fn(u8) -> bool| -> u8 { name.iter().map(|octet| u8::from(is_one(*octet))).sum() };
    let digits = count(|octet| octet.is_ascii_digit());
    let separators = count(|octet| octet == b'-' || octet == b':');
    let ones = count(|octet| octet == 1);
    let has_groups = || {
        let is_double = |window: &[u8]| matches!(window, b"--" | b"::");
        separators >= 7 || name.windows(2).any(is_double)
    };
    digits >= 4
        || ends_in(b"\x04arpa\0")
        || ends_in(b"\x03int\0")
        || digits > 0 && has_zone()
        || separators >= 2 && has_groups()
        || usize::from(ones) >= address_text::LEAST_NIBBLES
}

#[cfg(test)]
mod tests;

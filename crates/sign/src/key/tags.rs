//! Key tags that are taken.

use super::{Dnskey, KeyPair};
use std::collections::BTreeSet;

/// The tags of a zone's keys, as they are and with the REVOKE flag, which a new key must keep clear of: validators pick
/// keys by tag, and BIND's tools name files by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyTags {
    taken: BTreeSet<u16>,
    keys: usize,
}

impl KeyTags {
    /// The tags of `keys`.
    pub fn of<'a>(keys: impl IntoIterator<Item = &'a KeyPair>) -> Self {
        let mut tags = Self::default();
        for key in keys {
            tags.insert(key.public());
        }
        tags
    }

    /// Takes the tags of `key`.
    pub fn insert(&mut self, key: &Dnskey) {
        self.taken.extend([key.tag(), key.revoked_tag()]);
        self.keys += 1;
    }

    /// How many keys there are.
    pub(crate) fn keys(&self) -> usize {
        self.keys
    }

    /// Whether `key`, now or once revoked, would have the tag of another.
    pub fn collide_with(&self, key: &Dnskey) -> bool {
        self.taken.contains(&key.tag()) || self.taken.contains(&key.revoked_tag())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dnsrig_zone::Name;

    fn key(flags: u16, public_key: &[u8]) -> Dnskey {
        Dnskey::new(Name::root_bytes(), flags, 15, public_key)
    }

    #[test]
    fn revoked_tags_are_taken() {
        let mut tags = KeyTags::default();
        let first = key(257, &[0, 0, 0, 0]);
        tags.insert(&first);
        assert_eq!(first.revoked_tag(), first.tag() + 0x80);
        assert!(tags.collide_with(&first));
        // The tag that the first has once revoked, and one whose revoked tag the first has now.
        assert!(tags.collide_with(&key(257, &[0, 0x80, 0, 0])));
        assert!(tags.collide_with(&key(257, &[0, 0, 0xFF, 0x7F])));
        assert!(!tags.collide_with(&key(257, &[0, 1, 0, 0])));
    }
}

//! Which names of a zone exist.

use super::complete::above;
use crate::wire::child;
use dnsrig_zone::Name;
use std::collections::BTreeSet;

/// The owner names of one zone's records.
#[derive(Debug, Default)]
pub(super) struct Owners(BTreeSet<Name>);

impl Owners {
    pub fn add(&mut self, owner: &Name) {
        self.0.insert(owner.clone());
    }

    /// Whether `name`, which is below `apex`, exists: something is there or below, or a wildcard above.
    ///
    /// In canonical order names below another come right after it (RFC 4034 section 6.1).
    pub fn have(&self, name: &Name, apex: &Name) -> bool {
        let next = self.0.range(name.clone()..).next();
        if next.is_some_and(|next| next.ends_with(name)) {
            return true;
        }
        let mut ancestor = name.clone();
        while ancestor != *apex && ancestor.label_count() > 1 {
            ancestor = above(&ancestor);
            if self.0.contains(&child(b"*", &ancestor)) {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name() -> impl Strategy<Value = Name> {
        let label = prop::sample::select(vec!["*", "a", "b", "b-", "c"]);
        let labels = prop::collection::vec(label, 1..5);
        labels.prop_map(|labels| format!("{}.test.", labels.join(".")).parse().unwrap())
    }

    proptest! {
        #[test]
        fn a_name_exists_by_what_is_below_it_or_by_a_wildcard(owners in prop::collection::vec(name(), 0..6), asked in name()) {
            let apex: Name = "test.".parse().unwrap();
            let mut known = Owners::default();
            owners.iter().for_each(|owner| known.add(owner));
            let is_wildcard = |owner: &Name| owner.as_slice().starts_with(b"\x01*");
            let expected = owners.iter().any(|owner| {
                owner.ends_with(&asked) || is_wildcard(owner) && asked.ends_with(&above(owner))
            });
            prop_assert_eq!(known.have(&asked, &apex), expected);
        }
    }
}

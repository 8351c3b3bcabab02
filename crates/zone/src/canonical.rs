//! Names in wire format: canonical order (RFC 4034 section 6.1), ancestors.

use std::cmp::Ordering;

/// Labels that a name of 255 octets can have, without the root.
const LABELS_MAX: usize = 127;

/// Where the labels of an uncompressed name begin, the root left out.
struct Labels {
    starts: [u8; LABELS_MAX],
    count: usize,
}

impl Labels {
    fn of(name: &[u8]) -> Self {
        let mut labels = Self {
            starts: [0; LABELS_MAX],
            count: 0,
        };
        let mut at = 0;
        while let Some(&length @ 1..) = name.get(at) {
            if labels.count == LABELS_MAX {
                break;
            }
            labels.starts[labels.count] = at as u8;
            labels.count += 1;
            at += 1 + usize::from(length);
        }
        labels
    }

    /// Label number `index` of `name`, without its length octet.
    fn label<'a>(&self, name: &'a [u8], index: usize) -> &'a [u8] {
        let start = usize::from(self.starts[index]);
        let length = usize::from(name[start]);
        name.get(start + 1..start + 1 + length).unwrap_or_default()
    }
}

/// The number of labels of an uncompressed name, the root left out.
pub fn label_count(name: &[u8]) -> usize {
    let mut at = 0;
    let mut count = 0;
    while let Some(&length @ 1..) = name.get(at) {
        count += 1;
        at += 1 + usize::from(length);
    }
    count
}

/// Compares two uncompressed names in canonical order (RFC 4034 section 6.1).
pub fn compare_names(a: &[u8], b: &[u8]) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let (labels_a, labels_b) = (Labels::of(a), Labels::of(b));
    let mut left = labels_a.count;
    let mut right = labels_b.count;
    while left > 0 && right > 0 {
        left -= 1;
        right -= 1;
        let (label_a, label_b) = (labels_a.label(a, left), labels_b.label(b, right));
        if label_a == label_b {
            continue;
        }
        let lower = |label: &[u8], at: usize| label[at].to_ascii_lowercase();
        let shorter = label_a.len().min(label_b.len());
        for at in 0..shorter {
            let order = lower(label_a, at).cmp(&lower(label_b, at));
            if order.is_ne() {
                return order;
            }
        }
        let order = label_a.len().cmp(&label_b.len());
        if order.is_ne() {
            return order;
        }
    }
    left.cmp(&right)
}

/// Whether two uncompressed names are the same but for the case of letters.
pub fn same_name(a: &[u8], b: &[u8]) -> bool {
    // Length octets are below the letters, so that comparing without case changes none.
    a.eq_ignore_ascii_case(b)
}

/// Whether `name` is `ancestor` or below it; both uncompressed.
pub fn is_at_or_below(name: &[u8], ancestor: &[u8]) -> bool {
    let Some(start) = name.len().checked_sub(ancestor.len()) else {
        return false;
    };
    if !same_name(&name[start..], ancestor) {
        return false;
    }
    // The suffix must begin at a label.
    let mut at = 0;
    while at < start {
        at += 1 + usize::from(name[at]);
    }
    at == start
}

/// The name without its first label; the root has none.
pub fn parent(name: &[u8]) -> Option<&[u8]> {
    match name.first() {
        Some(&length @ 1..) => name.get(1 + usize::from(length)..),
        _ => None,
    }
}

/// The ancestors of `owner` below the apex that are not `previous` or above it, nearest to the apex first: the empty
/// non-terminals between two names that follow each other in canonical order (RFC 5155 section 1.3).
pub fn empty_non_terminals<'a>(
    apex_labels: usize,
    previous: &'a [u8],
    owner: &'a [u8],
) -> impl Iterator<Item = &'a [u8]> {
    let labels = Labels::of(owner);
    let ancestors = labels.count.saturating_sub(apex_labels + 1);
    (1..=ancestors)
        .rev()
        .map(move |index| &owner[usize::from(labels.starts[index])..])
        .filter(move |ancestor| !is_at_or_below(previous, ancestor))
}

/// Appends the octets whose plain order is the canonical order of names: labels from right to left in lower case, each
/// ended by a zero octet, with octets 0 and 1 inside a label written as `1 1` and `1 2`.
pub(crate) fn push_sort_key(name: &[u8], key: &mut Vec<u8>) {
    let labels = Labels::of(name);
    for index in (0..labels.count).rev() {
        for &octet in labels.label(name, index) {
            match octet {
                0 => key.extend_from_slice(&[1, 1]),
                1 => key.extend_from_slice(&[1, 2]),
                _ => key.push(octet.to_ascii_lowercase()),
            }
        }
        key.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Name;
    use domain::base::name::ToName;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn name() -> impl Strategy<Value = Vec<u8>> {
        let octet = prop_oneof![
            proptest::sample::select(&b"aAbB\x00\x01\x02\xff"[..]),
            any::<u8>()
        ];
        vec(vec(octet, 1..4), 0..5).prop_map(|labels| {
            let mut wire: Vec<u8> = Vec::new();
            for label in labels {
                wire.push(label.len() as u8);
                wire.extend(label);
            }
            wire.push(0);
            wire
        })
    }

    fn checked(wire: &[u8]) -> Name {
        Name::from_octets(bytes::Bytes::copy_from_slice(wire)).unwrap()
    }

    proptest! {
        #[test]
        fn orders_are_those_of_domain(a in name(), b in name()) {
            let expected = checked(&a).name_cmp(&checked(&b));
            prop_assert_eq!(compare_names(&a, &b), expected);
            let key = |name: &[u8]| {
                let mut key = Vec::new();
                push_sort_key(name, &mut key);
                key
            };
            prop_assert_eq!(key(&a).cmp(&key(&b)), expected);
            prop_assert_eq!(same_name(&a, &b), expected.is_eq());
            prop_assert_eq!(is_at_or_below(&a, &b), checked(&a).ends_with(&checked(&b)));
        }

        #[test]
        fn a_name_is_below_its_ancestors(name in name()) {
            let mut ancestor = Some(&name[..]);
            while let Some(wire) = ancestor {
                prop_assert!(is_at_or_below(&name, wire));
                ancestor = parent(wire);
            }
            prop_assert_eq!(label_count(&name), checked(&name).label_count() - 1);
        }
    }

    #[test]
    fn empty_non_terminals_between_names() {
        let apex = b"\x01z\x00";
        let owner = b"\x01a\x01b\x01c\x01z\x00";
        let all: Vec<&[u8]> = empty_non_terminals(1, apex, owner).collect();
        assert_eq!(all, [&owner[4..], &owner[2..]]);
        let after: Vec<&[u8]> = empty_non_terminals(1, b"\x01q\x01c\x01z\x00", owner).collect();
        assert_eq!(after, [&owner[2..]]);
        assert_eq!(empty_non_terminals(1, apex, apex).count(), 0);
    }
}

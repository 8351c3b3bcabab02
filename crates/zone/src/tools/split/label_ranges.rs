//! Slices of a zone by the first octets of the label below the apex.

use super::refuse;
use crate::error::ZoneError;
use std::cmp::Ordering;
use std::path::Path;

/// Octets of the longest label.
const LABEL_MAX: usize = 63;

/// Ranges of labels, in canonical order and disjoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelRanges(Vec<LabelRange>);

/// Labels from one that begins with `from` to one that begins with `to`, both included, letter case aside.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelRange {
    /// None: from the first label.
    from: Option<Vec<u8>>,
    /// None: to the last label.
    to: Option<Vec<u8>>,
}

impl LabelRange {
    fn read(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        let bound = |text: &str| match text {
            "" => Some(None),
            _ => text
                .bytes()
                .all(|octet| octet.is_ascii_alphanumeric() || matches!(octet, b'_' | b'*'))
                .then(|| Some(text.to_ascii_lowercase().into_bytes())),
        };
        let range = Self {
            from: bound(from)?,
            to: bound(to)?,
        };
        let is_empty = match (&range.from, &range.to) {
            (None, None) => text.is_empty(),
            (Some(from), Some(_)) => range.compare(from).is_gt(),
            _ => false,
        };
        (!is_empty).then_some(range)
    }

    /// Whether `lower`, a label in lower case, comes before, in or after the range.
    fn compare(&self, lower: &[u8]) -> Ordering {
        if self.from.as_ref().is_some_and(|from| lower < &from[..]) {
            return Ordering::Less;
        }
        let is_after = |to: &Vec<u8>| lower > &to[..] && !lower.starts_with(to);
        match self.to.as_ref().is_some_and(is_after) {
            true => Ordering::Greater,
            false => Ordering::Equal,
        }
    }

    /// Whether all labels of the range come before all of `other`.
    fn is_before(&self, other: &Self) -> bool {
        match (&self.to, &other.from) {
            (Some(to), Some(from)) => to < from && !from.starts_with(to),
            _ => false,
        }
    }
}

impl LabelRanges {
    /// Reads ranges such as `a-j,k-z`; `-j` begins with the first label, `k-` goes to the last, `m` is `m-m`.
    pub fn read(text: &str) -> Result<Self, String> {
        let hint =
            "write ranges of letters and digits such as 0-9,a-j,k-z, or -j,k- for all labels";
        let mut ranges = text
            .split(',')
            .map(|part| LabelRange::read(part.trim()))
            .map(|range| {
                range.ok_or_else(|| format!("'{text}' is no list of label ranges; {hint}"))
            })
            .collect::<Result<Vec<_>, _>>()?;
        ranges.sort_by(|a, b| a.from.cmp(&b.from));
        let overlap = ranges.windows(2).any(|pair| !pair[0].is_before(&pair[1]));
        match overlap {
            true => Err(format!("ranges of '{text}' overlap; {hint}")),
            false => Ok(Self(ranges)),
        }
    }

    /// The number of ranges.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no range; what was read has at least one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of the range, from 0, that has `label`.
    pub fn find(&self, label: &[u8]) -> Option<usize> {
        let mut lower = [0; LABEL_MAX];
        let lower = &mut lower[..label.len().min(LABEL_MAX)];
        lower.copy_from_slice(&label[..lower.len()]);
        lower.make_ascii_lowercase();
        self.0
            .binary_search_by(|range| range.compare(lower).reverse())
            .ok()
    }

    /// Refuses a zone in which a range has no name, going by the names of each.
    pub(super) fn check_names(&self, names: &[u64], zone: &Path) -> Result<(), ZoneError> {
        let Some(empty) = names.iter().position(|&count| count == 0) else {
            return Ok(());
        };
        let text = |bound: &Option<Vec<u8>>| {
            String::from_utf8_lossy(bound.as_deref().unwrap_or_default()).into_owned()
        };
        let range = &self.0[empty];
        Err(refuse(
            zone,
            format!(
                "no name in the range {}-{}",
                text(&range.from),
                text(&range.to)
            ),
            "leave the range out, or join it with another",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found() {
        let ranges = LabelRanges::read("k-z, a-j,0-9").unwrap();
        let cases: [(&[u8], Option<usize>); 8] = [
            (b"0", Some(0)),
            (b"9zz", Some(0)),
            (b"a", Some(1)),
            (b"JzZ", Some(1)),
            (b"k", Some(2)),
            (b"zzz", Some(2)),
            (b"_tcp", None),
            (b"\xFF", None),
        ];
        for (label, expected) in cases {
            assert_eq!(ranges.find(label), expected, "{label:?}");
        }
        let all = LabelRanges::read("-jm,jn-").unwrap();
        assert_eq!(
            [b"jmz", b"jn\0"].map(|label| all.find(label)),
            [Some(0), Some(1)]
        );
        assert_eq!(all.find(b"*"), Some(0));
    }

    #[test]
    fn ranges_are_checked() {
        for text in [
            "",
            "a-j,j-z",
            "z-a",
            "a-j,,k",
            "a-j;k",
            "-j,-z",
            "a-,k-z",
            "a-ab,abc-z",
            "é",
        ] {
            assert!(LabelRanges::read(text).is_err(), "{text}");
        }
        for text in ["-", "a", "a-j,k-z", "ab-a", "-j,k-"] {
            assert!(LabelRanges::read(text).is_ok(), "{text}");
        }
    }
}

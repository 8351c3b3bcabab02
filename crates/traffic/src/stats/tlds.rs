//! The top-level domains of the root zone.

use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::sync::LazyLock;

/// IANA's list; `data/tlds.txt` says its version.
const LIST: &str = include_str!("../../data/tlds.txt");

/// The top-level domains, in lower case.
static KNOWN: LazyLock<HashSet<&'static [u8], RandomState>> = LazyLock::new(|| {
    LIST.lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::as_bytes)
        .collect()
});

/// Whether the root zone has the top-level domain `label`, in lower case.
pub fn is_known(label: &[u8]) -> bool {
    KNOWN.contains(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_what_is_in_the_root_zone() {
        assert!(KNOWN.len() > 1000);
        for tld in ["com", "arpa", "jp", "xn--p1ai"] {
            assert!(is_known(tld.as_bytes()), "{tld}");
        }
        for other in ["local", "home", "corp", ""] {
            assert!(!is_known(other.as_bytes()), "{other}");
        }
    }
}

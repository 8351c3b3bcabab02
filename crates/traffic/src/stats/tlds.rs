//! The top-level domains of the root zone.

use std::collections::HashSet;

/// IANA's list; `data/tlds.txt` says its version.
const LIST: &str = include_str!("../../data/tlds.txt");

/// The top-level domains, in lower case.
pub fn known() -> HashSet<&'static [u8]> {
    LIST.lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::as_bytes)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_what_is_in_the_root_zone() {
        let known = known();
        assert!(known.len() > 1000);
        for tld in ["com", "arpa", "jp", "xn--p1ai"] {
            assert!(known.contains(tld.as_bytes()), "{tld}");
        }
        for other in ["local", "home", "corp", ""] {
            assert!(!known.contains(other.as_bytes()), "{other}");
        }
    }
}

//! Whether a profile's labels can be, and are none that the Internet has for domains of its own.

use super::check::Checked;
use crate::build::{NUMBERED_LABELS, OWN_LABELS};

pub(super) fn check_label(what: &str, label: &str) -> Checked {
    let is_plain =
        |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'-';
    let is_hosts = !label.starts_with('-') && !label.ends_with('-');
    match (1..=40).contains(&label.len()) && label.bytes().all(is_plain) && is_hosts {
        true => Ok(()),
        false => Err(format!(
            "{what}: the name has to be one label of 1 to 40 letters a to z, digits and hyphens, these not at its ends"
        )),
    }
}

/// Refuses the labels of the Internet's own domains, under all top-level domains: where these are is drawn in part, and operators are
/// told apart by their labels in outages, limits and accounts.
pub(super) fn check_own(what: &str, label: &str) -> Checked {
    let is_number =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|octet| octet.is_ascii_digit());
    let is_numbered = |begin: &str| label.strip_prefix(begin).is_some_and(is_number);
    match OWN_LABELS.contains(&label) || NUMBERED_LABELS.iter().any(|begin| is_numbered(begin)) {
        true => Err(format!(
            "{what}: the Internet has {label} for a domain of its own; choose another name"
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Internet, InternetOptions, Profile};

    #[test]
    fn labels_of_the_internets_own_domains_are_refused() {
        let profile = Profile::load("small").unwrap();
        let internet = Internet::new(&profile, InternetOptions::new(1, 1_700_000_000)).unwrap();
        let own = internet.operators.iter().map(|operator| {
            let octets = operator.name.as_slice();
            String::from_utf8(octets[1..1 + usize::from(octets[0])].to_vec()).unwrap()
        });
        let mut seen = 0;
        for label in own.filter(|label| label != "large-dns") {
            seen += 1;
            let mut as_operator = profile.clone();
            as_operator.hosting.operator[0].name = label.clone();
            let mut as_suffix = profile.clone();
            as_suffix.tld[1].second_level[0].label = label.clone();
            for profile in [as_operator, as_suffix] {
                let refused = profile.check().unwrap_err().to_string();
                assert!(
                    refused.contains(&format!("has {label} for a domain of its own")),
                    "{refused}"
                );
            }
        }
        assert!(seen > 20);
        for label in [
            "dns-h",
            "dns-hosts",
            "content-1a",
            "registry",
            "nics",
            "dns-h1-eu",
        ] {
            assert_eq!(check_own("operator", label), Ok(()));
        }
        for label in ["-", "-a", "a-", "", "A", "a.b"] {
            assert!(check_label("operator", label).is_err(), "{label}");
        }
    }
}

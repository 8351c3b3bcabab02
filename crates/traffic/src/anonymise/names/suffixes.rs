//! Names that stay readable among pseudonyms: public suffixes, and those that are asked for.

use super::labels_of::push_label;
use crate::TrafficError;
use crate::wire::{MAX_NAME_LEN, labels};
use psl::{List, Psl, Type};

/// Top-level domains for special use (RFC 6761, 6762, 7686, 9476; `internal` by ICANN): like public ones, they tell nothing.
const SPECIAL_USE: [&[u8]; 8] = [
    b"alt",
    b"example",
    b"internal",
    b"invalid",
    b"local",
    b"localhost",
    b"onion",
    b"test",
];

/// Labels before which registries put no name of theirs (RFC 8552; <https://www.iana.org/assignments/dns-parameters>).
const SERVICE_LABELS: [&[u8]; 62] = [
    b"*",
    b"_",
    b"_acme-challenge",
    b"_adsp",
    b"_afpovertcp",
    b"_airplay",
    b"_atps",
    b"_autodiscover",
    b"_bimi",
    b"_caldav",
    b"_caldavs",
    b"_carddav",
    b"_carddavs",
    b"_cert",
    b"_dane",
    b"_dccp",
    b"_dmarc",
    b"_dns",
    b"_dns-sd",
    b"_dns-update",
    b"_dnslink",
    b"_dnssec",
    b"_domainkey",
    b"_dsboot",
    b"_gc",
    b"_googlecast",
    b"_http",
    b"_https",
    b"_imap",
    b"_imaps",
    b"_ipp",
    b"_ipps",
    b"_jabber",
    b"_kerberos",
    b"_kpasswd",
    b"_ldap",
    b"_matrix",
    b"_mta-sts",
    b"_msdcs",
    b"_ntp",
    b"_openpgpkey",
    b"_pdl-datastream",
    b"_pop3",
    b"_pop3s",
    b"_report",
    b"_sctp",
    b"_services",
    b"_signal",
    b"_sip",
    b"_sips",
    b"_sites",
    b"_smb",
    b"_smimecert",
    b"_smtp",
    b"_spf",
    b"_ssh",
    b"_stun",
    b"_submission",
    b"_tcp",
    b"_tls",
    b"_udp",
    b"_xmpp-client",
];

/// Whether `label` names a service, a wildcard or a port, and so nobody.
pub fn is_service(label: &[u8]) -> bool {
    match label {
        [b'_', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => true,
        // Of signals which trust anchors a resolver has (RFC 8145 section 5.1).
        [b'_', b't', b'a', b'-', ids @ ..] => ids
            .iter()
            .all(|octet| octet.is_ascii_hexdigit() || *octet == b'-'),
        _ => matches!(label.first(), Some(b'_' | b'*')) && SERVICE_LABELS.contains(&label),
    }
}

/// Which names stay readable.
#[derive(Clone, Debug, Default)]
pub struct KeptSuffixes {
    /// In wire format and small letters.
    asked_for: Vec<Vec<u8>>,
}

impl KeptSuffixes {
    /// The public suffixes, and those in `asked_for`, such as `example.org`.
    ///
    /// # Errors
    /// [`TrafficError::Setting`] for text that is no name.
    pub fn new(asked_for: &[String]) -> Result<Self, TrafficError> {
        let asked_for = asked_for.iter().map(|text| {
            from_text(text).ok_or_else(|| TrafficError::Setting {
                why: format!("the suffix to be kept: '{text}' is no domain name"),
            })
        });
        Ok(Self {
            asked_for: asked_for.collect::<Result<_, _>>()?,
        })
    }

    /// Whether `name`, in small letters, stays readable if the name above it does.
    pub fn keeps(&self, name: &[u8]) -> bool {
        // The forerunner of ip6.arpa, in which labels are mapped in another way.
        let is_reverse = name == b"\x03ip6\x03int\0";
        is_reverse || self.is_asked_for(name) || is_special_use(name) || is_public_suffix(name)
    }

    /// Whether `name` is one of those asked for, or above it.
    fn is_asked_for(&self, name: &[u8]) -> bool {
        self.asked_for.iter().any(|kept| {
            let mut tails = (0..kept.len()).scan(0, |at, _| {
                let start = *at;
                *at += 1 + usize::from(*kept.get(start)?);
                Some(&kept[start..])
            });
            tails.any(|tail| tail == name)
        })
    }
}

fn is_special_use(name: &[u8]) -> bool {
    let mut labels = labels(name);
    labels
        .next()
        .is_some_and(|label| SPECIAL_USE.contains(&label))
        && labels.next().is_none()
}

/// Whether registries delegate below `name`, by the part of the Public Suffix List that is theirs, or below all names just
/// below it, as a rule with a wildcard says. Then `name` is kept, too, so that what becomes of a name never depends on
/// names below it.
fn is_public_suffix(name: &[u8]) -> bool {
    let mut reversed: Vec<&[u8]> = labels(name).collect();
    reversed.reverse();
    // Without its first length octet and root label, a name is as long as its text.
    let len = name.len().saturating_sub(2);
    let found = |labels: &[&[u8]], len| {
        let info = List.find(labels.iter().copied());
        info.typ == Some(Type::Icann) && info.len == len
    };
    if found(&reversed, len) {
        return true;
    }
    reversed.push(b"x");
    reversed.len() > 2 && found(&reversed, len + 2)
}

/// Reads a name without escapes in text; `None` if it is none.
fn from_text(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let mut name = Vec::with_capacity(text.len() + 2);
    for label in text.split('.') {
        if label.is_empty() || label.len() > 63 || label.contains('\\') || !label.is_ascii() {
            return None;
        }
        push_label(&mut name, label.to_ascii_lowercase().as_bytes());
    }
    name.push(0);
    (name.len() <= MAX_NAME_LEN).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(asked_for: &[&str], name: &str) -> bool {
        let asked_for: Vec<String> = asked_for.iter().map(|&name| name.to_owned()).collect();
        KeptSuffixes::new(&asked_for)
            .unwrap()
            .keeps(&from_text(name).unwrap())
    }

    #[test]
    fn what_registries_delegate_below_is_kept() {
        for kept in [
            "com",
            "co.uk",
            "jp",
            "arpa",
            "xn--p1ai",
            "test",
            "onion",
            "a.kawasaki.jp",
            "kawasaki.jp",
        ] {
            assert!(keeps(&[], kept), "{kept}");
        }
        for other in [
            "example.com",
            "github.io",
            "nosuchtld",
            "city.kawasaki.jp",
            "www.test",
            "johns-laptop",
        ] {
            assert!(!keeps(&[], other), "{other}");
        }
    }

    #[test]
    fn what_is_asked_for_is_kept_with_the_names_above_it() {
        let asked_for = ["Internal.Example.ORG.", "corp"];
        for kept in ["internal.example.org", "example.org", "org", "corp"] {
            assert!(keeps(&asked_for, kept), "{kept}");
        }
        for other in ["www.internal.example.org", "internal.example.com", "xcorp"] {
            assert!(!keeps(&asked_for, other), "{other}");
        }
        for text in ["", "a..b", "caf\u{e9}.fr", "a\\.b"] {
            assert!(KeptSuffixes::new(&[text.to_owned()]).is_err(), "{text}");
        }
    }

    #[test]
    fn services_are_told_from_names() {
        for service in [&b"_tcp"[..], b"_443", b"*", b"_", b"_ta-4f66", b"_dmarc"] {
            assert!(is_service(service));
        }
        for other in [&b"www"[..], b"_john", b"443", b"_ta-xyz", b"_4a"] {
            assert!(!is_service(other));
        }
        assert!(SERVICE_LABELS.is_sorted_by(|a, b| a != b));
    }
}

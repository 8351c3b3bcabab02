//! `.key` files: the DNSKEY record, and the key's times in comments.

use super::files::{PairPaths, read_key_file};
use crate::key::date::{digits_of, seconds_of, words_of};
use crate::key::{Dnskey, FLAG_SEP, KeyTiming, PROTOCOL, TimingEvent};
use crate::{KeyPair, Role, SignError};
use dnsrig_zone::{PresentationName, Zone, read_records};
use domain::base::iana::Rtype;
use domain::utils::base64;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a `.key` file says.
pub(super) struct PublicFile {
    pub dnskey: Dnskey,
    /// The line of the record.
    pub line: usize,
    /// The times in the comments.
    pub timing: KeyTiming,
}

impl Dnskey {
    /// Reads the DNSKEY record of a `.key` file; `path` is that of either file of the pair, or their common path
    /// without suffix. The private key is not needed, and the algorithm may be any.
    pub fn read(path: &Path) -> Result<Self, SignError> {
        PublicFile::read(&PairPaths::of(path).public).map(|file| file.dnskey)
    }
}

/// Reads what DS records are to be made of, at least one key: the key of a `.key` file or, if `path` is no file, of the pair
/// with this common path; else the keys at the apex of a zone file, of these only the ones that are secure entry points and not revoked
/// unless `all` are asked for.
pub fn read_dnskeys(path: &Path, all: bool) -> Result<Vec<Dnskey>, SignError> {
    let name = path.as_os_str().as_bytes();
    let is_key_file = [&b".key"[..], b".private"]
        .iter()
        .any(|end| name.ends_with(end));
    if is_key_file || (!path.is_file() && PairPaths::of(path).public.exists()) {
        return Ok(vec![Dnskey::read(path)?]);
    }
    let zone = Zone::read(path, None)?;
    let is_wanted = |key: &Dnskey| all || key.role() == Role::Ksk && !key.is_revoked();
    let apex = zone
        .records()
        .iter()
        .filter(|record| record.owner == *zone.origin());
    let keys: Vec<Dnskey> = apex
        .filter_map(Dnskey::from_record)
        .filter(is_wanted)
        .collect();
    match keys.is_empty() {
        false => Ok(keys),
        true => Err(SignError::NoDnskey {
            file: path.to_path_buf(),
            wanted: if all {
                "at its apex"
            } else {
                "with the SEP flag at its apex"
            },
        }),
    }
}

impl PublicFile {
    pub fn read(file: &Path) -> Result<Self, SignError> {
        let text = read_key_file(file)?;
        let text = String::from_utf8_lossy(&text);
        let line = record_line(&text);
        let mut records = read_records(file)?;
        let what = match &records[..] {
            [record] if record.rtype != Rtype::DNSKEY => "the record is not a DNSKEY",
            [record] => match Dnskey::from_record(record) {
                None => "the DNSKEY record is too short",
                Some(key) if !key.is_zone_key() => {
                    "the DNSKEY has not the zone key flag (RFC 4034 section 2.1.1)"
                }
                Some(key) if key.protocol() != PROTOCOL => {
                    "the protocol of the DNSKEY is not 3 (RFC 4034 section 2.1.2)"
                }
                Some(key) => {
                    let ttl_s = gives_ttl(&text).then(|| records.remove(0).ttl);
                    return Ok(Self {
                        dnskey: key.with_ttl(ttl_s),
                        line,
                        timing: timing_of_comments(&text),
                    });
                }
            },
            _ => "this file must have exactly one record, a DNSKEY",
        };
        Err(SignError::KeyFile {
            file: file.to_path_buf(),
            line,
            what: what.into(),
            hint: "give a .key file as dnssec-keygen makes it",
        })
    }
}

fn is_entry(line: &str) -> bool {
    !line.trim_start().is_empty() && !line.trim_start().starts_with(';')
}

/// The number of the line where the first record begins; 1 if there is none.
fn record_line(text: &str) -> usize {
    let is_record = |line: &str| is_entry(line) && !line.starts_with('$');
    text.lines()
        .position(is_record)
        .map_or(1, |index| index + 1)
}

/// Whether the one record has a TTL of its own, or one by `$TTL`.
fn gives_ttl(text: &str) -> bool {
    let has_ttl = |line: &str| match line.split_whitespace().next() {
        Some(first) if first.eq_ignore_ascii_case("$TTL") => true,
        Some(first) if !first.starts_with('$') => line
            .split_whitespace()
            .skip(1)
            .take_while(|word| !word.eq_ignore_ascii_case("DNSKEY"))
            .any(|word| word.starts_with(|first: char| first.is_ascii_digit())),
        _ => false,
    };
    text.lines().filter(|line| is_entry(line)).any(has_ttl)
}

/// `; Publish: 20260101000000 (...)`; a comment that gives no time is just a comment.
fn timing_of_comments(text: &str) -> KeyTiming {
    let mut timing = KeyTiming::default();
    for line in text.lines() {
        let Some((name, value)) = line.strip_prefix(';').and_then(|rest| rest.split_once(':'))
        else {
            continue;
        };
        let digits = value.split_whitespace().next().unwrap_or_default();
        if let (Some(event), Some(time_s)) =
            (TimingEvent::from_name(name.trim()), seconds_of(digits))
        {
            timing.set(event, Some(time_s));
        }
    }
    timing
}

/// The text of the `.key` file, as dnssec-keygen writes it.
pub(super) fn public_text(key: &KeyPair) -> String {
    let public = key.public();
    let kind = match public.flags() & FLAG_SEP {
        0 => "zone",
        _ => "key",
    };
    let revoked = match public.is_revoked() {
        true => "revoked ",
        false => "",
    };
    let owner = PresentationName(public.owner());
    let mut text = format!(
        "; This is a {revoked}{kind}-signing key, keyid {}, for {owner}\n",
        public.tag()
    );
    for (event, time_s) in key.timing().events() {
        let (digits, words) = (digits_of(time_s), words_of(time_s));
        text.push_str(&format!("; {}: {digits} ({words})\n", event.name()));
    }
    let ttl = public
        .ttl_s()
        .map_or(String::new(), |ttl_s| format!("{ttl_s} "));
    text.push_str(&format!(
        "{owner} {ttl}IN DNSKEY {} {} {} {}\n",
        public.flags(),
        public.protocol(),
        public.algorithm_number(),
        base64::encode_string(public.public_key()),
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_ttl_is() {
        for (text, expected) in [
            ("a. IN DNSKEY 257 3 13 AAAA\n", false),
            ("; 60\na. DNSKEY 257 3 13 AAAA\n", false),
            ("a. 60 IN DNSKEY 257 3 13 AAAA\n", true),
            ("a. IN 1h dnskey 257 3 13 AAAA\n", true),
            ("$TTL 60\na. IN DNSKEY 257 3 13 AAAA\n", true),
            ("$ORIGIN 0.\na. IN DNSKEY 257 3 13 AAAA\n", false),
            ("60. IN DNSKEY 257 3 13 AAAA\n", false),
        ] {
            assert_eq!(gives_ttl(text), expected, "{text}");
        }
    }

    #[test]
    fn times_in_comments() {
        let timing = timing_of_comments(
            "; This is a key-signing key, keyid 5, for a.\n; Created: 19700101000001 (Thu)\r\n\
             ;Inactive:19700101000002\n; Delete: soon\n; Other: 19700101000003\n",
        );
        let events: Vec<_> = timing.events().collect();
        assert_eq!(
            events,
            [(TimingEvent::Created, 1), (TimingEvent::Inactive, 2)]
        );
    }
}

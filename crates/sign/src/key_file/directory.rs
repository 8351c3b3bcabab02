//! All keys of a zone in a folder, as signing with `-K` finds them.

use super::files::PairPaths;
use super::public::PublicFile;
use crate::key::file_prefix;
use crate::{Dnskey, KeyPair, KeyTags, SignError};
use dnsrig_zone::Name;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The keys of a zone in a folder.
#[derive(Debug)]
pub struct KeyDirectory {
    /// The keys, by algorithm and tag.
    pub keys: Vec<KeyPair>,
    /// Public keys without a private key beside them: a key-signing key that is kept offline, for example.
    pub public_only: Vec<Dnskey>,
}

impl KeyDirectory {
    /// Reads the keys of `zone` in `folder`, by BIND's file names; files of other zones and of other kinds are left
    /// aside. A damaged pair, a private key without its public one, and an algorithm that is not supported are errors:
    /// leaving such a key out could make the zone bogus.
    pub fn read(folder: &Path, zone: &Name) -> Result<Self, SignError> {
        let mut found = Self {
            keys: Vec::new(),
            public_only: Vec::new(),
        };
        for stem in stems(folder, zone)? {
            let paths = PairPaths::of(&stem);
            if paths.public.exists() && !paths.private.exists() {
                let public = PublicFile::read(&paths.public)?;
                found.public_only.push(public.dnskey);
                continue;
            }
            let key = KeyPair::read(&stem)?;
            key.check_owner(zone)?;
            found.keys.push(key);
        }
        found
            .keys
            .sort_by_key(|key| (key.algorithm().number(), key.tag()));
        Ok(found)
    }
}

impl KeyTags {
    /// The tags of all keys of `zone` in `folder`, those without private key and of other algorithms included.
    pub fn in_directory(folder: &Path, zone: &Name) -> Result<Self, SignError> {
        let mut tags = Self::default();
        for stem in stems(folder, zone)? {
            let paths = PairPaths::of(&stem);
            if !paths.public.exists() {
                paths.check_complete()?;
            }
            tags.insert(&PublicFile::read(&paths.public)?.dnskey);
        }
        Ok(tags)
    }
}

/// The paths without suffix of the key files of `zone` in `folder`, in order.
fn stems(folder: &Path, zone: &Name) -> Result<BTreeSet<PathBuf>, SignError> {
    let failed = |source: io::Error| SignError::KeyFolder {
        folder: folder.to_path_buf(),
        source,
    };
    let prefix = file_prefix(zone);
    let mut stems = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let stem = name
            .to_str()
            .and_then(|name| name.strip_suffix(".key").or(name.strip_suffix(".private")))
            .filter(|stem| is_stem(stem, &prefix));
        stems.extend(stem.map(|stem| folder.join(stem)));
    }
    Ok(stems)
}

/// Whether `stem` is `prefix`, a plus sign, three digits, a plus sign, five digits.
fn is_stem(stem: &str, prefix: &str) -> bool {
    let number = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|octet| octet.is_ascii_digit())
    };
    stem.strip_prefix(prefix)
        .and_then(|rest| rest.strip_prefix('+'))
        .and_then(|rest| rest.split_once('+'))
        .is_some_and(|(algorithm, tag)| number(algorithm, 3) && number(tag, 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_key_files() {
        for (stem, expected) in [
            ("Kexample.+013+00001", true),
            ("Kexample.+13+00001", false),
            ("Kexample.+013+1", false),
            ("Kexample.com.+013+00001", false),
            ("Kexample.+013+0000x", false),
            ("Kexample.+013", false),
            ("xKexample.+013+00001", false),
        ] {
            assert_eq!(is_stem(stem, "Kexample."), expected, "{stem}");
        }
    }
}

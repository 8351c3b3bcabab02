//! Keys of anonymisation, and the files that they are kept in.

use super::cryptopan::{CryptoPan, KEY_LEN};
use super::labels::LabelCipher;
use super::prf::{BLOCK_LEN, Prf};
use crate::TrafficError;
use crate::write::write_error;
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::rand::fill;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Rights of a key file: none but its owner's.
const MODE: u32 = 0o600;
/// More than a key file has in any form.
const MAX_FILE_LEN: u64 = 1024;

/// What everything is anonymised by: 32 octets, as Crypto-PAn has them. Who has it can undo it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; KEY_LEN]);

impl Key {
    /// Takes a key as it is.
    pub fn new(octets: [u8; KEY_LEN]) -> Self {
        Self(octets)
    }

    /// A new random key.
    ///
    /// # Errors
    /// [`TrafficError::Key`], if the system gives no random numbers.
    pub fn random() -> Result<Self, TrafficError> {
        let mut octets = [0; KEY_LEN];
        fill(&mut octets)
            .map_err(|_| key_error(Path::new("-"), "the system gives no random numbers".into()))?;
        Ok(Self(octets))
    }

    /// Reads a key file: 64 hexadecimal digits, or 32 octets as they are (as dnscap and others take them).
    ///
    /// # Errors
    /// [`TrafficError::Key`] if it cannot be read, may be read by others than its owner, or holds something else.
    pub fn read(path: &Path) -> Result<Self, TrafficError> {
        let mut octets = Vec::new();
        let read = File::open(path).and_then(|file| {
            let mode = file.metadata()?.permissions().mode();
            file.take(MAX_FILE_LEN).read_to_end(&mut octets)?;
            Ok(mode)
        });
        let mode = read.map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::NotFound => "; --make-key makes one",
                _ => "",
            };
            key_error(path, format!("cannot read the key: {error}{advice}"))
        })?;
        if mode & 0o077 != 0 {
            let why = format!(
                "others may read or change the key (mode {:o}); 'chmod 600' it, and take a new key if it has been seen",
                mode & 0o777
            );
            return Err(key_error(path, why));
        }
        let key = Self::parse(&octets).ok_or_else(|| {
            let why = format!(
                "{} octets that are no key: a key is 64 hexadecimal digits, or 32 octets",
                octets.len()
            );
            key_error(path, why)
        })?;
        if key.0 == [0; KEY_LEN] {
            let why = "a key of zeros, which everybody can guess: make one with --make-key".into();
            return Err(key_error(path, why));
        }
        Ok(key)
    }

    fn parse(octets: &[u8]) -> Option<Self> {
        if let Ok(octets) = <[u8; KEY_LEN]>::try_from(octets) {
            return Some(Self(octets));
        }
        let digits = octets.trim_ascii();
        let mut key = [0; KEY_LEN];
        if digits.len() != 2 * KEY_LEN {
            return None;
        }
        for (octet, pair) in key.iter_mut().zip(digits.as_chunks::<2>().0) {
            let [high, low] = pair.map(|digit| char::from(digit).to_digit(16));
            *octet = (high? << 4 | low?) as u8;
        }
        Some(Self(key))
    }

    /// Reads a key file, or makes it with a new key (mode 0600) if there is none; says whether it was made.
    ///
    /// # Errors
    /// Those of [`Key::read`], and [`TrafficError::Write`] if the file cannot be written.
    pub fn read_or_make(path: &Path) -> Result<(Self, bool), TrafficError> {
        let key = Self::random()?;
        match key.write_new(path) {
            Ok(()) => Ok((key, true)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Ok((Self::read(path)?, false))
            }
            Err(source) => Err(write_error(path, source)),
        }
    }

    /// Writes the key into a file that must not be there, and makes sure that it stays: without it, nothing more can be
    /// anonymised in the same way.
    fn write_new(&self, path: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(MODE)
            .open(path)?;
        let digits: String = self.0.iter().map(|octet| format!("{octet:02x}")).collect();
        let written = file
            .write_all(format!("{digits}\n").as_bytes())
            .and_then(|()| file.sync_all());
        if written.is_err() {
            // What is there of the key would be taken for a wrong one.
            let _ = std::fs::remove_file(path);
        }
        written
    }
}

fn key_error(path: &Path, why: String) -> TrafficError {
    TrafficError::Key {
        file: path.to_owned(),
        why,
    }
}

/// All that follows from a key.
pub struct KeySet {
    /// For addresses of packets and client subnets: the key itself, so that other implementations of Crypto-PAn map them
    /// in the same way.
    pub hosts: CryptoPan,
    /// For addresses in names and records, apart from the others: who asks a name in clear again learns an address with
    /// its pseudonym, which must not help against those of clients.
    pub contents: CryptoPan,
    /// For labels.
    pub labels: LabelCipher,
    /// For the names above a label.
    pub parents: Prf,
    /// For cookies and other values that shall stay recognisable.
    pub values: Prf,
}

/// An output of HKDF with so many octets.
struct Len(usize);

impl KeyType for Len {
    fn len(&self) -> usize {
        self.0
    }
}

impl KeySet {
    /// Derives everything from `key` (HKDF, RFC 5869).
    pub fn new(key: &Key) -> Self {
        let secret = Salt::new(HKDF_SHA256, b"dnsrig traffic anonymize 1").extract(&key.0);
        let derive = |what: &[u8], output: &mut [u8]| {
            let info = [what];
            let made = secret.expand(&info, Len(output.len()));
            made.and_then(|made| made.fill(output))
                .expect("HKDF gives 32 octets at once");
        };
        let mut contents = [0; KEY_LEN];
        derive(b"contents", &mut contents);
        let [labels, parents, values] = [&b"labels"[..], b"parents", b"values"].map(|what| {
            let mut made = [0; BLOCK_LEN];
            derive(what, &mut made);
            made
        });
        Self {
            hosts: CryptoPan::new(&key.0),
            contents: CryptoPan::new(&contents),
            labels: LabelCipher::new(labels),
            parents: Prf::new(parents),
            values: Prf::new(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, read_to_string, set_permissions, write};

    #[test]
    fn a_key_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let (key, was_made) = Key::read_or_make(&path).unwrap();
        assert!(was_made);
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
        assert_eq!(read_to_string(&path).unwrap().len(), 65);
        let (again, was_made) = Key::read_or_make(&path).unwrap();
        assert!(again == key && !was_made);
        assert!(Key::random().unwrap() != key);
    }

    #[test]
    fn keys_in_both_forms_are_read_and_others_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let store = |octets: &[u8], mode| {
            write(&path, octets).unwrap();
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            Key::read(&path).map_err(|error| error.to_string())
        };
        let key = Key::new([0xAB; KEY_LEN]);
        assert!(store(&[0xAB; KEY_LEN], 0o600) == Ok(key.clone()));
        assert!(store("aB".repeat(32).as_bytes(), 0o400) == Ok(key.clone()));
        assert!(store(format!("{}\n", "ab".repeat(32)).as_bytes(), 0o600) == Ok(key));
        for octets in [&b""[..], &[1; 33], "g1".repeat(32).as_bytes()] {
            let error = store(octets, 0o600).err().unwrap();
            assert!(error.contains("no key"), "{error}");
        }
        let error = store(&[1; KEY_LEN], 0o640).err().unwrap();
        assert!(
            error.contains("640") && error.contains("chmod 600"),
            "{error}"
        );
        let error = Key::read(&folder.path().join("none")).err().unwrap();
        assert!(error.to_string().contains("cannot read the key"));
    }

    #[test]
    fn what_follows_from_a_key_differs() {
        let keys = KeySet::new(&Key::new([7; KEY_LEN]));
        assert_ne!(keys.hosts.v4(1), keys.contents.v4(1));
        let first = [0; BLOCK_LEN];
        assert_ne!(keys.parents.mac(first, b""), keys.values.mac(first, b""));
    }
}

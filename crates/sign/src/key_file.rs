//! BIND's key files: `K<zone>+<algorithm>+<tag>.key` with the DNSKEY record and `.private` with the private key.

use crate::crypto::{self, PrivateFields};
use crate::{Algorithm, KeyPair, Role, SignError};
use dnsrig_zone::{PresentationName, Record, read_records};
use domain::base::iana::Rtype;
use domain::utils::base64;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

const WRONG_FORMAT: &str = "give a private key in BIND's format v1.2 or v1.3";

impl KeyPair {
    /// Writes the key's two files into `folder` and returns their common path, without suffix.
    ///
    /// The private file is readable for its owner only. Both appear complete or not at all, and existing files are not
    /// overwritten.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, SignError> {
        let stem = folder.join(self.file_stem());
        let private = self.private_text()?;
        write_new(&with_suffix(&stem, "private"), private.as_bytes(), 0o600)?;
        let public = with_suffix(&stem, "key");
        if let Err(error) = write_new(&public, self.public_text().as_bytes(), 0o644) {
            // Half a pair is of no use; the error that matters is the first one.
            let _ = fs::remove_file(with_suffix(&stem, "private"));
            return Err(error);
        }
        Ok(stem)
    }

    /// Reads a key from its pair of files; `path` is that of either, or their common path without suffix.
    pub fn read(path: &Path) -> Result<Self, SignError> {
        let text = path.to_string_lossy();
        let stem = text
            .strip_suffix(".key")
            .or(text.strip_suffix(".private"))
            .unwrap_or(&text);
        let stem = Path::new(stem);
        let public = with_suffix(stem, "key");
        let private = with_suffix(stem, "private");
        let record = read_dnskey(&public)?;
        let read_error = |source| SignError::ReadKey {
            file: private.clone(),
            source,
        };
        let text = Zeroizing::new(fs::read(&private).map_err(read_error)?);
        let (key, line) = Self::from_parts(&private, &text, &record)?;
        if key.dnskey_rdata() != record.rdata[..] {
            return Err(SignError::KeyFile {
                file: private,
                line,
                what: "this private key does not belong to the DNSKEY record of the .key file"
                    .into(),
                hint: "restore the pair, or make a new one",
            });
        }
        Ok(key)
    }

    /// Parses the text of a `.private` file, with owner and flags from the DNSKEY `record`. Gives the number of the
    /// line that names the algorithm, too.
    fn from_parts(file: &Path, text: &[u8], record: &Record) -> Result<(Self, usize), SignError> {
        let private = PrivateText::parse(text).map_err(|(line, what)| SignError::KeyFile {
            file: file.to_path_buf(),
            line,
            what,
            hint: WRONG_FORMAT,
        })?;
        let signer =
            crypto::from_private_fields(private.algorithm, &private.fields).map_err(|what| {
                SignError::KeyFile {
                    file: file.to_path_buf(),
                    line: private.algorithm_line,
                    what,
                    hint: WRONG_FORMAT,
                }
            })?;
        let flags = record
            .rdata
            .first_chunk::<2>()
            .map_or(0, |octets| u16::from_be_bytes(*octets));
        let key = Self::new(
            record.owner.clone(),
            private.algorithm,
            flags,
            private.created_s,
            signer,
        );
        Ok((key, private.algorithm_line))
    }

    fn public_text(&self) -> String {
        let kind = match self.role() {
            Role::Ksk => "key",
            Role::Zsk => "zone",
        };
        // Without TTL, as dnssec-keygen writes it: that is the zone's affair.
        format!(
            "; This is a {kind}-signing key, keyid {tag}, for {owner}\n\
             ; Created: {created}\n\
             {owner} IN DNSKEY {flags} 3 {algorithm} {public_key}\n",
            tag = self.tag(),
            owner = PresentationName(self.owner()),
            created = bind_time(self.created_s()),
            flags = self.flags(),
            algorithm = self.algorithm().number(),
            public_key = base64::encode_string(self.public_key()),
        )
    }

    fn private_text(&self) -> Result<Zeroizing<String>, SignError> {
        // Room for the largest key, so that no copy is left behind by growing.
        let mut text = Zeroizing::new(String::with_capacity(8192));
        let algorithm = self.algorithm();
        text.push_str("Private-key-format: v1.3\n");
        text.push_str(&format!(
            "Algorithm: {} ({algorithm})\n",
            algorithm.number()
        ));
        for (name, value) in self.private_fields()? {
            text.push_str(name);
            text.push_str(": ");
            text.push_str(&Zeroizing::new(base64::encode_string(&value)));
            text.push('\n');
        }
        let created = bind_time(self.created_s());
        for name in ["Created", "Publish", "Activate"] {
            text.push_str(&format!("{name}: {created}\n"));
        }
        Ok(text)
    }
}

/// Reads the text of a `.private` file and drops the key again: for tests of the parser with any octets.
///
/// Fails with the line, from 1, and what is wrong with it.
pub fn check_private_text(text: &[u8]) -> Result<Algorithm, (usize, String)> {
    let private = PrivateText::parse(text)?;
    crypto::from_private_fields(private.algorithm, &private.fields)
        .map(|_| private.algorithm)
        .map_err(|what| (private.algorithm_line, what))
}

/// A `.private` file, taken apart.
struct PrivateText {
    algorithm: Algorithm,
    algorithm_line: usize,
    fields: PrivateFields,
    created_s: u64,
}

impl PrivateText {
    /// Fails with a line number and what is wrong there.
    fn parse(text: &[u8]) -> Result<Self, (usize, String)> {
        let text =
            std::str::from_utf8(text).map_err(|_| (1, "this is not a text file".to_owned()))?;
        let lines: Vec<(usize, &str, &str)> = text
            .lines()
            .enumerate()
            .filter_map(|(index, line)| {
                line.split_once(':')
                    .map(|(name, value)| (index + 1, name.trim(), value.trim()))
            })
            .collect();
        let find = |wanted: &str| lines.iter().find(|(_, name, _)| *name == wanted).copied();
        let (line, _, format) = find("Private-key-format")
            .ok_or_else(|| (1, "the line Private-key-format is missing".to_owned()))?;
        if !matches!(format, "v1.2" | "v1.3") {
            return Err((line, "this key format is unknown".into()));
        }
        let (algorithm_line, _, value) =
            find("Algorithm").ok_or_else(|| (1, "the line Algorithm is missing".to_owned()))?;
        let number = value.split_whitespace().next().unwrap_or_default();
        let algorithm: Algorithm = number
            .parse()
            .map_err(|error: SignError| (algorithm_line, error.to_string()))?;
        let mut fields = PrivateFields::new();
        for name in crypto::field_names(algorithm) {
            if let Some((line, _, value)) = find(name) {
                let octets: Vec<u8> =
                    base64::decode(value).map_err(|_| (line, format!("{name} is not base64")))?;
                fields.push((name, Zeroizing::new(octets)));
            }
        }
        let created_s = find("Created")
            .and_then(|(_, _, value)| seconds_of(value))
            .unwrap_or(0);
        Ok(Self {
            algorithm,
            algorithm_line,
            fields,
            created_s,
        })
    }
}

/// The one DNSKEY record of a `.key` file.
fn read_dnskey(file: &Path) -> Result<Record, SignError> {
    let mut records = read_records(file)?;
    let is_zone_key = |record: &Record| record.rdata.first().is_some_and(|flags| flags & 1 == 1);
    let what = match &records[..] {
        [record] if record.rtype != Rtype::DNSKEY => "the record is not a DNSKEY",
        [record] if !is_zone_key(record) => {
            "the DNSKEY has not the zone key flag (RFC 4034 section 2.1.1)"
        }
        [_] => return Ok(records.remove(0)),
        _ => "this file must have exactly one record, a DNSKEY",
    };
    Err(SignError::KeyFile {
        file: file.to_path_buf(),
        line: 1,
        what: what.into(),
        hint: "give a .key file as dnssec-keygen makes it",
    })
}

fn with_suffix(stem: &Path, suffix: &str) -> PathBuf {
    // Not with_extension: the stem is full of dots.
    let mut path = stem.as_os_str().to_owned();
    path.push(".");
    path.push(suffix);
    PathBuf::from(path)
}

/// Writes a file that must not exist yet, complete or not at all.
fn write_new(file: &Path, content: &[u8], mode: u32) -> Result<(), SignError> {
    let write = || -> io::Result<()> {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let mut temporary = tempfile::Builder::new()
            .prefix(".dnsrig-")
            .permissions(fs::Permissions::from_mode(mode))
            .tempfile_in(folder.unwrap_or(Path::new(".")))?;
        temporary.write_all(content)?;
        temporary.as_file().sync_all()?;
        temporary.persist_noclobber(file)?;
        Ok(())
    };
    write().map_err(|source| SignError::WriteKey {
        file: file.to_path_buf(),
        source,
    })
}

/// `YYYYMMDDHHMMSS`, UTC.
fn bind_time(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil_date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// The inverse of [`bind_time`]; what follows the digits is left aside.
fn seconds_of(text: &str) -> Option<u64> {
    let digits = text.get(..14)?;
    let number = |range| {
        digits
            .get(range)
            .and_then(|part: &str| part.parse::<u64>().ok())
    };
    let (year, month, day) = (number(0..4)?, number(4..6)?, number(6..8)?);
    let (hour, minute, second) = (number(8..10)?, number(10..12)?, number(12..14)?);
    if year < 1970 {
        return None;
    }
    // A year has at most 366 days and a month at most 31, so the date is near; step to it.
    let mut days = (year - 1970) * 365;
    while civil_date(days) < (year, month, day) {
        days += 1;
    }
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Year, month and day of the Gregorian calendar, `days` after 1970-01-01.
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Years are counted from March, so that the leap day is a year's last; 719,468 days lie between 0000-03-01 and 1970.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (seconds, text) in [
            (0, "19700101000000"),
            (951_782_400, "20000229000000"),
            (1_709_251_199, "20240229235959"),
            (4_107_542_400, "21000301000000"),
        ] {
            assert_eq!(bind_time(seconds), text);
            assert_eq!(seconds_of(text), Some(seconds));
        }
        assert_eq!(seconds_of("2024"), None);
    }
}

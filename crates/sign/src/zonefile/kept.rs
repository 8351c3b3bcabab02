//! The chain that a zone has, where it is to keep that.

use super::chain::FLAG_OPT_OUT;
use super::plan::{Chain, FileSigning};
use crate::{Nsec3Parameters, SignError};
use data_encoding::HEXUPPER_PERMISSIVE;
use dnsrig_zone::flow::{Batch, Opening};
use dnsrig_zone::lookup::Nsec3Params;
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{PackedRecord, ZoneError};
use domain::base::iana::Rtype;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Octets read at a time.
const CHUNK: usize = 1 << 20;
/// Octets that an NSEC3 record's first fields take at most: numbers and a salt of 255 octets.
const FIELDS: usize = 1024;

/// `signing` with the chain that the zone has or its earlier version had, given by its `first` names and how it is read: NSEC3 with
/// the parameters of the NSEC3PARAM record there, else NSEC.
pub(super) fn with_kept_chain(
    signing: &FileSigning,
    apex: &[u8],
    first: Option<&Batch>,
    opening: &Opening<'_>,
) -> Result<FileSigning, SignError> {
    if signing.chain != Chain::Kept {
        return Ok(signing.clone());
    }
    let chain = match nsec3param(first) {
        None => Chain::Nsec,
        Some(rdata) => {
            let unknown = || SignError::KeptChain {
                zone: shown_name(apex),
            };
            // The NSEC3PARAM record does not tell (RFC 5155 section 4.1.2).
            let hashing = Nsec3Params::from_rdata(rdata).ok_or_else(unknown)?;
            let flags = flags_of_chain(opening, &hashing)?.ok_or_else(unknown)?;
            Chain::Nsec3(Nsec3Parameters {
                iterations: hashing.iterations,
                salt: hashing.salt.into(),
                opt_out: flags & FLAG_OPT_OUT != 0,
            })
        }
    };
    Ok(FileSigning {
        chain,
        ..signing.clone()
    })
}

/// The data of the record that has the parameters of the chain that servers use (RFC 5155 section 4).
fn nsec3param(first: Option<&Batch>) -> Option<&[u8]> {
    let apex = first?.at_apex()?;
    let mut records = apex.records.iter();
    let is_used = |record: &PackedRecord<'_>| {
        record.rtype == Rtype::NSEC3PARAM && record.rdata.get(1) == Some(&0)
    };
    records.find(is_used).map(|record| record.rdata)
}

/// The flags of the first NSEC3 record with these parameters in the text of the zone file.
fn flags_of_chain(opening: &Opening<'_>, hashing: &Nsec3Params) -> Result<Option<u8>, SignError> {
    if let Some(text) = &opening.text {
        return Ok(find_flags(text, hashing));
    }
    let file = opening.path.to_path_buf();
    // What is read once is gone; opening it again could wait for ever.
    if !std::fs::metadata(opening.path).is_ok_and(|found| found.is_file()) {
        return Err(SignError::KeptChainOfPipe { file });
    }
    let found = find_in_file(opening.path, hashing);
    found.map_err(|source| SignError::Zone(ZoneError::Read { file, source }))
}

fn find_in_file(path: &Path, hashing: &Nsec3Params) -> io::Result<Option<u8>> {
    let mut file = File::open(path)?;
    let mut text = Vec::new();
    loop {
        // What a record at the end of the last chunk began with is looked at again.
        let kept = text.len().min(2 * FIELDS);
        text.drain(..text.len() - kept);
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut text)?;
        if let Some(flags) = find_flags(&text, hashing) {
            return Ok(Some(flags));
        }
        if read == 0 {
            return Ok(None);
        }
    }
}

fn find_flags(text: &[u8], hashing: &Nsec3Params) -> Option<u8> {
    let mut from = 0;
    while let Some(found) = memchr::memchr2(b'C', b'c', &text[from..]) {
        // Type mnemonics are the same in upper and lower case.
        let end = from + found + 2;
        from += found + 1;
        let Some(start) = end.checked_sub("NSEC3".len()) else {
            continue;
        };
        let is_mnemonic = text
            .get(start..end)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"NSEC3"));
        if is_mnemonic
            && word_before(text, start).is_some_and(|word| word != b"RRSIG")
            && let Some(flags) = flags_after(&text[end..], hashing)
        {
            return Some(flags);
        }
    }
    None
}

/// The word before the one at `start`, in upper case; `None` if what is there is no start of a word.
fn word_before(text: &[u8], start: usize) -> Option<Vec<u8>> {
    let before = &text[..start];
    let end = before.trim_ascii_end().len();
    if end == start {
        return None;
    }
    let begin = before[..end]
        .iter()
        .rposition(u8::is_ascii_whitespace)
        .map_or(0, |at| at + 1);
    Some(before[begin..end].to_ascii_uppercase())
}

/// The flags, if what follows are the first fields of an NSEC3 record with these parameters.
fn flags_after(text: &[u8], hashing: &Nsec3Params) -> Option<u8> {
    if !text.first()?.is_ascii_whitespace() {
        return None;
    }
    let fields = &text[..text.len().min(FIELDS)];
    let mut words = fields
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<u16>().ok();
    let (hash, flags, iterations) = (number()?, number()?, number()?);
    let salt = match words.next()? {
        b"-" => Vec::new(),
        salt => HEXUPPER_PERMISSIVE.decode(salt).ok()?,
    };
    let is_it = hash == 1 && iterations == hashing.iterations && salt == *hashing.salt;
    u8::try_from(flags).ok().filter(|_| is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(text: &str, iterations: u64, salt: &str) -> Option<u8> {
        let parameters = Nsec3Parameters::new(iterations, salt, false).unwrap();
        let hashing = Nsec3Params {
            iterations: parameters.iterations,
            salt: parameters.salt.into(),
        };
        find_flags(text.as_bytes(), &hashing)
    }

    #[test]
    fn the_first_record_with_the_parameters_tells() {
        let hash = "2T7B4G4VSA5SMI47K61MV5BV1A22BOJR";
        assert_eq!(
            flags(&format!("{hash}.x. 60 IN NSEC3 1 1 0 - {hash} NS"), 0, "-"),
            Some(1)
        );
        assert_eq!(
            flags(&format!("{hash} nsec3 1 0 5 AaBb (\n {hash} )"), 5, "aabb"),
            Some(0)
        );
        let two = format!("a NSEC3 1 1 9 - {hash}\nb\tIN\tNSEC3\t1 0 0 -\t{hash}\n");
        assert_eq!(flags(&two, 0, "-"), Some(0));
    }

    #[test]
    fn what_looks_like_one_is_none() {
        for text in [
            "x. IN NSEC3PARAM 1 0 0 -",
            "x. IN RRSIG NSEC3 1 1 0 - 2026 2026 1 x. AA==",
            "xNSEC3 1 1 0 - ",
            "NSEC3 1 1 0 - ",
            "x NSEC3 1 1",
            "x NSEC3 2 1 0 - y",
            "x NSEC3 1 300 0 - y",
            "NSEC",
            "c",
            "",
        ] {
            assert_eq!(flags(text, 0, "-"), None, "{text}");
        }
    }
}

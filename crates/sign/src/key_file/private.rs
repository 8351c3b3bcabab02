//! `.private` files: fields with a name each, the secret ones in base64.

use crate::crypto::{self, PrivateFields};
use crate::key::date::{digits_of, seconds_of};
use crate::key::{KeyTiming, TimingEvent};
use crate::pkcs11::Pkcs11Uri;
use crate::{Algorithm, KeyPair, SignError};
use data_encoding::BASE64;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// Room for the largest key, so that no copy is left behind by growing.
const TEXT_OCTETS: usize = 16 * 1024;

/// The field of a key in a token: its PKCS#11 URI (dnssec-keyfromlabel).
pub(crate) const LABEL: &str = "Label";
/// The field that says by what a token is reached.
pub(crate) const ENGINE: &str = "Engine";

/// A line number, from 1, and what is wrong there.
pub(super) type Fault = (usize, String);

/// Where the private key is.
pub(super) enum Secret {
    /// In the file.
    Fields(PrivateFields),
    /// In the token that the file names.
    Token(Box<Pkcs11Uri>),
}

/// A `.private` file, taken apart.
pub(super) struct PrivateText {
    pub algorithm: Algorithm,
    pub algorithm_line: usize,
    pub secret: Secret,
    pub timing: KeyTiming,
    pub timing_lines: Vec<(TimingEvent, usize)>,
}

/// The lines of a file by their names, with their numbers.
type Fields<'a> = BTreeMap<&'a str, (usize, &'a str)>;

impl PrivateText {
    pub fn parse(text: &[u8]) -> Result<Self, Fault> {
        let fields = split(text)?;
        let find = |name: &str| {
            fields
                .get(name)
                .copied()
                .ok_or_else(|| (1, format!("the line {name} is missing")))
        };
        let (line, format) = find("Private-key-format")?;
        if !matches!(format, "v1.2" | "v1.3") {
            return Err((line, "this key format is unknown".into()));
        }
        let (algorithm_line, value) = find("Algorithm")?;
        let number = value.split_whitespace().next().unwrap_or_default();
        let algorithm: Algorithm = number
            .parse()
            .map_err(|error: SignError| (algorithm_line, error.to_string()))?;
        let (timing, timing_lines) = timing_of(&fields)?;
        Ok(Self {
            algorithm,
            algorithm_line,
            secret: secret_of(algorithm, &fields)?,
            timing,
            timing_lines,
        })
    }
}

fn split(text: &[u8]) -> Result<Fields<'_>, Fault> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let before = &text[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&octet| octet == b'\n').count();
        (line, "this is not a text file".to_owned())
    })?;
    let mut fields = Fields::new();
    for (index, line) in text.lines().enumerate() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let name = name.trim();
        if fields.insert(name, (index + 1, value.trim())).is_some() {
            return Err((index + 1, format!("the line {name} is there twice")));
        }
    }
    Ok(fields)
}

fn timing_of(fields: &Fields<'_>) -> Result<(KeyTiming, Vec<(TimingEvent, usize)>), Fault> {
    let (mut timing, mut lines) = (KeyTiming::default(), Vec::new());
    for event in TimingEvent::ALL {
        let Some(&(line, value)) = fields.get(event.name()) else {
            continue;
        };
        let digits = value.split_whitespace().next().unwrap_or_default();
        let time_s = seconds_of(digits).ok_or_else(|| {
            let what = format!("{} is not a time (YYYYMMDDHHMMSS)", event.name());
            (line, what)
        })?;
        timing.set(event, Some(time_s));
        lines.push((event, line));
    }
    Ok((timing, lines))
}

fn secret_of(algorithm: Algorithm, fields: &Fields<'_>) -> Result<Secret, Fault> {
    if let Some(&(line, value)) = fields.get(LABEL) {
        check_engine(fields)?;
        return token_of(line, value).map(|uri| Secret::Token(Box::new(uri)));
    }
    let mut found = PrivateFields::new();
    for name in crypto::field_names(algorithm) {
        if let Some(&(line, value)) = fields.get(name) {
            found.push((name, decoded(line, name, value)?));
        }
    }
    Ok(Secret::Fields(found))
}

fn check_engine(fields: &Fields<'_>) -> Result<(), Fault> {
    let Some(&(line, value)) = fields.get(ENGINE) else {
        return Ok(());
    };
    match &decoded(line, ENGINE, value)?[..] {
        b"pkcs11" | b"pkcs11\0" => Ok(()),
        _ => Err((line, "the engine is not pkcs11, the only one known".into())),
    }
}

/// A PKCS#11 URI, in base64 with a final NUL as BIND writes it, or plain.
fn token_of(line: usize, value: &str) -> Result<Pkcs11Uri, Fault> {
    let plain = match value.starts_with("pkcs11:") {
        true => Zeroizing::new(value.as_bytes().to_vec()),
        false => decoded(line, LABEL, value)?,
    };
    let octets = plain.strip_suffix(b"\0").unwrap_or(&plain);
    let text = std::str::from_utf8(octets)
        .map_err(|_| (line, format!("{LABEL} is not a PKCS#11 URI (RFC 7512)")))?;
    Pkcs11Uri::parse(text).map_err(|error| (line, error.to_string()))
}

fn decoded(line: usize, name: &str, value: &str) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let bad = || (line, format!("{name} is not base64"));
    let octets = BASE64.decode_len(value.len()).map_err(|_| bad())?;
    let mut target = Zeroizing::new(vec![0; octets]);
    let octets = BASE64
        .decode_mut(value.as_bytes(), &mut target)
        .map_err(|_| bad())?;
    target.truncate(octets);
    Ok(target)
}

/// The text of the `.private` file, as dnssec-keygen writes it.
pub(super) fn private_text(key: &KeyPair) -> Result<Zeroizing<String>, SignError> {
    let mut text = Zeroizing::new(String::with_capacity(TEXT_OCTETS));
    let algorithm = key.algorithm();
    text.push_str("Private-key-format: v1.3\n");
    text.push_str(&format!(
        "Algorithm: {} ({algorithm})\n",
        algorithm.number()
    ));
    for (name, value) in key.private_fields()? {
        text.push_str(name);
        text.push_str(": ");
        BASE64.encode_append(&value, &mut text);
        text.push('\n');
    }
    for (event, time_s) in key.timing().events() {
        text.push_str(&format!("{}: {}\n", event.name(), digits_of(time_s)));
    }
    Ok(text)
}

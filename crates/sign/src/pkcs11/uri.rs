//! PKCS#11 URIs (RFC 7512): which module, which token, which key, and the PIN.

use crate::SignError;
use crate::key_file::read_wiped;
use cryptoki::types::AuthPin;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use zeroize::Zeroizing;

const SCHEME: &str = "pkcs11:";
/// Longer than any in use; keeps what is written to key files within bounds.
const URI_OCTETS_MAX: usize = 2048;
/// Longer than any PIN.
const PIN_OCTETS_MAX: u64 = 1024;
/// What libp11 and so BIND's OpenSSL engine take the module from.
const MODULE_VARIABLE: &str = "PKCS11_MODULE_PATH";
/// All modules that the system is configured with, in one.
const DEFAULT_MODULE: &str = "p11-kit-proxy.so";

/// A PKCS#11 URI. Its PIN is wiped from memory when dropped and never shown.
#[derive(Clone, Default)]
pub struct Pkcs11Uri {
    text: Zeroizing<String>,
    /// The text without PIN.
    shown: String,
    pub(super) token: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) manufacturer: Option<String>,
    pub(super) model: Option<String>,
    pub(super) slot_id: Option<u64>,
    pub(super) object: Option<String>,
    pub(super) id: Option<Vec<u8>>,
    module_path: Option<PathBuf>,
    pin: Pin,
}

#[derive(Clone, Default)]
enum Pin {
    #[default]
    None,
    Value(Zeroizing<String>),
    File(PathBuf),
}

impl fmt::Debug for Pkcs11Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Display for Pkcs11Uri {
    /// The URI without its PIN.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl FromStr for Pkcs11Uri {
    type Err = SignError;

    fn from_str(text: &str) -> Result<Self, SignError> {
        Self::parse(text)
    }
}

impl Pkcs11Uri {
    /// Parses a URI such as `pkcs11:token=dns;object=example-ksk?pin-source=/etc/dns/pin`.
    ///
    /// Fails for attributes that are unknown, given twice or malformed; no message has a PIN.
    pub fn parse(text: &str) -> Result<Self, SignError> {
        let rest = text
            .split_at_checked(SCHEME.len())
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
            .map(|(_, rest)| rest)
            .ok_or_else(|| bad("it does not begin with pkcs11:"))?;
        if text.len() > URI_OCTETS_MAX {
            return Err(bad(format!("it is longer than {URI_OCTETS_MAX} octets")));
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut uri = Self::default();
        let mut names = Vec::new();
        let path = path.split(';').map(|attribute| (attribute, true));
        let query = query.split('&').map(|attribute| (attribute, false));
        for (attribute, is_path) in path.chain(query).filter(|(text, _)| !text.is_empty()) {
            let (name, value) = attribute
                .split_once('=')
                // Not shown: without its name it may be anything, a PIN too.
                .ok_or_else(|| bad("an attribute has no value"))?;
            if names.contains(&name) {
                return Err(bad(format!(
                    "the attribute {} is there twice",
                    shown_name(name)
                )));
            }
            names.push(name);
            match is_path {
                true => uri.set_path_attribute(name, value)?,
                false => uri.set_query_attribute(name, value)?,
            }
        }
        uri.shown = without_pin(text);
        uri.text = Zeroizing::new(text.to_owned());
        Ok(uri)
    }

    fn set_path_attribute(&mut self, name: &str, value: &str) -> Result<(), SignError> {
        match name {
            "token" => self.token = Some(decoded_text(name, value)?),
            "serial" => self.serial = Some(decoded_text(name, value)?),
            "manufacturer" => self.manufacturer = Some(decoded_text(name, value)?),
            "model" => self.model = Some(decoded_text(name, value)?),
            "object" => self.object = Some(decoded_text(name, value)?),
            "id" => self.id = Some(decoded(name, value)?.to_vec()),
            "slot-id" => {
                let number = value.parse();
                self.slot_id = Some(number.map_err(|_| bad("slot-id is not a number"))?);
            }
            // A key has both; which one is meant follows from what is done with it.
            "type" if matches!(value, "private" | "public") => {}
            "type" => return Err(bad("its type is not that of a key pair")),
            // Where drafts of the RFC had them, and BIND's manual has them still.
            "pin-value" | "pin-source" => return self.set_query_attribute(name, value),
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    fn set_query_attribute(&mut self, name: &str, value: &str) -> Result<(), SignError> {
        match name {
            "module-path" => self.module_path = Some(decoded_text(name, value)?.into()),
            "pin-value" | "pin-source" if !matches!(self.pin, Pin::None) => {
                return Err(bad("it has both pin-value and pin-source"));
            }
            "pin-value" => {
                let octets = decoded(name, value)?;
                let pin = std::str::from_utf8(&octets).map_err(|_| bad("the PIN is not text"))?;
                self.pin = Pin::Value(Zeroizing::new(pin.to_owned()));
            }
            "pin-source" => {
                let source = decoded_text(name, value)?;
                if source.starts_with('|') {
                    return Err(bad("a pin-source that is a program is not supported"));
                }
                let file = source.strip_prefix("file://");
                let file = file.or(source.strip_prefix("file:")).unwrap_or(&source);
                self.pin = Pin::File(PathBuf::from(file));
            }
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// The whole URI, PIN included.
    pub(super) fn secret_text(&self) -> &str {
        &self.text
    }

    /// The URI with this identifier of the key, if it has none.
    pub(super) fn with_id(&self, id: &[u8]) -> Result<Self, SignError> {
        if self.id.is_some() {
            return Ok(self.clone());
        }
        let at = self.text.find('?').unwrap_or(self.text.len());
        let (path, query) = self.text.split_at(at);
        // An empty path is followed by no semicolon (RFC 7512 section 2.3).
        let separator = if path.len() == SCHEME.len() { "" } else { ";" };
        let id: String = id.iter().map(|octet| format!("%{octet:02X}")).collect();
        let mut text = Zeroizing::new(String::with_capacity(self.text.len() + id.len() + 4));
        for part in [path, separator, "id=", &id, query] {
            text.push_str(part);
        }
        Self::parse(&text)
    }

    /// Whether the URI itself names the code to load.
    pub(super) fn names_module(&self) -> bool {
        self.module_path.is_some()
    }

    /// The module to load: of the URI, else of the environment as libp11 has it, else p11-kit's.
    pub(super) fn module(&self) -> PathBuf {
        self.module_path.clone().unwrap_or_else(|| {
            std::env::var_os(MODULE_VARIABLE)
                .map_or_else(|| PathBuf::from(DEFAULT_MODULE), PathBuf::from)
        })
    }

    /// The PIN, if the URI says one or where it is.
    pub(super) fn pin(&self) -> Result<Option<AuthPin>, SignError> {
        let pin = |text: &str| Some(AuthPin::new(Box::from(text)));
        match &self.pin {
            Pin::None => Ok(None),
            Pin::Value(value) => Ok(pin(value)),
            Pin::File(file) => {
                let octets =
                    read_wiped(file, PIN_OCTETS_MAX).map_err(|source| SignError::PinFile {
                        file: file.clone(),
                        source,
                    })?;
                let text = std::str::from_utf8(&octets).map_err(|_| SignError::PinFile {
                    file: file.clone(),
                    source: std::io::Error::other("it is not a text file"),
                })?;
                Ok(pin(text.trim_end_matches(['\r', '\n'])))
            }
        }
    }
}

fn bad(what: impl Into<String>) -> SignError {
    SignError::Pkcs11Uri { what: what.into() }
}

fn unknown(name: &str) -> SignError {
    bad(format!("the attribute {} is not known", shown_name(name)))
}

/// The name of an attribute, unless it is so odd that it may be part of a PIN.
fn shown_name(name: &str) -> &str {
    let is_name = name
        .bytes()
        .all(|octet| octet.is_ascii_lowercase() || octet == b'-');
    match is_name && name.len() <= 20 {
        true => name,
        false => "(no name)",
    }
}

/// The text without `pin-value`.
fn without_pin(text: &str) -> String {
    let without = |part: &str, separator: char| {
        let kept = part
            .split(separator)
            .filter(|attribute| !attribute.starts_with("pin-value="));
        kept.collect::<Vec<_>>().join(&separator.to_string())
    };
    let (scheme, rest) = text.split_at(SCHEME.len());
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (path, query) = (without(path, ';'), without(query, '&'));
    match query.is_empty() {
        true => format!("{scheme}{path}"),
        false => format!("{scheme}{path}?{query}"),
    }
}

/// `value` with its percent signs resolved (RFC 3986 section 2.1).
fn decoded(name: &str, value: &str) -> Result<Zeroizing<Vec<u8>>, SignError> {
    let mut octets = Zeroizing::new(Vec::with_capacity(value.len()));
    let mut rest = value.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            octets.push(first);
            rest = after;
            continue;
        }
        let hexadecimal = |octet: u8| char::from(octet).to_digit(16);
        let pair = after
            .split_first_chunk::<2>()
            .and_then(|(&[high, low], after)| {
                Some((hexadecimal(high)? << 4 | hexadecimal(low)?, after))
            });
        let (octet, after) = pair.ok_or_else(|| {
            bad(format!(
                "in {name}, a percent sign without two hexadecimal digits"
            ))
        })?;
        octets.push(octet as u8);
        rest = after;
    }
    Ok(octets)
}

fn decoded_text(name: &str, value: &str) -> Result<String, SignError> {
    String::from_utf8(decoded(name, value)?.to_vec())
        .map_err(|_| bad(format!("{name} is not UTF-8")))
}

#[cfg(test)]
mod tests;

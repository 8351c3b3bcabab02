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

/// The text without the value of `pin-value`.
fn without_pin(text: &str) -> String {
    let Some((path, query)) = text.split_once('?') else {
        return text.to_owned();
    };
    let kept: Vec<&str> = query
        .split('&')
        .filter(|attribute| !attribute.starts_with("pin-value="))
        .collect();
    match kept.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", kept.join("&")),
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn attributes() {
        let uri = Pkcs11Uri::parse(
            "pkcs11:token=My%20token;object=k%2Fs;id=%01a%ff;slot-id=7;type=private?module-path=/m.so&pin-value=12%2034",
        )
        .unwrap();
        assert_eq!(uri.token.as_deref(), Some("My token"));
        assert_eq!(uri.object.as_deref(), Some("k/s"));
        assert_eq!(uri.id.as_deref(), Some(&[1, b'a', 0xFF][..]));
        assert_eq!(uri.slot_id, Some(7));
        assert_eq!(uri.module(), PathBuf::from("/m.so"));
        let Pin::Value(pin) = &uri.pin else { panic!() };
        assert_eq!(pin.as_str(), "12 34");
        assert!(!uri.to_string().contains("12%2034") && !format!("{uri:?}").contains("12%2034"));
        assert!(uri.to_string().ends_with("?module-path=/m.so"));
    }

    #[test]
    fn pin_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pin");
        std::fs::write(&file, "1234\n").unwrap();
        for prefix in ["", "file:", "file://"] {
            let text = format!("pkcs11:?pin-source={prefix}{}", file.display());
            let uri = Pkcs11Uri::parse(&text).unwrap();
            assert!(uri.pin().unwrap().is_some());
        }
        let text = format!("pkcs11:?pin-source={}x", file.display());
        let error = Pkcs11Uri::parse(&text).unwrap().pin().unwrap_err();
        assert!(error.to_string().contains("pinx: cannot read the PIN"));
    }

    #[test]
    fn an_identifier_is_added() {
        for (text, expected) in [
            ("pkcs11:object=a", "pkcs11:object=a;id=%01%FF"),
            (
                "pkcs11:object=a?pin-value=1",
                "pkcs11:object=a;id=%01%FF?pin-value=1",
            ),
            ("pkcs11:?pin-value=1", "pkcs11:id=%01%FF?pin-value=1"),
            ("pkcs11:id=%02", "pkcs11:id=%02"),
        ] {
            let uri = Pkcs11Uri::parse(text).unwrap().with_id(&[1, 0xFF]).unwrap();
            assert_eq!(uri.secret_text(), expected);
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_pin() {
        for (text, expected) in [
            ("token=a", "does not begin with pkcs11:"),
            ("pkcs11:tokn=a", "the attribute tokn is not known"),
            (
                "pkcs11:token=a;token=b",
                "the attribute token is there twice",
            ),
            ("pkcs11:token=%4", "percent sign"),
            ("pkcs11:token=%ff", "token is not UTF-8"),
            ("pkcs11:slot-id=x", "slot-id is not a number"),
            ("pkcs11:type=cert", "not that of a key pair"),
            (
                "pkcs11:?pin-value=7777&pin-source=/p",
                "both pin-value and pin-source",
            ),
            ("pkcs11:?pin-value=7777%", "percent sign"),
            ("pkcs11:?pin-value=%ff7777", "the PIN is not text"),
            ("pkcs11:?pinvalue7777", "an attribute has no value"),
            ("pkcs11:?7777=1", "the attribute (no name) is not known"),
            ("pkcs11:?pin-source=|7777", "a program"),
        ] {
            let message = Pkcs11Uri::parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
            assert!(!message.contains("7777"), "{message}");
        }
    }

    proptest! {
        #[test]
        fn any_text(text in "(pkcs11:)?[ -~é]{0,80}") {
            let _ = Pkcs11Uri::parse(&text);
        }

        #[test]
        fn octets_round_trip(octets in proptest::collection::vec(any::<u8>(), 0..20)) {
            let uri = Pkcs11Uri::default().with_text("pkcs11:").with_id(&octets).unwrap();
            prop_assert_eq!(uri.id, Some(octets));
        }
    }

    impl Pkcs11Uri {
        fn with_text(mut self, text: &str) -> Self {
            self.text = Zeroizing::new(text.to_owned());
            self
        }
    }
}

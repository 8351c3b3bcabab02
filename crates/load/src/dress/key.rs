//! TSIG keys, and how they are written on a command line.

use crate::LoadError;
use aws_lc_rs::hmac;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use domain::base::Name;
use std::fmt;
use std::str::FromStr;

/// The setting that errors name.
const OPTION: &str = "tsig";

/// Algorithms of TSIG (RFC 8945 section 6).
///
/// HMAC-MD5 is not among them: aws-lc-rs has none, and RFC 8945 says that it must not be used. Nor are the
/// truncated ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TsigAlgorithm {
    /// hmac-sha1
    HmacSha1,
    /// hmac-sha224
    HmacSha224,
    /// hmac-sha256
    HmacSha256,
    /// hmac-sha384
    HmacSha384,
    /// hmac-sha512
    HmacSha512,
}

impl TsigAlgorithm {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::HmacSha1,
        Self::HmacSha224,
        Self::HmacSha256,
        Self::HmacSha384,
        Self::HmacSha512,
    ];

    /// Its name as IANA registers it.
    pub fn name(self) -> &'static str {
        match self {
            Self::HmacSha1 => "hmac-sha1",
            Self::HmacSha224 => "hmac-sha224",
            Self::HmacSha256 => "hmac-sha256",
            Self::HmacSha384 => "hmac-sha384",
            Self::HmacSha512 => "hmac-sha512",
        }
    }

    /// Its name in wire format, in lower case.
    pub(super) fn wire_name(self) -> Vec<u8> {
        let name = self.name().as_bytes();
        [&[name.len() as u8], name, &[0]].concat()
    }

    pub(super) fn hmac(self) -> hmac::Algorithm {
        match self {
            Self::HmacSha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Self::HmacSha224 => hmac::HMAC_SHA224,
            Self::HmacSha256 => hmac::HMAC_SHA256,
            Self::HmacSha384 => hmac::HMAC_SHA384,
            Self::HmacSha512 => hmac::HMAC_SHA512,
        }
    }
}

impl FromStr for TsigAlgorithm {
    type Err = LoadError;

    fn from_str(text: &str) -> Result<Self, LoadError> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let found = Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            let is_md5 = ["hmac-md5", "hmac-md5.sig-alg.reg.int"]
                .iter()
                .any(|md5| md5.eq_ignore_ascii_case(name));
            if is_md5 {
                error(format!(
                    "HMAC-MD5 is not supported, since RFC 8945 section 6 says that it must not be used; give {names}"
                ))
            } else {
                error(format!("algorithm {text} is not known; give {names}"))
            }
        })
    }
}

/// A TSIG key. Written `[algorithm:]name:secret`, the secret in base64, as for dnsperf and dig `-y`; without an algorithm
/// it is hmac-sha256, where dnsperf takes hmac-md5.
#[derive(Clone, PartialEq, Eq)]
pub struct TsigKey {
    name: Name<Vec<u8>>,
    algorithm: TsigAlgorithm,
    secret: Vec<u8>,
}

impl TsigKey {
    /// Brings the parts together.
    pub fn new(name: Name<Vec<u8>>, algorithm: TsigAlgorithm, secret: Vec<u8>) -> Self {
        Self {
            name,
            algorithm,
            secret,
        }
    }

    /// Its name, which the server knows it by.
    pub fn name(&self) -> &Name<Vec<u8>> {
        &self.name
    }

    /// Its algorithm.
    pub fn algorithm(&self) -> TsigAlgorithm {
        self.algorithm
    }

    /// The shared secret.
    pub(super) fn secret(&self) -> &[u8] {
        &self.secret
    }
}

impl fmt::Debug for TsigKey {
    /// Keeps the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TsigKey")
            .field("name", &self.name)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

impl FromStr for TsigKey {
    type Err = LoadError;

    /// # Errors
    /// [`LoadError::Setting`], which names the part that is wrong; never the secret.
    fn from_str(text: &str) -> Result<Self, LoadError> {
        let parts: Vec<&str> = text.split(':').collect();
        let (algorithm, name, secret) = match parts[..] {
            [name, secret] => (TsigAlgorithm::HmacSha256, name, secret),
            [algorithm, name, secret] => (algorithm.parse()?, name, secret),
            _ => {
                return Err(error(format!(
                    "{} parts between colons; give [algorithm:]name:secret, and write a colon in the name as \\058",
                    parts.len()
                )));
            }
        };
        if name.is_empty() {
            return Err(error(
                "the key's name is missing; give the one that the server knows it by",
            ));
        }
        let wire_name = Name::<Vec<u8>>::from_str(name)
            .map_err(|reason| error(format!("key name {name}: {reason}")))?;
        if secret.is_empty() {
            return Err(error(format!("the secret of key {name} is missing")));
        }
        let secret = BASE64_STANDARD.decode(secret).map_err(|reason| {
            error(format!(
                "the secret of key {name} is no base64: {}",
                without_octet(&reason)
            ))
        })?;
        Ok(Self::new(wire_name, algorithm, secret))
    }
}

/// What is wrong with a secret, without any of its characters.
fn without_octet(error: &base64::DecodeError) -> String {
    match error {
        base64::DecodeError::InvalidByte(at, _) => {
            format!("character {} is none of its alphabet", at + 1)
        }
        base64::DecodeError::InvalidLength(_) | base64::DecodeError::InvalidPadding => {
            "its length, with = at the end, has to be a multiple of 4; is it cut?".to_owned()
        }
        base64::DecodeError::InvalidLastSymbol(..) => {
            "its last character leaves bits over; is it cut?".to_owned()
        }
    }
}

fn error(reason: impl Into<String>) -> LoadError {
    LoadError::Setting {
        option: OPTION,
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_keys() {
        for (text, name, algorithm) in [
            (
                "key.example:c2VjcmV0",
                "key.example",
                TsigAlgorithm::HmacSha256,
            ),
            ("hmac-sha1:key:c2VjcmV0", "key", TsigAlgorithm::HmacSha1),
            (
                "HMAC-SHA512.:a\\058b.:c2VjcmV0",
                "a:b",
                TsigAlgorithm::HmacSha512,
            ),
        ] {
            let key: TsigKey = text.parse().unwrap();
            assert_eq!(key.name().to_string(), name);
            assert_eq!(key.algorithm(), algorithm);
            assert_eq!(key.secret(), b"secret");
        }
    }

    #[test]
    fn says_what_is_wrong_with_a_key_but_not_the_secret() {
        for (text, words) in [
            ("c2VjcmV0", "1 parts between colons"),
            ("a:b:c:c2VjcmV0", "4 parts between colons"),
            (":c2VjcmV0", "name is missing"),
            ("key:", "secret of key key is missing"),
            ("key..example:c2VjcmV0", "key name key..example"),
            ("hmac-md5:key:c2VjcmV0", "HMAC-MD5 is not supported"),
            (
                "hmac-md5.sig-alg.reg.int.:key:c2VjcmV0",
                "HMAC-MD5 is not supported",
            ),
            (
                "sha256:key:c2VjcmV0",
                "algorithm sha256 is not known; give hmac-sha1",
            ),
            ("key:c2Vj!mV0", "character 5 is none"),
            ("key:c2VjcmV", "multiple of 4"),
            ("key:c2VjcmV0c3=", "multiple of 4"),
            ("key:c2VjcmV0c3d=", "last character"),
        ] {
            let message = text.parse::<TsigKey>().unwrap_err().to_string();
            assert!(
                message.starts_with("tsig: ") && message.contains(words),
                "{message}"
            );
            assert!(!message.contains("c2Vj"), "{message}");
        }
    }

    #[test]
    fn debugging_keeps_the_secret() {
        let key: TsigKey = "key:c2VjcmV0".parse().unwrap();
        let shown = format!("{key:?}");
        assert!(
            shown.contains("HmacSha256") && !shown.contains("115"),
            "{shown}"
        );
    }
}

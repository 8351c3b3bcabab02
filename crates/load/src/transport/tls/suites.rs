//! Cipher suites.

use super::setting;
use crate::LoadError;
use rustls::crypto::CryptoProvider;
use rustls::crypto::aws_lc_rs::{ALL_CIPHER_SUITES, default_provider};
use rustls::{CipherSuite, SupportedCipherSuite, SupportedProtocolVersion};

/// Offered before all others: it is mandatory to implement (RFC 8446 section 9.1), what most stub resolvers and browsers put
/// first, and its SHA-256 costs both ends less of a handshake than the SHA-384 of the suites with 256-bit keys.
const PREFERRED: CipherSuite = CipherSuite::TLS13_AES_128_GCM_SHA256;

/// The cryptography: all cipher suites, or those named, of which one goes with `versions`.
///
/// # Errors
/// [`LoadError::Setting`]
pub fn provider(
    names: &[String],
    versions: &[&SupportedProtocolVersion],
) -> Result<CryptoProvider, LoadError> {
    let mut provider = default_provider();
    if names.is_empty() {
        provider
            .cipher_suites
            .sort_by_key(|suite| suite.suite() != PREFERRED);
        return Ok(provider);
    }
    let suites = names.iter().map(|name| {
        let find = |suite: &&SupportedCipherSuite| name.eq_ignore_ascii_case(&iana_name(suite));
        ALL_CIPHER_SUITES
            .iter()
            .find(find)
            .copied()
            .ok_or_else(|| setting("cipher_suites", unknown_suite(name)))
    });
    provider.cipher_suites = suites.collect::<Result<_, _>>()?;
    let is_usable = |suite: &SupportedCipherSuite| versions.contains(&suite.version());
    if !provider.cipher_suites.iter().any(is_usable) {
        let reason = format!(
            "{} can be used with no version of TLS that is offered; name suites of that version, or permit another",
            names.join(", ")
        );
        return Err(setting("cipher_suites", reason));
    }
    Ok(provider)
}

fn unknown_suite(name: &str) -> String {
    let known: Vec<_> = ALL_CIPHER_SUITES.iter().map(iana_name).collect();
    format!(
        "{name} is none of the known suites, which are {}",
        known.join(", ")
    )
}

/// The name in IANA's registry of TLS parameters.
fn iana_name(suite: &SupportedCipherSuite) -> String {
    let name = suite.suite().as_str().unwrap_or_default();
    // The library marks those of TLS 1.3, whose registered names say nothing of it.
    name.replacen("TLS13_", "TLS_", 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::DEFAULT_VERSIONS;

    #[test]
    fn the_preferred_suite_comes_first_and_none_is_left_out() {
        let provider = provider(&[], DEFAULT_VERSIONS).unwrap();
        assert_eq!(provider.cipher_suites[0].suite(), PREFERRED);
        assert_eq!(
            provider.cipher_suites.len(),
            default_provider().cipher_suites.len()
        );
    }
}

//! From settings to what rustls wants.

use crate::LoadError;
use crate::config::{Certificates, TlsSettings, TlsVersions};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::aws_lc_rs::{ALL_CIPHER_SUITES, default_provider};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    SupportedCipherSuite, SupportedProtocolVersion,
};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

/// The configuration of connections that offer the application protocol `alpn`, without resumption.
///
/// # Errors
/// [`LoadError::Setting`] for what cannot be used.
pub fn client_config(settings: &TlsSettings, alpn: &[u8]) -> Result<ClientConfig, LoadError> {
    let versions: &[&SupportedProtocolVersion] = match settings.versions {
        TlsVersions::Any => &[&TLS13, &TLS12],
        TlsVersions::Tls12 => &[&TLS12],
        TlsVersions::Tls13 => &[&TLS13],
    };
    let provider = Arc::new(provider(&settings.cipher_suites, versions)?);
    let verifier = verifier(&settings.certificates, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(|error| setting("cipher_suites", error.to_string()))?;
    let mut config = builder
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// The name that the server's certificate is verified for, sent as SNI unless it is an address.
///
/// # Errors
/// [`LoadError::Setting`] if it is no name.
pub fn server_name(
    settings: &TlsSettings,
    server: IpAddr,
) -> Result<ServerName<'static>, LoadError> {
    let Some(name) = &settings.server_name else {
        return Ok(ServerName::from(server));
    };
    ServerName::try_from(name.clone()).map_err(|_| {
        let reason =
            format!("{name} is no host name; give one such as dns.example, without a final dot");
        setting("server_name", reason)
    })
}

fn setting(option: &'static str, reason: String) -> LoadError {
    LoadError::Setting { option, reason }
}

/// The cryptography: all cipher suites, or those named.
fn provider(
    names: &[String],
    versions: &[&SupportedProtocolVersion],
) -> Result<CryptoProvider, LoadError> {
    let mut provider = default_provider();
    if names.is_empty() {
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

fn verifier(
    certificates: &Certificates,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, LoadError> {
    let Certificates::Roots(path) = certificates else {
        let algorithms = provider.signature_verification_algorithms;
        return Ok(Arc::new(Unverified { algorithms }));
    };
    let roots = Arc::new(read_roots(path)?);
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider))
        .build()
        .map_err(|error| setting("certificates", format!("{}: {error}", path.display())))?;
    Ok(verifier)
}

fn read_roots(path: &Path) -> Result<RootCertStore, LoadError> {
    let fail = |reason: String| {
        let reason = format!(
            "{}: {reason}; give a PEM file of certificates",
            path.display()
        );
        setting("certificates", reason)
    };
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| fail(said(&error)))?;
    for (number, certificate) in (1..).zip(certificates) {
        let certificate = certificate.map_err(|error| fail(said(&error)))?;
        roots
            .add(certificate)
            .map_err(|error| fail(format!("certificate {number}: {error}")))?;
    }
    if roots.is_empty() {
        return Err(fail("it holds no certificate".to_owned()));
    }
    Ok(roots)
}

/// What is wrong with a PEM file, in words.
fn said(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        pem::Error::MissingSectionEnd { end_marker } => format!(
            "its last section lacks the line -----END {}-----",
            String::from_utf8_lossy(end_marker)
        ),
        pem::Error::IllegalSectionStart { line } => format!(
            "a section begins with the line {}",
            String::from_utf8_lossy(line).trim_end()
        ),
        other => other.to_string(),
    }
}

/// Accepts any certificate, but only from a server that has its key.
#[derive(Debug)]
struct Unverified {
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn message(settings: &TlsSettings) -> String {
        match client_config(settings, b"dot") {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    fn with_suites(names: &[&str], versions: TlsVersions) -> TlsSettings {
        TlsSettings {
            versions,
            cipher_suites: names.iter().map(|name| (*name).to_owned()).collect(),
            ..TlsSettings::default()
        }
    }

    #[test]
    fn suites_have_their_registered_names() {
        for good in [
            "TLS_AES_128_GCM_SHA256",
            "TLS_CHACHA20_POLY1305_SHA256",
            "tls_ecdhe_rsa_with_aes_128_gcm_sha256",
        ] {
            assert_eq!(message(&with_suites(&[good], TlsVersions::Any)), "");
        }
        let error = message(&with_suites(
            &["TLS_AES_128_GCM_SHA256", "DES"],
            TlsVersions::Any,
        ));
        assert!(error.starts_with("cipher_suites: DES is none"), "{error}");
        assert!(error.contains("TLS_AES_256_GCM_SHA384, "), "{error}");
        assert!(!error.contains("TLS13"), "{error}");
    }

    #[test]
    fn suites_must_go_with_a_version() {
        let error = message(&with_suites(
            &["TLS_AES_128_GCM_SHA256"],
            TlsVersions::Tls12,
        ));
        assert!(error.contains("no version of TLS"), "{error}");
        let old = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";
        assert_ne!(message(&with_suites(&[old], TlsVersions::Tls13)), "");
        assert_eq!(message(&with_suites(&[old], TlsVersions::Any)), "");
    }

    #[test]
    fn files_of_certificates_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        for (content, complaint) in [
            (None, "No such file"),
            (Some("nothing of the kind"), "it holds no certificate"),
            (
                Some("-----BEGIN CERTIFICATE-----\nAAAA\n"),
                "lacks the line -----END CERTIFICATE-----",
            ),
            (
                Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
                "certificate 1: ",
            ),
            (
                Some("-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n"),
                "base64",
            ),
        ] {
            let path = folder.path().join("roots.pem");
            if let Some(content) = content {
                fs::write(&path, content).unwrap();
            }
            let error = message(&TlsSettings {
                certificates: Certificates::Roots(path),
                ..TlsSettings::default()
            });
            assert!(error.starts_with("certificates: /"), "{error}");
            assert!(error.contains(complaint), "{error}");
        }
    }

    #[test]
    fn names_and_addresses() {
        let mut settings = TlsSettings::default();
        let server = "127.0.0.1".parse().unwrap();
        assert!(matches!(
            server_name(&settings, server).unwrap(),
            ServerName::IpAddress(_)
        ));
        settings.server_name = Some("dns.example".to_owned());
        assert!(matches!(
            server_name(&settings, server).unwrap(),
            ServerName::DnsName(_)
        ));
        settings.server_name = Some("no name".to_owned());
        let error = server_name(&settings, server).unwrap_err().to_string();
        assert!(
            error.starts_with("server_name: no name is no host name"),
            "{error}"
        );
    }
}

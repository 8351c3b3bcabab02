//! TLS as QUIC has it (RFC 9001), from the settings.

use super::memory::Memory;
use crate::LoadError;
use crate::config::{SessionSettings, TlsSettings, TlsVersions};
use crate::transport::tls::{provider, setting, verifier};
use quinn_proto::crypto::rustls::QuicClientConfig;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{CipherSuite, DigitallySignedStruct, SignatureScheme};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The ALPN token of DoQ (RFC 9250 section 4.1).
const ALPN: &[u8] = b"doq";

/// What all clients of a transport share.
pub struct Tls {
    /// For `quinn-proto`.
    pub config: Arc<QuicClientConfig>,
    /// Tells full handshakes from resumed ones.
    pub verifier: Arc<Verifier>,
    /// Where tickets and tokens are kept, if sessions are resumed.
    pub memory: Option<Arc<Memory>>,
}

impl Tls {
    /// For `clients` clients.
    ///
    /// # Errors
    /// [`LoadError::Setting`] if QUIC cannot be used like that, or the file of certificates not be read.
    pub fn new(
        settings: &TlsSettings,
        sessions: &SessionSettings,
        clients: usize,
    ) -> Result<Self, LoadError> {
        if settings.versions == TlsVersions::Tls12 {
            return Err(setting(
                "tls_versions",
                "DoQ has TLS 1.3 alone (RFC 9001 section 4.2); give 1.3 or any".to_owned(),
            ));
        }
        // QUIC's first packets are always encrypted with this one (RFC 9001 section 5.2), offered or not.
        let initial = aws_lc_rs::ALL_CIPHER_SUITES
            .iter()
            .find(|suite| suite.suite() == CipherSuite::TLS13_AES_128_GCM_SHA256)
            .and_then(|suite| suite.tls13()?.quic_suite())
            .ok_or_else(|| {
                setting(
                    "cipher_suites",
                    "the TLS library lacks TLS_AES_128_GCM_SHA256, without which there is no QUIC"
                        .to_owned(),
                )
            })?;
        let provider = Arc::new(provider(&settings.cipher_suites, &[&TLS13])?);
        let verifier = Arc::new(Verifier::new(verifier(&settings.certificates, &provider)?));
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| setting("cipher_suites", error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(verifier.clone())
            .with_no_client_auth();
        config.alpn_protocols = vec![ALPN.to_vec()];
        let memory = sessions.resumption.then(|| Arc::new(Memory::new(clients)));
        config.resumption = match &memory {
            Some(memory) => Resumption::store(memory.clone()),
            None => Resumption::disabled(),
        };
        let config = QuicClientConfig::with_initial(Arc::new(config), initial)
            .map_err(|error| setting("cipher_suites", error.to_string()))?;
        Ok(Self {
            config: Arc::new(config),
            verifier,
            memory,
        })
    }
}

/// What became of certificates since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presented {
    /// The server has presented one, as it does in full handshakes alone (RFC 8446 section 2.2).
    pub any: bool,
    /// It was refused.
    pub refused: bool,
}

/// Verifies certificates as the settings ask for, and takes note of them: `quinn-proto` tells neither how a session was
/// opened nor why the certificate was refused.
#[derive(Debug)]
pub struct Verifier {
    verifier: Arc<dyn ServerCertVerifier>,
    any: AtomicBool,
    refused: AtomicBool,
}

impl Verifier {
    fn new(verifier: Arc<dyn ServerCertVerifier>) -> Self {
        Self {
            verifier,
            any: AtomicBool::new(false),
            refused: AtomicBool::new(false),
        }
    }

    /// What became of certificates since the last call.
    pub fn take_presented(&self) -> Presented {
        Presented {
            any: self.any.swap(false, Ordering::Relaxed),
            refused: self.refused.swap(false, Ordering::Relaxed),
        }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.any.store(true, Ordering::Relaxed);
        let verified = self.verifier.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        self.refused.store(verified.is_err(), Ordering::Relaxed);
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Certificates;
    use std::io::Write;

    fn refused(settings: &TlsSettings) -> String {
        let sessions = SessionSettings::default();
        let Err(error) = Tls::new(settings, &sessions, 1) else {
            panic!("these settings should be refused");
        };
        error.to_string()
    }

    #[test]
    fn settings_that_quic_lacks_are_refused() {
        let settings = TlsSettings {
            versions: TlsVersions::Tls12,
            ..TlsSettings::default()
        };
        assert!(refused(&settings).contains("TLS 1.3 alone"));
        let settings = TlsSettings {
            cipher_suites: vec!["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256".to_owned()],
            ..TlsSettings::default()
        };
        assert!(refused(&settings).contains("no version of TLS"));
    }

    #[test]
    fn one_suite_will_do() {
        let settings = TlsSettings {
            cipher_suites: vec!["TLS_CHACHA20_POLY1305_SHA256".to_owned()],
            ..TlsSettings::default()
        };
        assert!(Tls::new(&settings, &SessionSettings::default(), 1).is_ok());
    }

    #[test]
    fn a_file_without_certificates_is_named() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"nothing").unwrap();
        for path in [file.path().to_owned(), file.path().with_extension("absent")] {
            let settings = TlsSettings {
                certificates: Certificates::Roots(path.clone()),
                ..TlsSettings::default()
            };
            let said = refused(&settings);
            assert!(said.contains(&path.display().to_string()), "{said}");
        }
    }
}

//! The server's certificate.

use super::setting;
use crate::LoadError;
use crate::config::Certificates;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;

/// What verifies the server's certificate, as the settings ask for.
///
/// # Errors
/// [`LoadError::Setting`] for a file that cannot be used.
pub fn verifier(
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

/// Accepts any certificate, but only from a server that has its key; as far as the certificate can be read at all: those
/// of version 1, as `tls ephemeral` of BIND has them, cannot.
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
        accept_unreadable(verify_tls12_signature(message, cert, dss, &self.algorithms))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        accept_unreadable(verify_tls13_signature(message, cert, dss, &self.algorithms))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Passes over what is wrong with a certificate, but not over a wrong signature.
fn accept_unreadable(
    verified: Result<HandshakeSignatureValid, Error>,
) -> Result<HandshakeSignatureValid, Error> {
    match verified {
        Err(Error::InvalidCertificate(error)) if error != CertificateError::BadSignature => {
            Ok(HandshakeSignatureValid::assertion())
        }
        verified => verified,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_certificates_pass_and_wrong_signatures_do_not() {
        let unreadable = Error::InvalidCertificate(CertificateError::BadEncoding);
        assert!(accept_unreadable(Err(unreadable)).is_ok());
        let wrong = Error::InvalidCertificate(CertificateError::BadSignature);
        assert!(accept_unreadable(Err(wrong)).is_err());
        assert!(accept_unreadable(Err(Error::DecryptError)).is_err());
    }
}

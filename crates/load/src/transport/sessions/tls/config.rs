//! From settings to what rustls wants.

use crate::LoadError;
use crate::config::{TlsSettings, TlsVersions};
use crate::transport::tls::{provider, setting, verifier};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, SupportedProtocolVersion};
use std::net::IpAddr;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Certificates;
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

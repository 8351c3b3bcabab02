//! Keys in PKCS#11 tokens (hardware security modules), by the module of their maker, which is loaded at run time.
//!
//! A key is named by a PKCS#11 URI (RFC 7512). Every thread that signs has a session of its own. The token gets digests
//! and signs them, so that little goes over a network; only with Ed25519 it must see all data.

mod generate;
mod material;
mod signer;
mod token;
mod uri;

pub use uri::Pkcs11Uri;

use crate::crypto::Signer;
use crate::key::{KeyTiming, TAG_ATTEMPTS_MAX, now_s};
use crate::{Algorithm, Dnskey, KeyPair, KeyTags, Role, SignError};
use dnsrig_zone::Name;
use generate::NewTokenKey;
use signer::TokenKey;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Mode bits of a file that others than its owner can write to.
const WRITABLE_BY_OTHERS: u32 = 0o022;

impl KeyPair {
    /// Makes a key for `zone` in the token, under the label of `uri`; otherwise like [`KeyPair::generate_apart`].
    ///
    /// The `.private` file that [`KeyPair::write`] makes of it has the URI, its PIN included if it has one.
    pub fn generate_in_token(
        uri: &Pkcs11Uri,
        zone: &Name,
        algorithm: Algorithm,
        bits: Option<u32>,
        role: Role,
        taken: &KeyTags,
    ) -> Result<Self, SignError> {
        let bits = algorithm.key_bits(bits)?;
        for _ in 0..TAG_ATTEMPTS_MAX {
            let new = NewTokenKey::generate(uri, algorithm, bits)?;
            let number = algorithm.number();
            let public = Dnskey::new(zone.clone(), role.flags(), number, &new.public_key());
            if taken.collide_with(&public) {
                new.destroy()?;
                continue;
            }
            return Ok(Self::from_dnskey(public, algorithm, new.keep())
                .with_timing(KeyTiming::from_creation(now_s())));
        }
        Err(SignError::KeyTagsTaken { keys: taken.keys() })
    }

    /// The key that the token has already under the name of `uri`, for `zone`, as dnssec-keyfromlabel has it.
    ///
    /// Without `algorithm` the key's kind says it, RSASHA256 for RSA. A tag of `taken` is an error.
    pub fn from_token(
        uri: &Pkcs11Uri,
        zone: &Name,
        algorithm: Option<Algorithm>,
        role: Role,
        taken: &KeyTags,
    ) -> Result<Self, SignError> {
        let algorithm = match algorithm {
            Some(algorithm) => algorithm,
            None => signer::algorithm_of(uri)?,
        };
        let signer = open(uri, algorithm, None)?;
        let key = Self::new(zone.clone(), algorithm, role.flags(), signer)
            .with_timing(KeyTiming::from_creation(now_s()));
        match taken.collide_with(key.public()) {
            false => Ok(key),
            true => Err(SignError::UnusableKey {
                key: key.file_stem(),
                what: "another key of the zone has its tag, or would once revoked".into(),
                hint: "use another key of the token",
            }),
        }
    }
}

/// The key of `algorithm` that `uri` names; `known` is its public key for tokens that do not have it.
pub(crate) fn open(
    uri: &Pkcs11Uri,
    algorithm: Algorithm,
    known: Option<&[u8]>,
) -> Result<Box<dyn Signer>, SignError> {
    Ok(Box::new(TokenKey::find(uri, algorithm, known)?))
}

/// Fails if the URI of a key file names code to be loaded, and others than the file's owner could have put that there.
pub(crate) fn check_trust(uri: &Pkcs11Uri, file: &Path) -> Result<(), SignError> {
    if !uri.names_module() {
        return Ok(());
    }
    let metadata = fs::metadata(file).map_err(|source| SignError::ReadKey {
        file: file.to_path_buf(),
        source,
    })?;
    match metadata.permissions().mode() & WRITABLE_BY_OTHERS {
        0 => Ok(()),
        _ => Err(SignError::UntrustedModule {
            file: file.to_path_buf(),
        }),
    }
}

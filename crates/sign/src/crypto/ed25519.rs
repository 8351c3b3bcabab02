//! Ed25519 keys (RFC 8080).

use super::{PRIVATE_KEY, PrivateFields, Signer, field};
use crate::SignError;
use aws_lc_rs::encoding::AsBigEndian;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use zeroize::Zeroizing;

pub(super) struct Ed25519Key(Ed25519KeyPair);

impl Ed25519Key {
    pub fn generate() -> Result<Self, SignError> {
        let key = Ed25519KeyPair::generate().map_err(|_| SignError::Crypto {
            what: "making an Ed25519 key",
        })?;
        Ok(Self(key))
    }

    pub fn from_fields(fields: &PrivateFields) -> Result<Self, String> {
        let seed = field(fields, PRIVATE_KEY)?;
        let key = Ed25519KeyPair::from_seed_unchecked(seed);
        key.map(Self)
            .map_err(|_| format!("{PRIVATE_KEY} is not an Ed25519 key of 32 octets"))
    }
}

impl Signer for Ed25519Key {
    fn sign_into(&self, data: &[u8], signature: &mut Vec<u8>) -> Result<(), SignError> {
        let made = self.0.try_sign(data).map_err(|_| SignError::Crypto {
            what: "signing with an Ed25519 key",
        })?;
        signature.extend_from_slice(made.as_ref());
        Ok(())
    }

    fn make_deterministic(&mut self) -> Result<(), SignError> {
        Ok(())
    }

    fn public_key(&self) -> Vec<u8> {
        self.0.public_key().as_ref().to_vec()
    }

    fn private_fields(&self) -> Result<PrivateFields, SignError> {
        let failed = |_| SignError::Crypto {
            what: "writing an Ed25519 key",
        };
        let seed = self
            .0
            .seed()
            .map_err(failed)?
            .as_be_bytes()
            .map_err(failed)?;
        Ok(vec![(PRIVATE_KEY, Zeroizing::new(seed.as_ref().to_vec()))])
    }
}

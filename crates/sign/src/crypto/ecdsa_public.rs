//! ECDSA public keys (RFC 6605).

use super::Verifier;
use super::p256_verify::P256Verifier;
use super::tables::Tables;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, EcdsaVerificationAlgorithm, ParsedPublicKey,
};

/// What stands before x and y where a point is written uncompressed (SEC 1 section 2.3.3); DNSKEY records leave it out.
const UNCOMPRESSED: u8 = 4;

fn parse(algorithm: &'static EcdsaVerificationAlgorithm, key: &[u8]) -> Option<ParsedPublicKey> {
    let point = [&[UNCOMPRESSED], key].concat();
    ParsedPublicKey::new(algorithm, point).ok()
}

pub(super) struct P384PublicKey(ParsedPublicKey);

impl P384PublicKey {
    pub fn new(key: &[u8]) -> Option<Self> {
        parse(&ECDSA_P384_SHA384_FIXED, key).map(Self)
    }
}

impl Verifier for P384PublicKey {
    fn verify(&self, data: &[u8], signature: &[u8]) -> bool {
        self.0.verify_sig(data, signature).is_ok()
    }
}

pub(super) struct P256PublicKey {
    key: ParsedPublicKey,
    point: Vec<u8>,
    tables: Tables<P256Verifier>,
}

impl P256PublicKey {
    pub fn new(key: &[u8]) -> Option<Self> {
        Some(Self {
            key: parse(&ECDSA_P256_SHA256_FIXED, key)?,
            point: key.to_vec(),
            tables: Tables::new(),
        })
    }
}

impl Verifier for P256PublicKey {
    fn verify(&self, data: &[u8], signature: &[u8]) -> bool {
        self.key.verify_sig(data, signature).is_ok()
    }

    fn verify_batch(&self, signed: &[(&[u8], &[u8])], valid: &mut [bool]) {
        let make = || P256Verifier::new(&self.point);
        if let Some(tables) = self.tables.get(signed.len(), make) {
            tables.verify(signed, valid);
        }
        for ((data, signature), valid) in signed.iter().zip(valid) {
            *valid = *valid || self.verify(data, signature);
        }
    }
}

//! Making keys in a token.

use super::material::{curves, public_key};
use super::signer::{TokenKey, template};
use super::token::{Token, reason};
use super::uri::Pkcs11Uri;
use crate::crypto::Signer;
use crate::{Algorithm, SignError};
use aws_lc_rs::rand;
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;

/// Octets of the identifier of a new key.
const ID_OCTETS: usize = 8;
/// The public exponent of new RSA keys: 65537.
const PUBLIC_EXPONENT: [u8; 3] = [1, 0, 1];

/// A pair of objects in a token that is not yet decided to be kept.
pub(super) struct NewTokenKey {
    uri: Pkcs11Uri,
    session: Session,
    public: ObjectHandle,
    key: TokenKey,
}

impl NewTokenKey {
    /// Makes a pair of keys in the token with the label, and the identifier if it has one, of `uri`; `bits` is a size
    /// that `algorithm` can have. The private key never leaves the token.
    pub fn generate(uri: &Pkcs11Uri, algorithm: Algorithm, bits: u32) -> Result<Self, SignError> {
        let Some(label) = &uri.object else {
            return Err(SignError::Pkcs11Uri {
                what: "it has no object=LABEL, which names the new key".into(),
            });
        };
        let mut id = [0; ID_OCTETS];
        rand::fill(&mut id).map_err(|_| SignError::Crypto {
            what: "drawing a key identifier",
        })?;
        let full = uri.with_id(&id)?;
        let token = Token::open(uri)?;
        let fault = |doing: &'static str| {
            let uri = uri.clone();
            move |error: Error| failed(&uri, doing, &error)
        };
        let session = token
            .writing_session()
            .map_err(fault("opening a session"))?;
        let existing = session
            .find_objects(&template(uri, ObjectClass::PRIVATE_KEY))
            .map_err(fault("looking for keys"))?;
        if !existing.is_empty() {
            return Err(SignError::Pkcs11 {
                uri: uri.to_string(),
                what: "the token has a key of this name already".into(),
                hint: "choose another object=LABEL; an existing key is never replaced",
            });
        }
        let id = full.id.clone().unwrap_or_default();
        let (public, private) =
            make_pair(&session, algorithm, bits, label, &id).map_err(fault("making a key"))?;
        let made = public_key(&session, public, algorithm).map_err(fault("reading the key"))?;
        let made = made.ok_or_else(|| SignError::Pkcs11 {
            uri: uri.to_string(),
            what: "the token does not show the public key that it made".into(),
            hint: "use another token",
        })?;
        Ok(Self {
            key: TokenKey::new(full.clone(), token, private, algorithm, made),
            uri: full,
            session,
            public,
        })
    }

    /// The key.
    pub fn keep(self) -> Box<dyn Signer> {
        Box::new(self.key)
    }

    /// The public key field of DNSKEY.
    pub fn public_key(&self) -> Vec<u8> {
        self.key.public_key()
    }

    /// Removes both objects from the token.
    pub fn destroy(self) -> Result<(), SignError> {
        for object in [self.public, self.key.handle()] {
            self.session
                .destroy_object(object)
                .map_err(|error| failed(&self.uri, "removing a key", &error))?;
        }
        Ok(())
    }
}

fn failed(uri: &Pkcs11Uri, doing: &str, error: &Error) -> SignError {
    SignError::Pkcs11 {
        uri: uri.to_string(),
        what: format!("{doing} failed: {}", reason(error)),
        hint: "choose what this token can do, or another token",
    }
}

fn make_pair(
    session: &Session,
    algorithm: Algorithm,
    bits: u32,
    label: &str,
    id: &[u8],
) -> Result<(ObjectHandle, ObjectHandle), Error> {
    let (mechanism, key_type) = match algorithm {
        Algorithm::Ed25519 => (Mechanism::EccEdwardsKeyPairGen, KeyType::EC_EDWARDS),
        _ if algorithm.is_rsa() => (Mechanism::RsaPkcsKeyPairGen, KeyType::RSA),
        _ => (Mechanism::EccKeyPairGen, KeyType::EC),
    };
    let common = [
        Attribute::Token(true),
        Attribute::KeyType(key_type),
        Attribute::Label(label.as_bytes().to_vec()),
        Attribute::Id(id.to_vec()),
    ];
    let private = [
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Sign(true),
    ];
    let private = [&common[..], &private].concat();
    let public = [
        &common[..],
        &[Attribute::Private(false), Attribute::Verify(true)],
    ]
    .concat();
    let make = |parameters: &[Attribute]| {
        session.generate_key_pair(&mechanism, &[&public[..], parameters].concat(), &private)
    };
    if algorithm.is_rsa() {
        return make(&[
            Attribute::ModulusBits(u64::from(bits).into()),
            Attribute::PublicExponent(PUBLIC_EXPONENT.to_vec()),
        ]);
    }
    // Modules differ in how they want the curve to be named.
    let mut result = Err(Error::Pkcs11(
        RvError::CurveNotSupported,
        cryptoki::context::Function::GenerateKeyPair,
    ));
    for curve in curves(algorithm) {
        result = make(&[Attribute::EcParams(curve.to_vec())]);
        if result.is_ok() {
            break;
        }
    }
    result
}

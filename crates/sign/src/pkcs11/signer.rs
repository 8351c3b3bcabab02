//! Signing with a key in a token.

use super::material::{public_key, rsa_parts, suits};
use super::token::{Token, fault};
use super::uri::Pkcs11Uri;
use crate::crypto::{PrivateFields, Signer};
use crate::key::{Dnskey, FLAG_ZONE};
use crate::key_file::{ENGINE, LABEL};
use crate::{Algorithm, PublicKey, SignError};
use aws_lc_rs::digest;
use cryptoki::error::Error;
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use dnsrig_zone::Name;
use zeroize::Zeroizing;

/// DER of DigestInfo up to the digest (RFC 8017 section 9.2, note 1).
const DIGEST_INFO_SHA1: &[u8] = b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14";
const DIGEST_INFO_SHA256: &[u8] =
    b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";
const DIGEST_INFO_SHA512: &[u8] =
    b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40";

/// A private key in a token.
pub(super) struct TokenKey {
    uri: Pkcs11Uri,
    token: Token,
    handle: ObjectHandle,
    algorithm: Algorithm,
    public_key: Vec<u8>,
    signature_octets: usize,
}

impl TokenKey {
    /// The key that `uri` names, for `algorithm`.
    ///
    /// Its public key is that of the token, or `known` where the token has none. A test signature shows that the two
    /// belong together and that the key may sign.
    pub fn find(
        uri: &Pkcs11Uri,
        algorithm: Algorithm,
        known: Option<&[u8]>,
    ) -> Result<Self, SignError> {
        let token = Token::open(uri)?;
        let found = token.with_session(|session| {
            let handles = session.find_objects(&template(uri, ObjectClass::PRIVATE_KEY))?;
            let &[handle] = &handles[..] else {
                return Ok(Err(handles.len()));
            };
            let fits = suits(session, handle, algorithm)?;
            let public = match fits {
                true => public_of(session, uri, handle, algorithm)?,
                false => None,
            };
            Ok(Ok((handle, fits, public)))
        });
        let found = found.map_err(|error| fault(uri, "looking for the key", &error))?;
        let (handle, fits, public) = found.map_err(|count| wrong_count(uri, count))?;
        if !fits {
            return Err(SignError::Pkcs11 {
                uri: uri.to_string(),
                what: format!("the key is not one for {algorithm}"),
                hint: "name another key, or the algorithm that it is for",
            });
        }
        let public = public
            .or(known.map(<[u8]>::to_vec))
            .ok_or_else(|| SignError::Pkcs11 {
                uri: uri.to_string(),
                what: "the token does not have the public key".into(),
                hint: "give the .key file of its DNSKEY record beside the .private file",
            })?;
        let key = Self::new(uri.clone(), token, handle, algorithm, public);
        key.check_public_key()?;
        Ok(key)
    }

    pub fn new(
        uri: Pkcs11Uri,
        token: Token,
        handle: ObjectHandle,
        algorithm: Algorithm,
        public_key: Vec<u8>,
    ) -> Self {
        let signature_octets = match algorithm {
            Algorithm::EcdsaP384Sha384 => 96,
            _ if algorithm.is_rsa() => {
                rsa_parts(&public_key).map_or(0, |(modulus, _)| modulus.len())
            }
            _ => 64,
        };
        Self {
            uri,
            token,
            handle,
            algorithm,
            public_key,
            signature_octets,
        }
    }

    /// The private key's object.
    pub fn handle(&self) -> ObjectHandle {
        self.handle
    }

    fn signed(&self, data: &[u8]) -> Result<Vec<u8>, Error> {
        let digested = |prefix: &[u8], hash| [prefix, digest::digest(hash, data).as_ref()].concat();
        let (mechanism, input) = match self.algorithm {
            Algorithm::RsaSha1 | Algorithm::RsaSha1Nsec3Sha1 => (
                Mechanism::RsaPkcs,
                digested(DIGEST_INFO_SHA1, &digest::SHA1_FOR_LEGACY_USE_ONLY),
            ),
            Algorithm::RsaSha256 => (
                Mechanism::RsaPkcs,
                digested(DIGEST_INFO_SHA256, &digest::SHA256),
            ),
            Algorithm::RsaSha512 => (
                Mechanism::RsaPkcs,
                digested(DIGEST_INFO_SHA512, &digest::SHA512),
            ),
            Algorithm::EcdsaP256Sha256 => (Mechanism::Ecdsa, digested(b"", &digest::SHA256)),
            Algorithm::EcdsaP384Sha384 => (Mechanism::Ecdsa, digested(b"", &digest::SHA384)),
            Algorithm::Ed25519 => {
                let parameters = EddsaParams::new(EddsaSignatureScheme::Pure);
                (Mechanism::Eddsa(parameters), data.to_vec())
            }
        };
        self.token
            .with_session(|session| session.sign(&mechanism, self.handle, &input))
    }

    /// Fails unless a signature of the token verifies with the public key.
    fn check_public_key(&self) -> Result<(), SignError> {
        let data = b"dnsrig";
        let mut made = Vec::new();
        self.sign_into(data, &mut made)?;
        let number = self.algorithm.number();
        let dnskey = Dnskey::new(Name::root_bytes(), FLAG_ZONE, number, &self.public_key);
        match PublicKey::from_dnskey(dnskey.rdata())?.verify(data, &made) {
            true => Ok(()),
            false => Err(SignError::Pkcs11 {
                uri: self.uri.to_string(),
                what: "the private key does not belong to the public key of the token or the .key file"
                    .into(),
                hint: "name the right key by id=%.. in the .private file",
            }),
        }
    }
}

fn wrong_count(uri: &Pkcs11Uri, count: usize) -> SignError {
    let (what, hint) = match count {
        0 => (
            "the token has no such private key".to_owned(),
            "check object= and id= of the URI, and the PIN",
        ),
        _ => (
            format!("{count} private keys match"),
            "name one by object=LABEL or id=%..",
        ),
    };
    SignError::Pkcs11 {
        uri: uri.to_string(),
        what,
        hint,
    }
}

/// What objects of `class` that `uri` names have.
pub(super) fn template(uri: &Pkcs11Uri, class: ObjectClass) -> Vec<Attribute> {
    let mut template = vec![Attribute::Class(class), Attribute::Token(true)];
    template.extend(
        uri.object
            .iter()
            .map(|label| Attribute::Label(label.clone().into_bytes())),
    );
    template.extend(uri.id.iter().map(|id| Attribute::Id(id.clone())));
    template
}

/// The public key field of DNSKEY for the private key `handle`, of that object or of its public one.
fn public_of(
    session: &Session,
    uri: &Pkcs11Uri,
    handle: ObjectHandle,
    algorithm: Algorithm,
) -> Result<Option<Vec<u8>>, Error> {
    let mut wanted = template(uri, ObjectClass::PUBLIC_KEY);
    if uri.id.is_none() {
        // A pair has one identifier (PKCS#11 section 4.5).
        let id = session.get_attributes(handle, &[AttributeType::Id])?;
        wanted.extend(
            id.into_iter()
                .filter(|id| matches!(id, Attribute::Id(id) if !id.is_empty())),
        );
    }
    let publics = session.find_objects(&wanted)?;
    match &publics[..] {
        &[public] => public_key(session, public, algorithm),
        // Private keys of RSA have the public part, too.
        _ if algorithm.is_rsa() => public_key(session, handle, algorithm),
        _ => Ok(None),
    }
}

impl Signer for TokenKey {
    fn sign_into(&self, data: &[u8], signature: &mut Vec<u8>) -> Result<(), SignError> {
        let made = self
            .signed(data)
            .map_err(|error| fault(&self.uri, "signing", &error))?;
        if made.len() != self.signature_octets {
            return Err(SignError::Pkcs11 {
                uri: self.uri.to_string(),
                what: format!(
                    "a signature has {} octets instead of {}",
                    made.len(),
                    self.signature_octets
                ),
                hint: "check whether the key is for this algorithm",
            });
        }
        signature.extend(made);
        Ok(())
    }

    fn make_deterministic(&mut self) -> Result<(), SignError> {
        match self.algorithm {
            Algorithm::EcdsaP256Sha256 | Algorithm::EcdsaP384Sha384 => Err(SignError::Pkcs11 {
                uri: self.uri.to_string(),
                what: "the token draws the nonces of ECDSA itself".into(),
                hint: "use RSA or Ed25519 for the same signatures every time, or a key in a file",
            }),
            _ => Ok(()),
        }
    }

    fn public_key(&self) -> Vec<u8> {
        self.public_key.clone()
    }

    /// The fields that dnssec-keyfromlabel writes: the key itself stays in the token.
    fn private_fields(&self) -> Result<PrivateFields, SignError> {
        let field = |octets: &[u8]| Zeroizing::new(octets.to_vec());
        let mut fields = PrivateFields::new();
        if let Some((modulus, exponent)) = self
            .algorithm
            .is_rsa()
            .then(|| rsa_parts(&self.public_key))
            .flatten()
        {
            fields.push(("Modulus", field(modulus)));
            fields.push(("PublicExponent", field(exponent)));
        }
        let uri = self.uri.secret_text();
        let mut label = Zeroizing::new(Vec::with_capacity(uri.len() + 1));
        label.extend_from_slice(uri.as_bytes());
        label.push(0);
        fields.push((ENGINE, field(b"pkcs11\0")));
        fields.push((LABEL, label));
        Ok(fields)
    }
}

/// The algorithm of the one key that `uri` names; of those with RSA, RSASHA256.
pub(super) fn algorithm_of(uri: &Pkcs11Uri) -> Result<Algorithm, SignError> {
    let token = Token::open(uri)?;
    let found = token.with_session(|session| {
        let handles = session.find_objects(&template(uri, ObjectClass::PRIVATE_KEY))?;
        let &[handle] = &handles[..] else {
            return Ok(Err(handles.len()));
        };
        for algorithm in CHOICES {
            if suits(session, handle, algorithm)? {
                return Ok(Ok(Some(algorithm)));
            }
        }
        Ok(Ok(None))
    });
    found
        .map_err(|error| fault(uri, "looking for the key", &error))?
        .map_err(|count| wrong_count(uri, count))?
        .ok_or_else(|| SignError::Pkcs11 {
            uri: uri.to_string(),
            what: "the key is of no kind that DNSSEC signs with here".into(),
            hint: "use a key for RSA, ECDSA P-256 or P-384, or Ed25519",
        })
}

/// What a key can be for when nothing else says it.
const CHOICES: [Algorithm; 4] = [
    Algorithm::EcdsaP256Sha256,
    Algorithm::EcdsaP384Sha384,
    Algorithm::Ed25519,
    Algorithm::RsaSha256,
];

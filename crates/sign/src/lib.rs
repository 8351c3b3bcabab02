//! DNSSEC signing: keys, NSEC and NSEC3 chains, signatures.
//!
//! Cryptography is AWS-LC's: through `aws-lc-rs` for ECDSA and Ed25519, and through the C interface of the same library for RSA,
//! because `aws-lc-rs` refuses private RSA keys below 2048 bits and the rig must make the 1024-bit ones that studies used. It is as
//! fast as OpenSSL with these, and building it takes a C compiler and nothing else: no libssl headers, no CMake.
//!
//! RustCrypto's arithmetic stands in where AWS-LC has no function: ECDSA signatures in batches or with deterministic nonces, and
//! tables of a public key's multiples, by which a zone's many signatures are verified several times as fast.

mod algorithm;
mod crypto;
mod error;
mod key;
mod key_file;
mod parameters;
mod pkcs11;
mod public_key;
mod rate;
mod sign;
pub mod verify;
pub mod zonefile;

pub use algorithm::Algorithm;
pub use error::SignError;
pub use key::{DigestType, Dnskey, KeyPair, KeyTags, KeyTiming, Role, TimingEvent, key_tag};
pub use key_file::{KeyDirectory, check_private_text, read_dnskeys};
pub use parameters::{Denial, Nsec3Parameters, SigningParameters};
pub use pkcs11::Pkcs11Uri;
pub use public_key::PublicKey;
pub use rate::{Rate, signing_rate, verifying_rate};
pub use sign::sign;

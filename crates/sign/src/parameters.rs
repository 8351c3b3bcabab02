//! How a zone is to be signed.

use crate::SignError;
use domain::utils::base16;
use std::num::NonZeroUsize;
use std::time::{SystemTime, UNIX_EPOCH};

/// Signatures are valid from this long before now, for validators whose clocks are behind.
const INCEPTION_OFFSET_S: u64 = 3_600;
/// Signatures are valid until this long after now.
const VALIDITY_S: u64 = 30 * 86_400;

/// How the zone denies that names or types exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// A chain of NSEC records (RFC 4034 section 4).
    Nsec,
    /// A chain of NSEC3 records (RFC 5155).
    Nsec3(Nsec3Parameters),
}

/// Parameters of an NSEC3 chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nsec3Parameters {
    /// Additional iterations of the hash; RFC 9276 section 3.1 asks for 0.
    pub iterations: u16,
    /// The salt, at most 255 octets; RFC 9276 section 3.1 asks for none.
    pub salt: Vec<u8>,
    /// Leaves out delegations without DS records (RFC 5155 section 6).
    pub opt_out: bool,
}

impl Nsec3Parameters {
    /// Takes the numbers as users give them; `salt` is hexadecimal, or `-` or nothing for none.
    pub fn new(iterations: u64, salt: &str, opt_out: bool) -> Result<Self, SignError> {
        let bad_salt = |_| SignError::Salt {
            salt: salt.to_owned(),
        };
        let octets: Vec<u8> = match salt {
            "" | "-" => Vec::new(),
            _ => base16::decode(salt).map_err(bad_salt)?,
        };
        if octets.len() > 255 {
            return Err(SignError::SaltTooLong {
                octets: octets.len(),
            });
        }
        Ok(Self {
            iterations: u16::try_from(iterations)
                .map_err(|_| SignError::Iterations { iterations })?,
            salt: octets,
            opt_out,
        })
    }
}

/// How a zone is to be signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningParameters {
    /// The chain of denial.
    pub denial: Denial,
    /// Start of the signatures' validity, in seconds since 1970 modulo 2^32 (RFC 4034 section 3.1.5).
    pub inception: u32,
    /// End of the signatures' validity, likewise.
    pub expiration: u32,
    /// Threads that sign.
    pub threads: NonZeroUsize,
}

impl SigningParameters {
    /// Signatures valid from an hour ago for 30 days and an hour, made by as many threads as there are processors.
    pub fn new(denial: Denial) -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        Self {
            denial,
            // Wrapping in 2106 is what serial arithmetic is for (RFC 4034 section 3.1.5).
            inception: now.saturating_sub(INCEPTION_OFFSET_S) as u32,
            expiration: (now + VALIDITY_S) as u32,
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        }
    }

    pub(crate) fn check(&self) -> Result<(), SignError> {
        // Serial number arithmetic (RFC 1982).
        let length = self.expiration.wrapping_sub(self.inception);
        if length == 0 || length >= 1 << 31 {
            return Err(SignError::Validity {
                inception: self.inception,
                expiration: self.expiration,
            });
        }
        match &self.denial {
            Denial::Nsec3(parameters) if parameters.salt.len() > 255 => {
                Err(SignError::SaltTooLong {
                    octets: parameters.salt.len(),
                })
            }
            _ => Ok(()),
        }
    }
}

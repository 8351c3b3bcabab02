//! Signing a zone in memory.

use crate::zonefile::{Chain, FileSigning, KEEPS_NONE, sign_text};
use crate::{Denial, KeyPair, SignError, SigningParameters};
use dnsrig_zone::flow::Opening;
use dnsrig_zone::pool::Pool;
use dnsrig_zone::{PresentationName, Zone};
use std::sync::Arc;

/// Signs `zone` with `keys`, as [`sign_file`](crate::zonefile::sign_file) does zone files.
///
/// DNSSEC records that the zone has already are left out: RRSIG, NSEC, NSEC3, NSEC3PARAM, and DNSKEY records of `keys`; other
/// DNSKEY records stay, and so does anything else; a ZONEMD record gets the digest of the signed zone.
///
/// Key-signing keys sign the DNSKEY, CDNSKEY and CDS RRsets (RFC 7344 section 4.1), zone-signing keys all else; where an
/// algorithm has only keys of one role, these sign everything. The new records' TTLs: DNSKEY as the DNSKEY records in
/// the zone, else as the SOA; NSEC and NSEC3 the lesser of the SOA's minimum and TTL (RFC 9077 section 3); RRSIG as what it
/// covers (RFC 4034 section 3). The same input gives the same records, but for the random part of ECDSA signatures.
pub fn sign(
    zone: &Zone,
    keys: &[KeyPair],
    parameters: &SigningParameters,
) -> Result<Zone, SignError> {
    parameters.check()?;
    if zone.soa().is_none() {
        return Err(SignError::NoSoa {
            zone: PresentationName(zone.origin()).to_string(),
        });
    }
    let signing = FileSigning {
        chain: match &parameters.denial {
            Denial::Nsec => Chain::Nsec,
            Denial::Nsec3(nsec3) => Chain::Nsec3(nsec3.clone()),
        },
        refresh_s: KEEPS_NONE,
        ..FileSigning::new(parameters.inception, parameters.expiration)
    };
    let mut text = Vec::new();
    // Writing to a Vec cannot fail.
    let _ = zone.write_to(&mut text);
    let opening = Opening::of_text(text.into(), Some(zone.origin()));
    let pool = Pool::new(parameters.threads)?;
    let signed = sign_text(&opening, &pool, &Arc::from(keys), &signing)?;
    Ok(Zone::parse(&signed, Some(zone.origin()))?)
}

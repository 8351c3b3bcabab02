//! What must hold for the apex.

use super::findings::Findings;
use super::rules::Rule;
use crate::flow::OwnerGroup;
use crate::packed::PackedRecord;
use crate::rdata::name_length;
use crate::text::shown_name;
use aws_lc_rs::digest;
use domain::base::iana::Rtype;

const DAY_S: u32 = 86_400;
/// The algorithms that must not, or should no longer, be used for signing (RFC 8624 section 3.1, RFC 9905).
const OLD_ALGORITHMS: [u8; 6] = [1, 3, 5, 6, 7, 12];

/// Checks the apex beyond what must hold for any name.
pub(super) fn check(apex: &OwnerGroup<'_>, findings: &mut Findings) {
    let all_of = |rtype: Rtype| {
        apex.records
            .iter()
            .filter(move |record| record.rtype == rtype)
    };
    let zone = || shown_name(apex.owner());
    if let Some(soa) = all_of(Rtype::SOA).next() {
        check_soa(&soa, findings);
    }
    let mut servers = all_of(Rtype::NS);
    match (servers.next(), servers.next()) {
        (None, _) => {
            let place = all_of(Rtype::SOA).next().map(|soa| soa.place);
            findings.note_at(Rule::NoNs, place, || {
                format!(
                    "the apex {} has no NS records; add one for each name server of the zone",
                    zone()
                )
            });
        }
        (Some(only), None) => findings.note(Rule::SingleNs, &only, || {
            format!("{} has one name server; add a second, elsewhere", zone())
        }),
        _ => {}
    }
    for key in all_of(Rtype::DNSKEY) {
        check_dnskey(&key, findings);
    }
    for parameters in all_of(Rtype::NSEC3PARAM) {
        check_nsec3(&parameters, findings);
    }
    check_cds(apex, findings);
}

fn check_soa(soa: &PackedRecord<'_>, findings: &mut Findings) {
    let Some((names, timers)) = soa.rdata.split_last_chunk::<20>() else {
        return;
    };
    let timer = |at: usize| u32::from_be_bytes(std::array::from_fn(|octet| timers[at * 4 + octet]));
    let [refresh, retry, expire, minimum] = [1, 2, 3, 4].map(timer);
    let mut odd = |is_odd: bool, what: String| {
        if is_odd {
            findings.note(Rule::SoaTimers, soa, || what);
        }
    };
    odd(refresh == 0 || retry == 0, "refresh or retry of the SOA record is 0, so secondaries ask without a pause; choose some minutes or hours".into());
    odd(
        retry > refresh,
        format!(
            "retry ({retry} s) of the SOA record is longer than refresh ({refresh} s); choose a part of it"
        ),
    );
    odd(
        u64::from(expire) <= u64::from(refresh) + u64::from(retry),
        format!(
            "expire ({expire} s) of the SOA record is no longer than refresh and retry ({refresh} s + {retry} s), so that one failure may take the zone away; choose 2 to 4 weeks"
        ),
    );
    odd(
        minimum > DAY_S,
        format!(
            "the negative TTL, the last field of the SOA record, is {minimum} s; resolvers keep no denial longer than 1 to 3 hours or a day, so choose at most {DAY_S}"
        ),
    );
    let Some(mname) = name_length(names) else {
        return;
    };
    let rname = &names[mname..];
    let mailbox = rname.get(1..1 + usize::from(rname.first().copied().unwrap_or(0)));
    if mailbox.is_some_and(|label| label.contains(&b'@')) {
        findings.note(Rule::SoaNames, soa, || {
            format!(
                "{}, the mailbox in the SOA record, has an @; write a dot instead",
                shown_name(rname)
            )
        });
    }
}

fn check_dnskey(key: &PackedRecord<'_>, findings: &mut Findings) {
    let [_, _, protocol, algorithm, ..] = key.rdata else {
        return;
    };
    if *protocol != 3 {
        findings.note(Rule::DnskeyProtocol, key, || {
            format!("a DNSKEY record has the protocol {protocol}, so that validators ignore it; it must be 3")
        });
    }
    if OLD_ALGORITHMS.contains(algorithm) {
        findings.note(Rule::DnskeyAlgorithm, key, || {
            format!("a DNSKEY record has algorithm {algorithm}, which validators no longer trust; roll over to 13 or 15")
        });
    }
}

fn check_nsec3(parameters: &PackedRecord<'_>, findings: &mut Findings) {
    if let [_, _, high, low, salt, ..] = parameters.rdata {
        let iterations = u16::from_be_bytes([*high, *low]);
        if iterations > 0 || *salt > 0 {
            findings.note(Rule::Nsec3Parameters, parameters, || {
                format!("NSEC3 with {iterations} additional iterations and {salt} octets of salt; sign with none of both")
            });
        }
    }
}

/// The digest of a DS or CDS record for a DNSKEY record (RFC 4034 section 5.1.4); `None` for types that are not known here.
fn ds_digest(digest_type: u8, owner: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let algorithm = match digest_type {
        1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        2 => &digest::SHA256,
        4 => &digest::SHA384,
        _ => return None,
    };
    let mut context = digest::Context::new(algorithm);
    context.update(&owner.to_ascii_lowercase());
    context.update(key);
    Some(context.finish().as_ref().to_vec())
}

/// The tag of a key (RFC 4034 appendix B).
fn key_tag(rdata: &[u8]) -> u16 {
    if let [_, _, _, 1, key @ ..] = rdata {
        let tag = key
            .len()
            .checked_sub(3)
            .and_then(|at| key[at..].first_chunk::<2>());
        return tag.map_or(0, |tag| u16::from_be_bytes(*tag));
    }
    let sum: u32 = rdata
        .iter()
        .enumerate()
        .map(|(at, &octet)| u32::from(octet) << if at % 2 == 0 { 8 } else { 0 })
        .sum();
    (sum + (sum >> 16)) as u16
}

fn check_cds(apex: &OwnerGroup<'_>, findings: &mut Findings) {
    let all_of = |rtype: Rtype| {
        apex.records
            .iter()
            .filter(move |record| record.rtype == rtype)
    };
    let is_delete = |record: &PackedRecord<'_>| {
        record
            .rdata
            .get(if record.rtype == Rtype::CDS { 2 } else { 3 })
            == Some(&0)
    };
    let requests = || all_of(Rtype::CDS).chain(all_of(Rtype::CDNSKEY));
    if let Some(delete) = requests().find(is_delete) {
        // RFC 8078 section 4: it stands alone.
        if let Some(other) = requests().find(|record| !is_delete(record)) {
            findings.note(Rule::CdsMismatch, &other, || {
                format!("a {} record beside the request of a {} record to delete all DS records; remove one of them", other.rtype, delete.rtype)
            });
        }
        return;
    }
    for cdnskey in all_of(Rtype::CDNSKEY) {
        if !all_of(Rtype::DNSKEY).any(|key| key.rdata == cdnskey.rdata) {
            findings.note(Rule::CdsMismatch, &cdnskey, || {
                format!("the CDNSKEY record with tag {} is no DNSKEY record of the zone; publish the key, or remove the record", key_tag(cdnskey.rdata))
            });
        }
    }
    let has_both = all_of(Rtype::CDS).next().is_some() && all_of(Rtype::CDNSKEY).next().is_some();
    for cds in all_of(Rtype::CDS) {
        let fits = |key: &PackedRecord<'_>| is_digest_of(&cds, key);
        let tag = cds
            .rdata
            .first_chunk::<2>()
            .map_or(0, |tag| u16::from_be_bytes(*tag));
        if !all_of(Rtype::DNSKEY).any(|key| fits(&key)) {
            findings.note(Rule::CdsMismatch, &cds, || {
                format!("the CDS record with tag {tag} is of no DNSKEY record of the zone; publish the key, or remove the record")
            });
        } else if has_both && !all_of(Rtype::CDNSKEY).any(|key| fits(&key)) {
            findings.note(Rule::CdsMismatch, &cds, || {
                format!("the CDS record with tag {tag} is of no CDNSKEY record; publish both for each key")
            });
        }
    }
}

/// Whether a CDS record is of this key; where the digest type is unknown, tag and algorithm must do.
fn is_digest_of(cds: &PackedRecord<'_>, key: &PackedRecord<'_>) -> bool {
    let [high, low, algorithm, digest_type, digest @ ..] = cds.rdata else {
        return false;
    };
    let is_same_key = u16::from_be_bytes([*high, *low]) == key_tag(key.rdata)
        && key.rdata.get(3) == Some(algorithm);
    is_same_key
        && ds_digest(*digest_type, key.owner, key.rdata).is_none_or(|wanted| wanted == *digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::{BASE64, HEXLOWER};

    #[test]
    fn digest_of_rfc_4034() {
        // RFC 4034 section 5.4.
        let mut key = vec![1, 0, 3, 5];
        let text = b"AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==";
        key.extend(BASE64.decode(text).unwrap());
        assert_eq!(key_tag(&key), 60485);
        let digest = ds_digest(1, b"\x05dskey\x07example\x03com\x00", &key).unwrap();
        assert_eq!(
            HEXLOWER.encode(&digest),
            "2bb183af5f22588179a53b0a98631fad1a292118"
        );
    }
}

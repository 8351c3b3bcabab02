//! What must hold for each name by itself.

use super::findings::Findings;
use super::rules::Rule;
use super::targets::target_of;
use crate::NameKind;
use crate::canonical::same_name;
use crate::flow::{OwnerGroup, RecordRange};
use crate::packed::PackedRecord;
use crate::text::shown_name;
use domain::base::iana::Rtype;

/// Octets of a DNS message that are there without any record: the header.
const HEADER_OCTETS: usize = 12;
/// Octets of a record beside its data where the owner is compressed.
const RECORD_OCTETS: usize = 12;
const MESSAGE_OCTETS_MAX: usize = 65_535;
const UDP_OCTETS: usize = 4096;

/// The cut below which names are: a delegation or the owner of a DNAME.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub owner: Box<[u8]>,
    pub is_dname: bool,
}

impl Cut {
    /// The cut that `name` makes.
    pub fn of(name: &OwnerGroup<'_>) -> Option<Self> {
        let is_delegation = name.kind == NameKind::Delegation;
        let is_cut =
            is_delegation || name.kind == NameKind::Authoritative && name.has(Rtype::DNAME);
        is_cut.then(|| Self {
            owner: name.owner().into(),
            is_dname: !is_delegation,
        })
    }
}

/// Checks a name that is not the apex alone; `cut` is the last one before it.
pub(super) fn check(
    name: &OwnerGroup<'_>,
    apex: &[u8],
    cut: Option<&Cut>,
    findings: &mut Findings,
) {
    let is_apex = name.owner().len() == apex.len();
    match (name.kind, cut) {
        (NameKind::BelowCut, Some(cut)) => below_cut(name, cut, findings),
        (NameKind::Delegation, _) => delegation(name, findings),
        _ => authoritative(name, is_apex, findings),
    }
    for set in name.rrsets() {
        size(&set, findings);
    }
    for record in name.records.iter() {
        digest(&record, findings);
        target(&record, findings);
    }
    host_name(name, findings);
}

fn below_cut(name: &OwnerGroup<'_>, cut: &Cut, findings: &mut Findings) {
    let first = name.records.get(0);
    if cut.is_dname {
        findings.note(Rule::BelowDname, &first, || {
            format!(
                "{} is below the DNAME of {}, so it is never found; remove one of them",
                shown_name(name.owner()),
                shown_name(&cut.owner)
            )
        });
        return;
    }
    let signature = name
        .records
        .iter()
        .find(|record| record.rtype == Rtype::RRSIG);
    if let Some(signature) = signature {
        signed_glue(&signature, findings);
    }
    let is_other =
        |record: &PackedRecord<'_>| !matches!(record.rtype, Rtype::A | Rtype::AAAA | Rtype::RRSIG);
    for record in name.records.iter().filter(is_other).take(1) {
        findings.note(Rule::DataBelowCut, &record, || {
            format!(
                "{} {} is below the delegation {} and no glue, so it is never answered; remove it, or put it in that zone",
                shown_name(record.owner),
                record.rtype,
                shown_name(&cut.owner)
            )
        });
    }
}

fn signed_glue(signature: &PackedRecord<'_>, findings: &mut Findings) {
    findings.note(Rule::SignedGlue, signature, || {
        let covered = signature.covered().unwrap_or(Rtype::RRSIG);
        format!(
            "the {covered} records of {} are signed, but they are not of this zone; remove the signature",
            shown_name(signature.owner)
        )
    });
}

fn delegation(name: &OwnerGroup<'_>, findings: &mut Findings) {
    let owner = name.owner();
    let first_of = |rtype: Rtype| name.records.iter().find(|record| record.rtype == rtype);
    if let Some(ns) = first_of(Rtype::NS).filter(|_| owner.starts_with(b"\x01*")) {
        findings.note(Rule::WildcardNs, &ns, || {
            format!("{} is a delegation of a wildcard; servers refuse it or answer each in its way, so remove it", shown_name(owner))
        });
    }
    if let Some(dname) = first_of(Rtype::DNAME) {
        findings.note(Rule::DnameBesideNs, &dname, || {
            format!(
                "{} has both NS and DNAME records; keep one of them",
                shown_name(owner)
            )
        });
    }
    for record in name.records.iter() {
        match (record.rtype, record.covered()) {
            (_, Some(Rtype::DS | Rtype::NSEC)) => {}
            (_, Some(_)) => signed_glue(&record, findings),
            (Rtype::NS | Rtype::DS | Rtype::NSEC | Rtype::A | Rtype::AAAA | Rtype::DNAME, _) => {}
            (rtype, _) => findings.note(Rule::DataAtCut, &record, || {
                format!(
                    "{} is a delegation, so its {rtype} records are never answered; remove them, or put them in that zone",
                    shown_name(owner)
                )
            }),
        }
    }
    sha1_only(name, findings);
    orphaned(name, findings);
}

fn sha1_only(name: &OwnerGroup<'_>, findings: &mut Findings) {
    let mut digests = name
        .records
        .iter()
        .filter(|record| record.rtype == Rtype::DS);
    let Some(first) = digests.clone().next() else {
        return;
    };
    if digests.all(|record| record.rdata.get(3) == Some(&1)) {
        findings.note(Rule::DsSha1Only, &first, || {
            format!(
                "the DS records of {} have digests of type 1 (SHA-1) alone, which validators may ignore; add one of type 2",
                shown_name(name.owner())
            )
        });
    }
}

fn authoritative(name: &OwnerGroup<'_>, is_apex: bool, findings: &mut Findings) {
    let owner = name.owner();
    let all_of = |rtype: Rtype| {
        name.records
            .iter()
            .filter(move |record| record.rtype == rtype)
    };
    if let Some(ds) = all_of(Rtype::DS).next() {
        match is_apex {
            true => findings.note(Rule::DsAtApex, &ds, || {
                format!("{} is the apex, whose DS records are in the parent zone; remove them here", shown_name(owner))
            }),
            false => findings.note(Rule::DsWithoutNs, &ds, || {
                format!("{} has DS records but no NS records; add the NS records, or remove the DS records", shown_name(owner))
            }),
        }
    }
    let mut dnames = all_of(Rtype::DNAME);
    if let Some(dname) = dnames.next() {
        if owner.starts_with(b"\x01*") {
            findings.note(Rule::WildcardDname, &dname, || {
                format!(
                    "{} is a DNAME of a wildcard, which servers treat each in its way; remove it",
                    shown_name(owner)
                )
            });
        }
        if let Some(second) = dnames.next() {
            findings.note(Rule::SeveralDnames, &second, || {
                format!(
                    "{} has a second DNAME record; remove one",
                    shown_name(owner)
                )
            });
        }
    }
    if !is_apex {
        if let Some(zonemd) = all_of(Rtype::ZONEMD).next() {
            findings.note(Rule::ZonemdBelowApex, &zonemd, || {
                format!(
                    "{} is not the apex, so that its ZONEMD record means nothing; remove it",
                    shown_name(owner)
                )
            });
        }
        let misplaced =
            |record: &PackedRecord<'_>| matches!(record.rtype, Rtype::CDS | Rtype::CDNSKEY);
        if let Some(record) = name.records.iter().find(misplaced) {
            findings.note(Rule::CdsBelowApex, &record, || {
                format!(
                    "{} is not the apex, where {} records belong; remove them",
                    shown_name(owner),
                    record.rtype
                )
            });
        }
    }
    orphaned(name, findings);
}

fn orphaned(name: &OwnerGroup<'_>, findings: &mut Findings) {
    for record in name
        .records
        .iter()
        .filter(|record| record.rtype == Rtype::RRSIG)
    {
        let covered = record.covered().unwrap_or(Rtype::RRSIG);
        if !name.has(covered) {
            findings.note(Rule::OrphanedSignature, &record, || {
                format!(
                    "a signature of {covered} records, but {} has none; remove it",
                    shown_name(name.owner())
                )
            });
        }
    }
}

/// The octets of a digest of this type (IANA: DS RR Type Digest Algorithms).
fn digest_octets(digest_type: u8) -> Option<usize> {
    match digest_type {
        1 => Some(20),
        2 | 3 | 5 | 6 => Some(32),
        4 => Some(48),
        _ => None,
    }
}

fn digest(record: &PackedRecord<'_>, findings: &mut Findings) {
    let (Rtype::DS | Rtype::CDS, [_, _, algorithm, digest_type, digest @ ..]) =
        (record.rtype, record.rdata)
    else {
        return;
    };
    // RFC 8078 section 4: a request to delete the DS records.
    if record.rtype == Rtype::CDS && *algorithm == 0 {
        return;
    }
    let owner = || shown_name(record.owner);
    match digest_octets(*digest_type) {
        Some(octets) if octets == digest.len() => {}
        Some(octets) => findings.note(Rule::DsDigestLength, record, || {
            format!(
                "the digest of a {} record of {} has {} octets, but type {digest_type} has {octets}; put the whole digest there",
                record.rtype,
                owner(),
                digest.len()
            )
        }),
        None => findings.note(Rule::DsDigestType, record, || {
            format!(
                "digest type {digest_type} of a {} record of {} is unknown; validators ignore it, so use type 2 or 4",
                record.rtype,
                owner()
            )
        }),
    }
}

fn target(record: &PackedRecord<'_>, findings: &mut Findings) {
    let Some(target) = target_of(record) else {
        return;
    };
    let owner = || shown_name(record.owner);
    match record.rtype {
        Rtype::CNAME if same_name(target, record.owner) => {
            findings.note(Rule::AliasToItself, record, || {
                format!(
                    "{} is an alias of itself; give the name that it is to stand for",
                    owner()
                )
            });
        }
        Rtype::NS | Rtype::MX | Rtype::SRV if is_address(target) => {
            findings.note(Rule::TargetIsAddress, record, || {
                format!(
                    "{} {} names {}, an address as if it were a name; give the name of a host",
                    owner(),
                    record.rtype,
                    shown_name(target)
                )
            });
        }
        Rtype::NS | Rtype::MX if !is_host_name(target) => {
            findings.note(Rule::HostName, record, || {
                format!(
                    "{} {} names {}, which is no host name; use letters, digits and hyphens",
                    owner(),
                    record.rtype,
                    shown_name(target)
                )
            });
        }
        _ => {}
    }
}

/// Whether the name looks like an IPv4 address.
fn is_address(name: &[u8]) -> bool {
    shown_name(name)
        .trim_end_matches('.')
        .parse::<std::net::Ipv4Addr>()
        .is_ok()
}

/// Whether all labels are of letters, digits and inner hyphens.
fn is_host_name(name: &[u8]) -> bool {
    let mut at = 0;
    while let Some(&length @ 1..) = name.get(at) {
        let end = at + 1 + usize::from(length);
        let label = name.get(at + 1..end).unwrap_or_default();
        let is_ldh = label
            .iter()
            .all(|octet| octet.is_ascii_alphanumeric() || *octet == b'-');
        if !is_ldh || label.starts_with(b"-") || label.ends_with(b"-") {
            return false;
        }
        at = end;
    }
    true
}

fn host_name(name: &OwnerGroup<'_>, findings: &mut Findings) {
    let owner = name.owner();
    let host = owner.strip_prefix(b"\x01*").unwrap_or(owner);
    if is_host_name(host) {
        return;
    }
    let has_host_data =
        |record: &PackedRecord<'_>| matches!(record.rtype, Rtype::A | Rtype::AAAA | Rtype::MX);
    if let Some(record) = name.records.iter().find(has_host_data) {
        findings.note(Rule::HostName, &record, || {
            format!(
                "{} has {} records but is no host name; use letters, digits and hyphens",
                shown_name(owner),
                record.rtype
            )
        });
    }
}

fn size(set: &RecordRange<'_>, findings: &mut Findings) {
    let data: usize = set
        .iter()
        .map(|record| record.rdata.len() + RECORD_OCTETS)
        .sum();
    let first = set.get(0);
    let octets = HEADER_OCTETS + first.owner.len() + 4 + data;
    if octets <= UDP_OCTETS {
        return;
    }
    let words = |limit: &str| {
        format!(
            "the {} records of {} take {octets} octets of a message without signatures, {limit}; use fewer or shorter records",
            first.rtype,
            shown_name(first.owner)
        )
    };
    match octets > MESSAGE_OCTETS_MAX {
        true => findings.note(Rule::RrsetTooLarge, &first, || {
            words("more than any message has, so they cannot be answered")
        }),
        false => findings.note(Rule::RrsetLarge, &first, || {
            words("more than goes over UDP, so each answer takes TCP")
        }),
    }
}

/// Checks the owner of an NSEC3 record.
pub(super) fn check_nsec3_owner(record: &PackedRecord<'_>, apex: &[u8], findings: &mut Findings) {
    let owner = record.owner;
    let hash = owner.get(1..1 + usize::from(owner[0])).unwrap_or_default();
    let is_hash = data_encoding::BASE32HEX_NOPAD
        .decode(&hash.to_ascii_uppercase())
        .is_ok();
    let is_directly_below = crate::parent(owner).is_some_and(|above| same_name(above, apex));
    if !is_hash || hash.is_empty() || !is_directly_below {
        findings.note(Rule::Nsec3Owner, record, || {
            format!(
                "{} is no hash in base32 directly below the apex; sign the zone again",
                shown_name(owner)
            )
        });
    }
}

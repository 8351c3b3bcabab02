//! What must hold for the records of a file to be one zone.

use crate::error::{Warning, ZoneError};
use crate::read::{LocatedRecord, ReadZone, Records};
use crate::{Name, Zone};
use domain::base::iana::Rtype;
use domain::base::name::ToName;

/// Checks `records` and makes a zone of them; `origin` is the zone's name where it was given.
pub(crate) fn into_zone(
    mut records: Records,
    origin: Option<&Name>,
) -> Result<ReadZone, ZoneError> {
    let origin = apex(&records, origin)?;
    for located in &records.records {
        if !located.record.owner.ends_with(&origin) {
            return Err(ZoneError::OutOfZone {
                at: records.position(located),
                owner: located.record.owner.fmt_with_dot().to_string(),
                origin: origin.fmt_with_dot().to_string(),
            });
        }
    }
    // A stable sort, so that the first in the file is the first of its RRset.
    let mut sorted = std::mem::take(&mut records.records);
    sorted.sort_by(|a, b| {
        let (a, b) = (&a.record, &b.record);
        a.owner
            .name_cmp(&b.owner)
            .then(a.rtype.to_int().cmp(&b.rtype.to_int()))
    });
    for name in sorted.chunk_by(|a, b| a.record.owner == b.record.owner) {
        check_cname(&records, name)?;
    }
    level_ttls(&mut records, &mut sorted);
    let zone = Zone::new(
        origin,
        sorted.into_iter().map(|located| located.record).collect(),
    );
    Ok(ReadZone {
        zone,
        warnings: records.warnings,
    })
}

/// The owner of the one SOA record, which must be `origin` where that was given.
fn apex(records: &Records, origin: Option<&Name>) -> Result<Name, ZoneError> {
    let mut soas = records
        .records
        .iter()
        .filter(|located| located.record.rtype == Rtype::SOA);
    let no_soa = |hint: &str| ZoneError::NoSoa {
        file: records.files[0].to_path_buf(),
        origin: origin.map(|name| name.fmt_with_dot().to_string()),
        hint: hint.into(),
    };
    let Some(first) = soas.next() else {
        return Err(no_soa("add one, or check that this is the whole zone file"));
    };
    let is_same = |other: &LocatedRecord| {
        other.record.owner == first.record.owner && other.record.rdata == first.record.rdata
    };
    // A zone transfer written down by dig ends with the SOA record it began with.
    if let Some(second) = soas.find(|other| !is_same(other)) {
        return Err(ZoneError::SeveralSoas {
            at: records.position(second),
            first: records.position(first),
        });
    }
    match origin {
        Some(origin) if *origin != first.record.owner => Err(no_soa(&format!(
            "the file is the zone {}, so give that name or another file",
            first.record.owner.fmt_with_dot()
        ))),
        Some(origin) => Ok(origin.clone()),
        None => Ok(first.record.owner.clone()),
    }
}

/// Refuses anything beside a CNAME but what DNSSEC adds (RFC 4035 section 2.5); `name` is all records of one owner.
fn check_cname(records: &Records, name: &[LocatedRecord]) -> Result<(), ZoneError> {
    let Some(cname) = name
        .iter()
        .find(|located| located.record.rtype == Rtype::CNAME)
    else {
        return Ok(());
    };
    let offending = name.iter().find(|located| match located.record.rtype {
        Rtype::CNAME => located.record.rdata != cname.record.rdata,
        rtype => !matches!(
            rtype,
            Rtype::RRSIG | Rtype::NSEC | Rtype::KEY | Rtype::SIG | Rtype::NXT
        ),
    });
    match offending {
        None => Ok(()),
        Some(located) => Err(ZoneError::BesideCname {
            at: records.position(located),
            owner: located.record.owner.fmt_with_dot().to_string(),
            rtype: located.record.rtype.to_string(),
        }),
    }
}

/// Gives each RRset one TTL, the lowest (RFC 2181 section 5.2), as servers do; RRSIGs go by the type they cover.
fn level_ttls(records: &mut Records, sorted: &mut [LocatedRecord]) {
    let key = |located: &LocatedRecord| {
        let record = &located.record;
        let covered = match record.rtype {
            Rtype::RRSIG => record.rdata.get(..2).map(<[u8]>::to_vec),
            _ => None,
        };
        (record.rtype, covered)
    };
    for rrset in sorted
        .chunk_by_mut(|a, b| a.record.rtype == b.record.rtype && a.record.owner == b.record.owner)
    {
        if rrset
            .iter()
            .all(|located| located.record.ttl == rrset[0].record.ttl)
        {
            continue;
        }
        rrset.sort_by_key(|located| key(located).1);
        for part in rrset.chunk_by_mut(|a, b| key(a) == key(b)) {
            let lowest = part
                .iter()
                .map(|located| located.record.ttl)
                .min()
                .unwrap_or(0);
            let Some(other) = part.iter().find(|located| located.record.ttl != lowest) else {
                continue;
            };
            let warning = Warning {
                at: records.position(other),
                what: format!(
                    "the records of {} {} have different TTLs; the lowest, {lowest} s, was taken for all (RFC 2181 section 5.2)",
                    other.record.owner.fmt_with_dot(),
                    other.record.rtype,
                ),
            };
            records.warnings.push(warning);
            for located in part {
                located.record.ttl = lowest;
            }
        }
    }
}

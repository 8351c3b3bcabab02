//! What a zone looks like: sizes, depths, TTLs, algorithms.

use super::statistics::count;
use crate::canonical::label_count;
use crate::error::{Warning, ZoneError};
use crate::flow::{Batch, Opening, OwnerGroup, over_names};
use crate::packed::PackedRecord;
use crate::pool::{InOrder, Pool};
use crate::{NameKind, Statistics};
use domain::base::iana::Rtype;
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};

/// How often each value occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(pub BTreeMap<u32, u64>);

impl Tally {
    fn note(&mut self, value: usize) {
        let value = u32::try_from(value).unwrap_or(u32::MAX);
        *self.0.entry(value).or_default() += 1;
    }

    fn add(&mut self, other: Self) {
        for (value, count) in other.0 {
            *self.0.entry(value).or_default() += count;
        }
    }

    /// The number of all.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// The mean; none of nothing.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self
            .0
            .iter()
            .map(|(value, count)| f64::from(*value) * *count as f64)
            .sum();
        let total = self.total();
        (total > 0).then(|| sum / total as f64)
    }

    /// The least value that at least `share` (0 to 1) of all do not exceed; none of nothing.
    pub fn quantile(&self, share: f64) -> Option<u32> {
        let wanted = (self.total() as f64 * share).ceil().max(1.0);
        let mut sum = 0;
        self.0
            .iter()
            .find(|(_, count)| {
                sum += **count;
                sum as f64 >= wanted
            })
            .map(|(value, _)| *value)
    }
}

/// Parameters of NSEC3 records (RFC 5155 section 3.1), and how many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nsec3Use {
    /// Hash algorithm; 1 is SHA-1.
    pub algorithm: u8,
    /// Additional iterations.
    pub iterations: u16,
    /// The salt.
    pub salt: Vec<u8>,
    /// NSEC3 records.
    pub records: u64,
    /// Those of them with the opt-out flag.
    pub opt_out: u64,
}

/// What a zone looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The zone's apex, as wire octets.
    pub apex: Box<[u8]>,
    /// The serial of the SOA record.
    pub serial: u32,
    /// Counts of records, RRsets, names and so on.
    pub counts: Statistics,
    /// Distinct names that NS records name.
    pub name_servers: u64,
    /// NS records of each delegation.
    pub servers_of_delegation: Tally,
    /// Octets of the first label of each owner, those of NSEC3 records left out.
    pub label_octets: Tally,
    /// Octets of each owner in wire format, those of NSEC3 records left out.
    pub owner_octets: Tally,
    /// Labels of each owner below the apex, those of NSEC3 records left out.
    pub depth: Tally,
    /// TTL of each RRset, in seconds.
    pub ttl_s: Tally,
    /// Records of each RRset.
    pub rrset_records: Tally,
    /// Octets of the data of each RRset, in wire format.
    pub rrset_octets: Tally,
    /// DS records by algorithm and digest type.
    pub ds: BTreeMap<(u8, u8), u64>,
    /// DNSKEY records by flags and algorithm.
    pub dnskeys: BTreeMap<(u16, u8), u64>,
    /// RRSIG records by algorithm.
    pub signatures: BTreeMap<u8, u64>,
    /// The earliest and the latest expiration of a signature, in seconds since 1970.
    pub expirations: Option<(u32, u32)>,
    /// NSEC3 records by their parameters.
    pub nsec3: Vec<Nsec3Use>,
    /// The first warnings.
    pub warnings: Vec<Warning>,
    /// All warnings.
    pub warning_count: u64,
}

/// Surveys the zone of `opening`.
pub fn survey(opening: &Opening<'_>, pool: &Pool) -> Result<Survey, ZoneError> {
    let hasher = RandomState::new();
    over_names(opening, pool, |flow| {
        let mut total = Survey::default();
        let mut servers = HashSet::new();
        let mut surveying: InOrder<(Survey, Vec<u64>)> = InOrder::default();
        let mut take = |total: &mut Survey, (part, names): (Survey, Vec<u64>)| {
            total.add(part);
            servers.extend(names);
        };
        while let Some(batch) = flow.next_batch()? {
            let hasher = hasher.clone();
            surveying.push(pool.submit(move || of_batch(&batch, &hasher)));
            if surveying.len() > pool.depth()
                && let Some(part) = surveying.take()
            {
                take(&mut total, part);
            }
        }
        while let Some(part) = surveying.take() {
            take(&mut total, part);
        }
        total.name_servers = servers.len() as u64;
        total.apex = flow.apex()[..].into();
        let (warnings, warning_count) = flow.warnings();
        total.warnings = warnings.to_vec();
        total.warning_count = warning_count;
        Ok(total)
    })
}

/// Surveys a batch; also gives the hashes of the names of name servers, each once.
fn of_batch(batch: &Batch, hasher: &RandomState) -> (Survey, Vec<u64>) {
    let mut survey = Survey {
        counts: count(batch),
        ..Survey::default()
    };
    let apex_labels = label_count(&batch.apex);
    let mut servers = Vec::new();
    for name in batch.names() {
        survey.name(&name, apex_labels);
        for record in name
            .records
            .iter()
            .filter(|record| record.rtype == Rtype::NS)
        {
            servers.push(hasher.hash_one(record.rdata.to_ascii_lowercase()));
        }
    }
    servers.sort_unstable();
    servers.dedup();
    for record in batch.nsec3.iter() {
        survey.record(&record);
        if record.rtype == Rtype::NSEC3 {
            survey.ttl_s.note(record.ttl_s as usize);
            survey.rrset_records.note(1);
            survey.rrset_octets.note(record.rdata.len());
        }
    }
    (survey, servers)
}

impl Survey {
    fn name(&mut self, name: &OwnerGroup<'_>, apex_labels: usize) {
        let owner = name.owner();
        self.label_octets.note(usize::from(owner[0]));
        self.owner_octets.note(owner.len());
        self.depth.note(label_count(owner) - apex_labels);
        for set in name.rrsets() {
            let first = set.get(0);
            self.ttl_s.note(first.ttl_s as usize);
            self.rrset_records.note(set.len());
            self.rrset_octets
                .note(set.iter().map(|record| record.rdata.len()).sum());
            if first.rtype == Rtype::NS && name.kind == NameKind::Delegation {
                self.servers_of_delegation.note(set.len());
            }
        }
        for record in name.records.iter() {
            self.record(&record);
        }
    }

    fn record(&mut self, record: &PackedRecord<'_>) {
        let rdata = record.rdata;
        match (record.rtype, rdata) {
            (Rtype::DS, [_, _, algorithm, digest, ..]) => {
                *self.ds.entry((*algorithm, *digest)).or_default() += 1;
            }
            (Rtype::DNSKEY, [high, low, _, algorithm, ..]) => {
                let flags = u16::from_be_bytes([*high, *low]);
                *self.dnskeys.entry((flags, *algorithm)).or_default() += 1;
            }
            (Rtype::RRSIG, [_, _, algorithm, _, _, _, _, _, e0, e1, e2, e3, ..]) => {
                *self.signatures.entry(*algorithm).or_default() += 1;
                let expiration = u32::from_be_bytes([*e0, *e1, *e2, *e3]);
                self.note_expirations((expiration, expiration));
            }
            (Rtype::NSEC3, [algorithm, flags, high, low, length, rest @ ..]) => {
                let salt = rest.get(..usize::from(*length)).unwrap_or_default();
                self.note_nsec3(Nsec3Use {
                    algorithm: *algorithm,
                    iterations: u16::from_be_bytes([*high, *low]),
                    salt: salt.to_vec(),
                    records: 1,
                    opt_out: u64::from(flags & 1),
                });
            }
            (Rtype::SOA, _) => {
                self.serial = super::serial_of(std::iter::once(*record)).unwrap_or(0);
            }
            _ => {}
        }
    }

    fn note_expirations(&mut self, (earliest, latest): (u32, u32)) {
        let (least, most) = self.expirations.unwrap_or((earliest, latest));
        self.expirations = Some((least.min(earliest), most.max(latest)));
    }

    fn note_nsec3(&mut self, found: Nsec3Use) {
        let same = |known: &&mut Nsec3Use| {
            (known.algorithm, known.iterations, &known.salt)
                == (found.algorithm, found.iterations, &found.salt)
        };
        match self.nsec3.iter_mut().find(same) {
            Some(known) => {
                known.records += found.records;
                known.opt_out += found.opt_out;
            }
            None => self.nsec3.push(found),
        }
    }

    fn add(&mut self, other: Self) {
        self.serial = self.serial.max(other.serial);
        self.counts.add(other.counts);
        self.servers_of_delegation.add(other.servers_of_delegation);
        self.label_octets.add(other.label_octets);
        self.owner_octets.add(other.owner_octets);
        self.depth.add(other.depth);
        self.ttl_s.add(other.ttl_s);
        self.rrset_records.add(other.rrset_records);
        self.rrset_octets.add(other.rrset_octets);
        for (key, count) in other.ds {
            *self.ds.entry(key).or_default() += count;
        }
        for (key, count) in other.dnskeys {
            *self.dnskeys.entry(key).or_default() += count;
        }
        for (key, count) in other.signatures {
            *self.signatures.entry(key).or_default() += count;
        }
        if let Some(expirations) = other.expirations {
            self.note_expirations(expirations);
        }
        other
            .nsec3
            .into_iter()
            .for_each(|found| self.note_nsec3(found));
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn quantiles() {
        let mut tally = Tally::default();
        assert_eq!((tally.mean(), tally.quantile(0.5)), (None, None));
        for value in [1, 2, 2, 3, 100] {
            tally.note(value);
        }
        assert_eq!(tally.mean(), Some(21.6));
        let quantiles = [0.0, 0.2, 0.5, 0.8, 1.0].map(|share| tally.quantile(share));
        assert_eq!(quantiles, [1, 1, 2, 3, 100].map(Some));
    }
}

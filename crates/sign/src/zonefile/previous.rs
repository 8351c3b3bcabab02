//! The signatures of an earlier version of the zone, gone over beside the zone as it is now.

use super::keys::OtherKeys;
use super::plan::{FileSigning, Plan};
use crate::{Dnskey, SignError, key_tag};
use dnsrig_zone::flow::{Batch, Opening, OwnerGroup, ZoneFlow, over_names};
use dnsrig_zone::pool::Pool;
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{PackedRecords, ZoneError, compare_names, same_name};
use domain::base::iana::Rtype;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// Share of the memory for sorting that the earlier version gets, which is in order if a signer wrote it.
const MEMORY_SHARE: usize = 4;

/// A signed zone file with an earlier version of the zone.
pub(super) struct Previous<'f, 'a> {
    flow: &'f mut ZoneFlow<'a>,
    opening: &'f Opening<'f>,
    /// The first names, among them the apex.
    first: Arc<Batch>,
    /// Names from the ones that are looked at on.
    at_hand: VecDeque<Arc<Batch>>,
    /// Records of the NSEC3 chain that were not asked for yet.
    nsec3: PackedRecords,
}

/// Lets `body` go over the names of `flow`, the zone of `opening`, beside those of its earlier version, if there is to be one.
///
/// As with [`over_names`], `body` is called again from the start if that turns out not to be in canonical order.
pub(super) fn with_previous<T>(
    opening: &Opening<'_>,
    pool: &Pool,
    signing: &FileSigning,
    flow: &mut ZoneFlow<'_>,
    mut body: impl FnMut(&mut ZoneFlow<'_>, Option<Previous<'_, '_>>) -> Result<T, SignError>,
) -> Result<T, SignError> {
    let Some(path) = &signing.previous else {
        return body(flow, None);
    };
    let earlier = Opening {
        path,
        text: None,
        changes: None,
        leaves_out_orphans: false,
        memory: opening.memory / MEMORY_SHARE,
        progress: &|_| {},
        ..opening.clone()
    };
    let mut is_again = false;
    over_names(&earlier, pool, |names| {
        if std::mem::replace(&mut is_again, true) {
            flow.rewind()?;
        }
        let previous = Previous::new(names, &earlier, &flow.apex())?;
        body(flow, Some(previous))
    })
}

impl<'f, 'a> Previous<'f, 'a> {
    fn new(
        flow: &'f mut ZoneFlow<'a>,
        opening: &'f Opening<'f>,
        apex: &[u8],
    ) -> Result<Self, SignError> {
        let own = flow.apex();
        if !same_name(&own, apex) {
            return Err(SignError::PreviousZone {
                file: opening.path.to_path_buf(),
                found: shown_name(&own),
                zone: shown_name(apex),
            });
        }
        // The first batch of a zone has the apex, without which it is none.
        let mut first = flow.next_batch()?.ok_or_else(|| ZoneError::NoSoa {
            file: opening.path.to_path_buf(),
            origin: Some(shown_name(apex)),
            hint: "give the signed zone file".into(),
        })?;
        let nsec3 = std::mem::take(&mut first.nsec3);
        let first = Arc::new(first);
        Ok(Self {
            flow,
            opening,
            at_hand: VecDeque::from([first.clone()]),
            first,
            nsec3,
        })
    }

    /// How it is read.
    pub fn opening(&self) -> &Opening<'_> {
        self.opening
    }

    /// Its first names, among them the apex.
    pub fn first(&self) -> &Arc<Batch> {
        &self.first
    }

    /// Batches that have all of its names from the first to the last of `batch`.
    pub fn beside(&mut self, batch: &Batch) -> Result<Vec<Arc<Batch>>, SignError> {
        let mut names = batch.names();
        let Some(first) = names.next() else {
            return Ok(Vec::new());
        };
        let last = names.next_back().unwrap_or_else(|| first.clone());
        while self
            .at_hand
            .front()
            .is_some_and(|front| ends_before(front, first.owner()))
        {
            self.at_hand.pop_front();
        }
        while self
            .at_hand
            .back()
            .is_none_or(|back| ends_before(back, last.owner()))
        {
            match self.next()? {
                None => break,
                Some(next) if ends_before(&next, first.owner()) => {}
                Some(next) => self.at_hand.push_back(Arc::new(next)),
            }
        }
        Ok(self.at_hand.iter().cloned().collect())
    }

    /// The records of its NSEC3 chain that were read since.
    pub fn take_nsec3(&mut self) -> PackedRecords {
        std::mem::take(&mut self.nsec3)
    }

    /// Reads to the end; the records of the NSEC3 chain that were left.
    pub fn finish(mut self) -> Result<PackedRecords, SignError> {
        while self.next()?.is_some() {}
        Ok(self.nsec3)
    }

    fn next(&mut self) -> Result<Option<Batch>, SignError> {
        let Some(mut next) = self.flow.next_batch()? else {
            return Ok(None);
        };
        self.nsec3.append(&next.nsec3);
        next.nsec3 = PackedRecords::default();
        Ok(Some(next))
    }
}

fn ends_before(batch: &Batch, owner: &[u8]) -> bool {
    let last = batch.names().next_back();
    last.is_none_or(|last| compare_names(last.owner(), owner).is_lt())
}

/// For each of `names` the same name of the earlier version, of which `earlier` has all between the first and the last.
pub(super) fn paired<'a>(
    names: &[OwnerGroup<'_>],
    earlier: &'a [Arc<Batch>],
) -> Vec<Option<OwnerGroup<'a>>> {
    let mut earlier = earlier.iter().flat_map(|batch| batch.names()).peekable();
    let same = |name: &OwnerGroup<'_>| {
        let is_before = |other: &OwnerGroup<'_>| compare_names(other.owner(), name.owner()).is_lt();
        while earlier.next_if(is_before).is_some() {}
        earlier.next_if(|other| same_name(other.owner(), name.owner()))
    };
    names.iter().map(same).collect()
}

/// What is to be said of keys of the earlier version that the zone would lose without a word of their times.
///
/// # Errors
/// [`SignError::OtherKeys`] where such keys are not to be lost.
pub(super) fn lost_keys(plan: &Plan, first: &Batch) -> Result<Vec<String>, SignError> {
    let is_known = |rdata: &[u8]| {
        let is_same = |key: &Dnskey| key.rdata() == rdata;
        let mut kept = plan.apex.records.iter();
        kept.any(|record| record.rtype == Rtype::DNSKEY && record.rdata == rdata)
            || plan.signing.publication.withdrawn.iter().any(is_same)
    };
    let mut lost = Vec::new();
    let apex = first.at_apex();
    let records = apex.iter().flat_map(|apex| apex.records.iter());
    for record in records.filter(|record| record.rtype == Rtype::DNSKEY) {
        if is_known(record.rdata) {
            continue;
        }
        let tag = key_tag(record.rdata);
        match plan.signing.publication.others {
            OtherKeys::Refused => {
                return Err(SignError::OtherKeys {
                    zone: shown_name(&plan.signer),
                    tag,
                });
            }
            OtherKeys::Go => {}
            OtherKeys::Stay => lost.push(format!(
                "the zone loses the DNSKEY with tag {tag}, which its previous version had, and with it the signatures of this key; resolvers may know the zone by it"
            )),
        }
    }
    Ok(lost)
}

/// Whether the serial number `new` comes after `old` (RFC 1982 section 3.2).
pub(super) fn is_after(new: u32, old: u32) -> bool {
    matches!(new.wrapping_sub(old), 1..0x8000_0000)
}

/// What is to be said of a serial number by which secondaries do not see that the zone is another.
pub(super) fn serial_remark(path: &Path, serial: u32, previous: u32) -> String {
    format!(
        "the serial number {serial} does not come after that of {}, {previous}, so secondaries do not take the zone; raise it, or sign with -N",
        path.display()
    )
}

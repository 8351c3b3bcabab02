//! Names of which the records come in several blocks, put together.

use super::group::{Grouped, Rules};
use super::{Source, WARNINGS_MAX, ZoneFlow, batch};
use crate::error::ZoneError;
use crate::packed::PackedRecords;
use crate::read::position;

impl ZoneFlow<'_> {
    /// The next names, all with all their records, and changed; `None` at the end.
    pub(super) fn next_grouped(&mut self) -> Result<Option<Grouped>, ZoneError> {
        loop {
            let next = match &mut self.source {
                Source::Streaming(streaming) => streaming.next(&self.opening, self.pool)?,
                Source::Merging(merging) => merging.next(&self.opening, self.pool)?,
            };
            let Some(mut next) = next else {
                let last = self.held.take();
                self.is_at_end = last.is_none();
                return last.map(|last| self.whole(last, None)).transpose();
            };
            let rules = self.rules();
            if next.groups.is_empty() {
                self.take_note(&mut next)?;
                match &mut self.held {
                    // The apex comes first all the same.
                    Some(held) if !self.has_begun => held.take_nameless(next, &rules)?,
                    Some(held) => {
                        next.put_nsec3_before(held, &rules)?;
                        return Ok(Some(next));
                    }
                    None => return Ok(Some(next)),
                }
                continue;
            }
            let Some(mut held) = self.held.take() else {
                self.held = Some(next);
                continue;
            };
            if batch::meet_in_one_name(&held, &next) {
                if next.groups.len() == 1 {
                    held.extend_last(next, &rules)?;
                    self.held = Some(held);
                    continue;
                }
                next.take_last_of(&mut held, &rules)?;
                if held.groups.is_empty() {
                    next.put_nameless_before(held, &rules)?;
                    self.held = Some(next);
                    continue;
                }
            }
            let whole = self.whole(held, next.first_owner())?;
            self.held = Some(next);
            return Ok(Some(whole));
        }
    }

    /// The names of `grouped`, which all come before `next` and have all their records, as they are to be gone over.
    fn whole(&mut self, grouped: Grouped, next: Option<&[u8]>) -> Result<Grouped, ZoneError> {
        let rules = self.rules();
        let mut grouped = grouped;
        grouped.close(&rules);
        self.take_note(&mut grouped)?;
        if let Some(applying) = &mut self.applying {
            grouped.warnings.clear();
            grouped = applying.apply(grouped, next, &rules)?;
            self.take_note(&mut grouped)?;
        }
        // Only now, since a part of a name can look like an orphan.
        if self.opening.leaves_out_orphans {
            grouped.leave_out_orphans();
        }
        Ok(grouped)
    }

    pub(super) fn rules(&self) -> Rules {
        Rules {
            apex: self.apex.clone(),
            files: self.files(),
            missing_ttl_s: None,
        }
    }

    /// Keeps the warnings of a batch, and ends with its first fault unless these are kept.
    fn take_note(&mut self, grouped: &mut Grouped) -> Result<(), ZoneError> {
        if !self.opening.keeps_faults && !grouped.faults.is_empty() {
            return Err(grouped.faults.swap_remove(0));
        }
        if self.is_repeated {
            return Ok(());
        }
        let room = WARNINGS_MAX.saturating_sub(self.warnings.len());
        self.warnings
            .extend(grouped.warnings.iter().take(room).cloned());
        self.warning_count += grouped.warnings.len() as u64;
        Ok(())
    }
}

impl Grouped {
    /// Puts the NSEC3 records of `earlier`, which comes later all the same, before these.
    pub fn put_nsec3_before(&mut self, earlier: &mut Self, rules: &Rules) -> Result<(), ZoneError> {
        if !earlier.nsec3.is_empty() {
            let mut nsec3 = std::mem::take(&mut earlier.nsec3);
            append_nsec3(&mut nsec3, &self.nsec3, rules)?;
            self.nsec3 = nsec3;
        }
        Ok(())
    }

    /// Takes what `later` has, which has no names.
    pub fn take_nameless(&mut self, later: Self, rules: &Rules) -> Result<(), ZoneError> {
        append_nsec3(&mut self.nsec3, &later.nsec3, rules)?;
        self.faults.extend(later.faults);
        Ok(())
    }

    /// Takes what `earlier` has, which has no names.
    pub fn put_nameless_before(
        &mut self,
        mut earlier: Self,
        rules: &Rules,
    ) -> Result<(), ZoneError> {
        self.put_nsec3_before(&mut earlier, rules)?;
        self.faults.splice(0..0, earlier.faults);
        self.warnings.splice(0..0, earlier.warnings);
        Ok(())
    }

    /// Appends `next`, which is more of the last name and nothing else.
    fn extend_last(&mut self, next: Self, rules: &Rules) -> Result<(), ZoneError> {
        if let (Some(last), Some(more)) = (self.groups.last_mut(), next.groups.first()) {
            if self.records.try_append(&next.records).is_err() {
                return Err(too_large(&next.records, rules));
            }
            last.end = self.records.len() as u32;
            last.has_ns |= more.has_ns;
            last.has_dname |= more.has_dname;
            last.is_open = true;
        }
        append_nsec3(&mut self.nsec3, &next.nsec3, rules)?;
        self.faults.extend(next.faults);
        self.warnings.extend(next.warnings);
        Ok(())
    }

    /// Moves the last name of `earlier` here, where it is the first.
    fn take_last_of(&mut self, earlier: &mut Self, rules: &Rules) -> Result<(), ZoneError> {
        let Some(last) = earlier.groups.pop() else {
            return Ok(());
        };
        let mut records = PackedRecords::default();
        for index in last.range() {
            records.push(&earlier.records.get(index));
        }
        earlier.records.truncate(last.first as usize);
        if self.records.try_append(&records).is_err() {
            return Err(too_large(&records, rules));
        }
        self.records.move_to_front(records.len());
        let more = records.len() as u32;
        for span in &mut self.groups {
            span.first += more;
            span.end += more;
        }
        if let Some(first) = self.groups.first_mut() {
            first.first = 0;
            first.has_ns |= last.has_ns;
            first.has_dname |= last.has_dname;
            first.is_open = true;
        }
        Ok(())
    }
}

/// Appends the NSEC3 records of `later`.
fn append_nsec3(
    nsec3: &mut PackedRecords,
    later: &PackedRecords,
    rules: &Rules,
) -> Result<(), ZoneError> {
    nsec3.try_append(later).map_err(|_| too_large(later, rules))
}

/// What is wrong with too many records, of which these are some.
fn too_large(records: &PackedRecords, rules: &Rules) -> ZoneError {
    ZoneError::Syntax {
        at: position(&rules.files, records.get(0).place),
        what: "more than 4 GiB of records of one name, or of NSEC3 records beside few names".into(),
        hint: "no server can have so many, so check that this is a zone file".into(),
    }
}

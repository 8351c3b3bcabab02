//! Writing zones as master files.

use crate::packed::PackedRecord;
use crate::text::push_record;
use crate::whole_file::write_whole;
use crate::{Record, Zone, ZoneError};
use domain::base::iana::Rtype;
use std::io::{self, BufWriter, Write};
use std::path::Path;

impl Zone {
    /// Writes the zone to `path`: one record a line, absolute names, no directives, the SOA record first and the others
    /// in canonical order.
    ///
    /// Types that `domain` cannot display are written as `TYPEn \# LENGTH HEX` (RFC 3597). The file appears under its
    /// name only when it is complete and on disk; an error leaves what was there before.
    pub fn write(&self, path: &Path) -> Result<(), ZoneError> {
        write_whole(path, |target| self.write_to(target)).map_err(|source| ZoneError::Write {
            file: path.to_path_buf(),
            source,
        })
    }

    /// Writes the zone's text to `target`, as [`Zone::write`] does to a file.
    pub fn write_to(&self, target: impl Write) -> io::Result<()> {
        let mut target = BufWriter::with_capacity(1 << 16, target);
        let mut line = Vec::new();
        let mut write = |record: &Record| {
            line.clear();
            push_record(&PackedRecord::from(record), &mut line);
            target.write_all(&line)
        };
        let is_soa =
            |record: &&Record| record.rtype == Rtype::SOA && record.owner == *self.origin();
        self.records()
            .iter()
            .filter(is_soa)
            .try_for_each(&mut write)?;
        let others = self.records().iter().filter(|record| !is_soa(record));
        others.into_iter().try_for_each(write)?;
        target.flush()
    }
}

//! Writing zones as master files.

use crate::presentation::PresentationRecord;
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
        let is_soa =
            |record: &&Record| record.rtype == Rtype::SOA && record.owner == *self.origin();
        for record in self.records().iter().filter(is_soa) {
            writeln!(target, "{}", PresentationRecord(record))?;
        }
        for record in self.records().iter().filter(|record| !is_soa(record)) {
            writeln!(target, "{}", PresentationRecord(record))?;
        }
        target.flush()
    }
}

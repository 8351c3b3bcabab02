//! Writing zones as master files.

use crate::presentation::PresentationRecord;
use crate::{Record, Zone, ZoneError};
use domain::base::iana::Rtype;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;

impl Zone {
    /// Writes the zone to `path`: one record a line, absolute names, no directives, the SOA record first and the others
    /// in canonical order.
    ///
    /// Types that `domain` cannot display are written as `TYPEn \# LENGTH HEX` (RFC 3597). The file appears under its
    /// name only when it is complete and on disk; an error leaves what was there before.
    pub fn write(&self, path: &Path) -> Result<(), ZoneError> {
        self.write_file(path).map_err(|source| ZoneError::Write {
            file: path.to_path_buf(),
            source,
        })
    }

    fn write_file(&self, path: &Path) -> io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.permissions(permissions_for(path));
        let mut file: NamedTempFile = builder.prefix(".dnsrig-").tempfile_in(folder)?;
        self.write_to(&mut file)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        // The rename itself is on disk only with the folder.
        File::open(folder)?.sync_all()
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

/// Those of the file that is replaced, else readable for all as the umask allows: servers run as other users.
fn permissions_for(path: &Path) -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(path) {
        Ok(metadata) => metadata.permissions(),
        Err(_) => std::fs::Permissions::from_mode(0o666),
    }
}

//! The file that is written, which gets its name once it has been searched.

use super::check::{CheckSummary, check};
use super::packets::FILE_HEADER;
use super::seen::Seen;
use crate::TrafficError;
use crate::read::Reading;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Octets that are written at once.
const BUFFER_LEN: usize = 1 << 20;
/// Rights of a new file before the process' mask takes its part.
const MODE: u32 = 0o666;

/// A capture that is being written.
pub struct Output {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    len: u64,
}

impl Output {
    /// Begins a file beside `path`, or for `-` where temporary files are.
    ///
    /// # Errors
    /// [`TrafficError::Write`], or [`TrafficError::Output`].
    pub fn create(path: &Path) -> Result<Self, TrafficError> {
        let mut builder = Builder::new();
        builder.prefix(".dnsrig-").suffix(".pcap");
        let created = match is_standard_output(path) {
            true => builder.tempfile(),
            false => {
                let folder = path
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty());
                builder
                    .permissions(std::fs::Permissions::from_mode(MODE))
                    .tempfile_in(folder.unwrap_or(Path::new(".")))
            }
        };
        let file = created.map_err(|source| failure(path, source))?;
        let mut output = Self {
            path: path.to_owned(),
            file: BufWriter::with_capacity(BUFFER_LEN, file),
            len: 0,
        };
        output.write(&FILE_HEADER)?;
        Ok(output)
    }

    /// Appends `octets`.
    ///
    /// # Errors
    /// As [`Output::create`].
    pub fn write(&mut self, octets: &[u8]) -> Result<(), TrafficError> {
        self.len += octets.len() as u64;
        self.file
            .write_all(octets)
            .map_err(|source| failure(&self.path, source))
    }

    /// Octets that have been written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Searches what was written for originals, in the way in which `reading` read them.
    ///
    /// # Errors
    /// Those of [`check`], and of [`Output::create`].
    pub fn check(
        &mut self,
        reading: &Reading<'_>,
        seen: &Seen,
    ) -> Result<CheckSummary, TrafficError> {
        self.file
            .flush()
            .map_err(|source| failure(&self.path, source))?;
        let files = [self.file.get_ref().path().to_owned()];
        let reading = Reading {
            files: &files,
            progress: &|_| (),
            ..*reading
        };
        check(&reading, seen)
    }

    /// Gives the file its name, or copies it to standard output.
    ///
    /// # Errors
    /// As [`Output::create`].
    pub fn publish(self) -> Result<(), TrafficError> {
        let Self { path, file, .. } = self;
        let published = file
            .into_inner()
            .map_err(|error| error.into_error())
            .and_then(|file| match is_standard_output(&path) {
                true => {
                    let mut output = io::stdout().lock();
                    io::copy(&mut file.reopen()?, &mut output)?;
                    output.flush()
                }
                false => file.persist(&path).map(drop).map_err(|error| error.error),
            });
        published.map_err(|source| failure(&path, source))
    }
}

fn is_standard_output(path: &Path) -> bool {
    path == Path::new("-")
}

fn failure(path: &Path, source: io::Error) -> TrafficError {
    match is_standard_output(path) {
        true => TrafficError::Output { source },
        false => TrafficError::Write {
            file: path.to_owned(),
            source,
        },
    }
}

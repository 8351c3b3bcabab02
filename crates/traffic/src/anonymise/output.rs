//! The file that is written, which gets its name once it has been searched.

use super::check::{CheckSummary, Finding, check};
use super::seen::Seen;
use crate::TrafficError;
use crate::read::Reading;
use crate::write::{file_header, link, write_error};
use dnsrig_zone::{WholeFile, ZoneError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A capture that is being written.
pub struct Output {
    path: PathBuf,
    file: WholeFile,
    len: u64,
}

impl Output {
    /// Begins a file beside `path`; one that goes to standard output or a pipe is complete where temporary files are first.
    ///
    /// # Errors
    /// [`TrafficError::Write`], or [`TrafficError::Output`].
    pub fn create(path: &Path) -> Result<Self, TrafficError> {
        let folder = std::env::temp_dir();
        let created = WholeFile::create_spooled(path, &folder);
        let file = created.map_err(|error| match error {
            ZoneError::Write { source, .. } => write_error(path, source),
            ZoneError::TemporaryOutput { source, .. } => write_error(&folder, source),
            other => write_error(path, io::Error::other(other)),
        })?;
        let mut output = Self {
            path: path.to_owned(),
            file,
            len: 0,
        };
        output.write(&file_header(link::RAW))?;
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
            .map_err(|source| write_error(&self.path, source))
    }

    /// Octets that have been written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Searches what was written for originals, in the way in which `reading` read them; gives the first one found.
    ///
    /// # Errors
    /// Those of [`check`], and of [`Output::create`].
    pub fn check(
        &mut self,
        reading: &Reading<'_>,
        seen: &Seen,
    ) -> Result<Result<CheckSummary, Finding>, TrafficError> {
        let written = self.file.partial_path();
        let files = [written.map_err(|source| write_error(&self.path, source))?];
        let reading = Reading {
            files: &files,
            progress: &|_| (),
            ..*reading
        };
        check(&reading, seen)
    }

    /// Gives the file its name, or copies it to standard output. It is not brought to disk, which would take longer than all
    /// the rest: what was made of a capture can be made again.
    ///
    /// # Errors
    /// As [`Output::create`].
    pub fn publish(self) -> Result<(), TrafficError> {
        let Self { path, file, .. } = self;
        file.close()
            .and_then(|file| file.rename())
            .map(drop)
            .map_err(|source| write_error(&path, source))
    }
}

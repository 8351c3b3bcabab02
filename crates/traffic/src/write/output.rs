//! Files that are written: beside their name, and renamed when they are complete.

use crate::error::TrafficError;
use dnsrig_zone::WholeFile;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Octets written to standard output by one system call.
const BUFFER_LEN: usize = 1 << 18;

/// A file to be written, or standard output for `-`. Dropping it unfinished leaves under its name what was there before.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Beside(WholeFile),
    Standard(BufWriter<File>),
}

impl OutputFile {
    /// Begins to write `path`.
    ///
    /// # Errors
    /// [`TrafficError::Write`] or [`TrafficError::Output`].
    pub fn create(path: &Path) -> Result<Self, TrafficError> {
        let opened = if path == Path::new("-") {
            // Not by way of `io::stdout`, which looks for ends of lines.
            let output = io::stdout().as_fd().try_clone_to_owned();
            output.map(|output| {
                Target::Standard(BufWriter::with_capacity(BUFFER_LEN, File::from(output)))
            })
        } else {
            WholeFile::create(path).map(Target::Beside)
        };
        let target = opened.map_err(|source| write_error(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            target,
        })
    }

    /// Gives the file its name. It is not brought to disk, which would take longer than all the rest: what was made of a
    /// capture can be made again.
    ///
    /// # Errors
    /// [`TrafficError::Write`] or [`TrafficError::Output`].
    pub fn finish(self) -> Result<(), TrafficError> {
        let ended = match self.target {
            Target::Standard(mut output) => output.flush(),
            Target::Beside(file) => file.close().and_then(|file| file.rename()).map(drop),
        };
        ended.map_err(|source| write_error(&self.path, source))
    }

    /// What failed in writing this file, as the crate's error.
    pub fn error(&self, source: io::Error) -> TrafficError {
        write_error(&self.path, source)
    }

    /// The path that was given.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// What failed in writing `path`, as the crate's error.
pub fn write_error(path: &Path, source: io::Error) -> TrafficError {
    if path == Path::new("-") {
        return TrafficError::Output { source };
    }
    TrafficError::Write {
        file: path.to_owned(),
        source,
    }
}

impl Write for OutputFile {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Beside(file) => file.write(octets),
            Target::Standard(output) => output.write(octets),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Beside(file) => file.flush(),
            Target::Standard(output) => output.flush(),
        }
    }
}

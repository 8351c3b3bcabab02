//! Statistics that were stored: read again, and added up.

use super::Statistics;
use crate::error::TrafficError;
use dnsrig_stream::input::{Watch, failure, open};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Octets that are read at once.
const BUFFER_LEN: usize = 1 << 18;

/// The part of a stored report that is added up.
#[derive(Deserialize)]
struct Stored<State> {
    state: State,
}

/// What every version of the form has.
#[derive(Deserialize)]
struct AnyVersion {
    version: u32,
}

/// Reads statistics as `dnsrig traffic stats --json` prints them.
///
/// # Errors
/// Those of `input`, and of what is no such JSON.
pub fn parse(input: impl Read) -> Result<Statistics, serde_json::Error> {
    parse_as(input)
}

fn parse_as<State: DeserializeOwned>(input: impl Read) -> Result<State, serde_json::Error> {
    let input = BufReader::with_capacity(BUFFER_LEN, input);
    serde_json::from_reader(input).map(|Stored { state }| state)
}

/// Adds up the statistics that are stored in `files`, plain or compressed; `-` is standard input. One part at a time is in memory
/// beside the sum. `progress` is told the octets of the files that were read.
///
/// # Errors
/// [`TrafficError::Stream`] where a file cannot be read, or `cancel` is set; [`TrafficError::NoStatistics`],
/// [`TrafficError::OtherVersion`], [`TrafficError::NotMergeable`], and [`TrafficError::Setting`] without a file.
pub fn merge_stored(
    files: &[PathBuf],
    cancel: &AtomicBool,
    progress: &dyn Fn(u64),
) -> Result<Statistics, TrafficError> {
    let octets = AtomicU64::new(0);
    let watch = Watch {
        cancel,
        octets: &octets,
    };
    let (first, others) = files.split_first().ok_or_else(|| TrafficError::Setting {
        why: "give statistics to merge".to_owned(),
    })?;
    let mut sum = read(first, watch)?;
    for file in others {
        progress(octets.load(Ordering::Relaxed));
        let part = read(file, watch)?;
        sum.merge(part)
            .map_err(|source| TrafficError::NotMergeable {
                file: file.clone(),
                source,
            })?;
    }
    Ok(sum)
}

fn read(file: &Path, watch: Watch<'_>) -> Result<Statistics, TrafficError> {
    let failed = |error| failure(file, error).into();
    let input = open(file, watch).map_err(failed)?;
    let source = match parse(input) {
        Ok(statistics) => {
            check_version(file, statistics.version())?;
            return Ok(statistics);
        }
        Err(source) if source.is_io() => return Err(failed(source.into())),
        Err(source) => source,
    };
    // What this version cannot read may be of another one. A pipe cannot be read again.
    if source.is_data() && file.is_file() {
        let input = open(file, watch).map_err(failed)?;
        if let Ok(AnyVersion { version }) = parse_as(input) {
            check_version(file, version)?;
        }
    }
    Err(TrafficError::NoStatistics {
        file: file.to_owned(),
        source,
    })
}

/// Refuses statistics in `file` that were stored by another version of the form.
fn check_version(file: &Path, version: u32) -> Result<(), TrafficError> {
    if version == Statistics::VERSION {
        return Ok(());
    }
    Err(TrafficError::OtherVersion {
        file: file.to_owned(),
        version,
        age: match version < Statistics::VERSION {
            true => "an older",
            false => "a newer",
        },
    })
}

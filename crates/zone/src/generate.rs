//! Synthetic zones.
//!
//! [`write_zone`] makes zones of any size by a [`Model`], as text that is never in memory as a whole; [`small_domain`]
//! makes the zone of a small organisation in memory. The same arguments give the same zone to the octet, on any machine
//! and with any number of threads.

mod addresses;
mod enterprise;
mod entries;
mod flat;
mod labels;
mod operators;
mod pipeline;
mod punycode;
mod random;
mod reverse;
mod shuffle;
mod sink;
mod small;
mod tld;
mod units;
mod words;

pub use small::{
    SMALL_DOMAIN_RECORDS, SMALL_DOMAIN_RECORDS_MAX, SMALL_DOMAIN_RECORDS_MIN, small_domain,
};
pub use tld::TLD_NAMES;

use crate::presentation::PresentationName;
use crate::{Name, Statistics, ZoneError, write_whole};
use pipeline::Parts;
use shuffle::Shuffle;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most names that a zone can be made of.
pub const NAMES_MAX: u64 = 200_000_000;

/// What kind of zone to make, and what counts as a name of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// A registry's zone of delegations; a name is a delegation. With [`TLD_NAMES`] and 5 % signed it has as many
    /// records and RRsets as the zone of CA-2006.
    Tld {
        /// The share of delegations with DS records, from 0 to 1.
        signed_share: f64,
    },
    /// An organisation's zone with everything in it that [`small_domain`] has, most of it at sites of its own; a name
    /// is an owner name.
    Enterprise,
    /// A zone of the reverse tree, below in-addr.arpa or ip6.arpa; a name is an address that has a PTR record, or a
    /// CNAME record into a delegation (RFC 2317).
    Reverse,
    /// Hosts directly below the apex; a name is a host with an A record, and perhaps an AAAA record.
    Flat,
    /// The zone of [`small_domain`]; a name is a record.
    Small,
}

/// The order of a zone's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOrder {
    /// The SOA record, then all others in canonical order (RFC 4034 section 6).
    Canonical,
    /// The SOA record, then all others shuffled.
    Shuffled,
}

/// A zone to be made.
#[derive(Clone, Debug)]
pub struct ZoneRequest {
    /// The name of the apex.
    pub origin: Name,
    /// The kind of zone.
    pub model: Model,
    /// How many names, from 1 to [`NAMES_MAX`]; what counts as one depends on the model.
    pub names: u64,
    /// The seed of everything random.
    pub seed: u64,
    /// The order of the records.
    pub order: RecordOrder,
}

/// How far the making of a zone is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Names made, of those asked for.
    pub names: u64,
    /// Octets of text made.
    pub octets: u64,
}

/// How the making of a zone is watched and stopped, and on how many threads it goes.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set by another thread to end the work, which then fails.
    pub cancel: &'a AtomicBool,
    /// Told now and then how far the work is.
    pub progress: &'a dyn Fn(Progress),
    /// Threads that make text, beside the one that writes it.
    pub threads: NonZeroUsize,
}

impl Watch<'_> {
    fn cancelled() -> io::Error {
        io::Error::other("the work was cancelled")
    }

    fn check(&self) -> io::Result<()> {
        match self.cancel.load(Ordering::Relaxed) {
            true => Err(Self::cancelled()),
            false => Ok(()),
        }
    }
}

/// A zone that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenZone {
    /// What is in it.
    pub statistics: Statistics,
    /// The length of its text, in octets.
    pub octets: u64,
}

/// Makes a zone and writes it to `path` as [`write_whole`] does: it appears under its name only when it is complete.
///
/// The text is as [`crate::Zone::write`] writes it. An unsorted zone of more than about 96 MB is shuffled by way of
/// temporary files beside it.
///
/// # Errors
/// [`ZoneError::Generate`] if there can be no such zone; [`ZoneError::Write`] if it cannot be written or the work was
/// cancelled.
pub fn write_zone(
    path: &Path,
    request: &ZoneRequest,
    watch: &Watch,
) -> Result<WrittenZone, ZoneError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let parts = parts_of(request)?;
    let mut written = None;
    write_whole(path, |target| {
        written = Some(write_parts(target, &*parts, request, folder, watch)?);
        Ok(())
    })
    .map_err(|source| refused(path, source))?;
    Ok(written.expect("write_whole succeeds only if it filled the file"))
}

/// Makes a zone and writes it to `target`, which `name` is the name of in errors; otherwise as [`write_zone`].
///
/// # Errors
/// As [`write_zone`]; part of the zone may have been written then.
pub fn write_zone_to(
    target: &mut dyn Write,
    name: &Path,
    request: &ZoneRequest,
    watch: &Watch,
) -> Result<WrittenZone, ZoneError> {
    let parts = parts_of(request)?;
    write_parts(target, &*parts, request, &std::env::temp_dir(), watch)
        .map_err(|source| refused(name, source))
}

fn refused(file: &Path, source: io::Error) -> ZoneError {
    ZoneError::Write {
        file: file.to_path_buf(),
        source,
    }
}

fn parts_of(request: &ZoneRequest) -> Result<Box<dyn Parts>, ZoneError> {
    let ZoneRequest {
        origin,
        names,
        seed,
        ..
    } = request;
    let refuse = |why: String| ZoneError::Generate {
        size: format!("{names} names"),
        origin: PresentationName(origin).to_string(),
        why,
    };
    if !(1..=NAMES_MAX).contains(names) {
        return Err(refuse(format!("choose a number from 1 to {NAMES_MAX}")));
    }
    let parts: Result<Box<dyn Parts>, String> = match request.model {
        Model::Tld { signed_share } => {
            tld::Tld::new(origin, *names, *seed, signed_share).map(|made| Box::new(made) as _)
        }
        Model::Enterprise => {
            enterprise::Enterprise::new(origin, *names, *seed).map(|made| Box::new(made) as _)
        }
        Model::Reverse => reverse::new(origin, *names, *seed),
        Model::Flat => flat::Flat::new(origin, *names, *seed).map(|made| Box::new(made) as _),
        Model::Small => return Ok(Box::new(small::Whole::new(origin, *names as usize, *seed)?)),
    };
    parts.map_err(refuse)
}

/// Refuses an origin below which names of `octets` octets more would be too long.
fn check_room(origin: &Name, octets: usize) -> Result<(), String> {
    match origin.len() + octets > 255 {
        true => Err("the names below it would exceed 255 octets, so choose a shorter name".into()),
        false => Ok(()),
    }
}

/// The origin as models write it: in presentation format and lower case.
fn origin_text(origin: &Name) -> Vec<u8> {
    let text = PresentationName(origin).to_string().to_ascii_lowercase();
    text.into_bytes()
}

/// Two name servers of others, in a reserved domain (RFC 6761) that `origin` is not in: whoever is given the zone asks
/// and tells nobody outside.
fn servers_of_others(origin: &Name) -> [&'static str; 2] {
    const EXAMPLE: [&str; 2] = ["ns1.isp.example.", "ns2.isp.example."];
    match Name::bytes_from_str(EXAMPLE[0]).is_ok_and(|server| server.ends_with(origin)) {
        true => ["ns1.isp.test.", "ns2.isp.test."],
        false => EXAMPLE,
    }
}

fn write_parts(
    target: &mut dyn Write,
    parts: &dyn Parts,
    request: &ZoneRequest,
    folder: &Path,
    watch: &Watch,
) -> io::Result<WrittenZone> {
    let mut target = BufWriter::with_capacity(1 << 16, target);
    let mut octets = 0;
    let statistics = match request.order {
        RecordOrder::Canonical => pipeline::run(parts, watch, |lines| {
            octets += lines.len() as u64;
            target.write_all(lines)
        })?,
        RecordOrder::Shuffled => {
            let mut shuffle = Shuffle::new(request, folder)?;
            let statistics = pipeline::run(parts, watch, |lines| {
                octets += lines.len() as u64;
                shuffle.take(lines)
            })?;
            shuffle.write_to(&mut target, watch)?;
            statistics
        }
    };
    target.flush()?;
    Ok(WrittenZone { statistics, octets })
}

//! `traffic partition`: a stream for each piece of a zone, or for each of several generators.

use super::clients::ClientHash;
use super::expression::{Travel, is_below};
use super::pass::{Passed, Select, pass};
use crate::error::TrafficError;
use crate::message::Message;
use crate::read::Reading;
use crate::wire::View;
use dnsrig_zone::compare_names;
use dnsrig_zone::tools::{LabelRanges, Manifest, label_below};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How a stream is cut.
#[derive(Clone, Debug)]
pub enum Partition {
    /// By the label directly below `zone`, as `zone split --by-label-range` cuts the zone.
    Labels {
        /// The zone in wire format, in lower case.
        zone: Box<[u8]>,
        /// The ranges of labels.
        ranges: LabelRanges,
    },
    /// At the names before which `zone split` cut a zone.
    Pieces {
        /// The zone in wire format, in lower case.
        zone: Box<[u8]>,
        /// The first name below the apex of each piece but the first, in canonical order.
        cuts: Vec<Box<[u8]>>,
    },
    /// Into so many parts, each with all queries of its clients.
    Clients(usize),
}

/// What was cut.
#[derive(Clone, Debug, Serialize)]
pub struct Partitioned {
    /// What was read and written.
    #[serde(flatten)]
    pub passed: Passed,
    /// The files, in the order of the pieces.
    #[serde(serialize_with = "crate::paths::all_lossy")]
    pub files: Vec<PathBuf>,
    /// Messages in each.
    pub messages_kept: Vec<u64>,
    /// Messages for the zone's apex, which every piece has: those of a client all go to one piece.
    pub at_apex: u64,
    /// Messages left out because their name is not in the zone, or they have no question.
    pub outside_zone: u64,
    /// Messages left out because their label is in none of the ranges.
    pub in_no_range: u64,
}

impl Partition {
    /// Cuts by label ranges such as `0-9,a-l,m-z` below `zone`.
    ///
    /// # Errors
    /// [`TrafficError::Setting`].
    pub fn by_labels(zone: &str, ranges: &str) -> Result<Self, TrafficError> {
        Ok(Self::Labels {
            zone: wire_name(zone).map_err(setting)?,
            ranges: LabelRanges::read(ranges).map_err(setting)?,
        })
    }

    /// Cuts where `zone split` did, which wrote `manifest`.
    ///
    /// # Errors
    /// [`TrafficError::Zone`], or [`TrafficError::Setting`] for names in it that are none.
    pub fn by_manifest(manifest: &Path) -> Result<Self, TrafficError> {
        let manifest = Manifest::read(manifest)?;
        // A piece without names has the apex alone, and is the only one.
        let firsts = manifest.pieces.iter().skip(1);
        let cuts = firsts
            .filter_map(|piece| piece.first.as_deref())
            .map(wire_name);
        Ok(Self::Pieces {
            zone: wire_name(&manifest.zone).map_err(setting)?,
            cuts: cuts.collect::<Result<_, _>>().map_err(setting)?,
        })
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        match self {
            Self::Labels { ranges, .. } => ranges.len(),
            Self::Pieces { cuts, .. } => cuts.len() + 1,
            Self::Clients(parts) => *parts,
        }
    }

    /// The files that are written beside `prefix`: `prefix.1.pcap` and so on, with as many digits as the last number has.
    pub fn files(&self, prefix: &Path) -> Vec<PathBuf> {
        let parts = self.parts();
        let digits = parts.to_string().len();
        let file = |number: usize| {
            let mut path = prefix.as_os_str().to_os_string();
            path.push(format!(".{number:0digits$}.pcap"));
            PathBuf::from(path)
        };
        (1..=parts).map(file).collect()
    }

    /// The part for a question's `name` below `zone`.
    fn part_of(&self, name: &[u8]) -> Option<usize> {
        match self {
            Self::Labels { zone, ranges } => ranges.find(label_below(name, zone)),
            Self::Pieces { cuts, .. } => {
                Some(cuts.partition_point(|cut| compare_names(cut, name).is_le()))
            }
            Self::Clients(_) => None,
        }
    }

    fn zone(&self) -> Option<&[u8]> {
        match self {
            Self::Labels { zone, .. } | Self::Pieces { zone, .. } => Some(zone),
            Self::Clients(_) => None,
        }
    }
}

fn setting(why: String) -> TrafficError {
    TrafficError::Setting { why }
}

fn wire_name(text: &str) -> Result<Box<[u8]>, String> {
    let name = dnsrig_zone::Name::from_str(text)
        .map_err(|error| format!("'{text}' is not a domain name: {error}"))?;
    Ok(name.as_slice().to_ascii_lowercase().into())
}

/// Writes the messages of the captures into pcap files beside `prefix`, one for each part; every message goes to at most one.
///
/// # Errors
/// Those of [`crate::read::run`], [`TrafficError::NoMessages`] and [`TrafficError::Write`].
pub fn partition(
    reading: &Reading<'_>,
    partition: &Partition,
    prefix: &Path,
) -> Result<Partitioned, TrafficError> {
    let files = partition.files(prefix);
    let cutting = Cutting {
        partition,
        hash: ClientHash::new(0),
    };
    let (passed, mut tally) = pass(reading, &cutting, &files, None)?;
    tally.messages_kept.resize(files.len(), 0);
    Ok(Partitioned {
        passed,
        files,
        messages_kept: tally.messages_kept,
        at_apex: tally.at_apex,
        outside_zone: tally.outside_zone,
        in_no_range: tally.in_no_range,
    })
}

struct Cutting<'p> {
    partition: &'p Partition,
    hash: ClientHash,
}

#[derive(Default)]
struct Tally {
    messages_kept: Vec<u64>,
    at_apex: u64,
    outside_zone: u64,
    in_no_range: u64,
}

impl Cutting<'_> {
    /// One part for all that a client asks.
    fn part_of_client(&self, travel: &Travel) -> usize {
        let parts = self.partition.parts() as u128;
        // The number as a fraction, of so many parts.
        ((u128::from(self.hash.of(travel.client)) * parts) >> 64) as usize
    }

    fn part_of_message(
        &self,
        tally: &mut Tally,
        travel: &Travel,
        view: Option<&View<'_>>,
    ) -> Option<usize> {
        let Some(zone) = self.partition.zone() else {
            return Some(self.part_of_client(travel));
        };
        let name = view
            .and_then(|view| view.question)
            .map(|question| question.name);
        let Some(name) = name.filter(|name| is_below(name, zone)) else {
            tally.outside_zone += 1;
            return None;
        };
        if name.len() == zone.len() {
            tally.at_apex += 1;
            return Some(self.part_of_client(travel));
        }
        let part = self.partition.part_of(name);
        tally.in_no_range += u64::from(part.is_none());
        part
    }
}

impl Select for Cutting<'_> {
    type Tally = Tally;

    fn keeps_segments(&self) -> bool {
        self.partition.zone().is_none()
    }

    fn segment(&self, travel: &Travel) -> Option<usize> {
        Some(self.part_of_client(travel))
    }

    #[inline]
    fn message(
        &self,
        tally: &mut Tally,
        travel: &Travel,
        _message: &Message<'_>,
        view: Option<&View<'_>>,
    ) -> Option<usize> {
        let part = self.part_of_message(tally, travel, view)?;
        if tally.messages_kept.len() <= part {
            tally.messages_kept.resize(part + 1, 0);
        }
        tally.messages_kept[part] += 1;
        Some(part)
    }

    fn add(tally: &mut Tally, other: Tally) {
        let more = other.messages_kept.len().max(tally.messages_kept.len());
        tally.messages_kept.resize(more, 0);
        for (own, other) in tally.messages_kept.iter_mut().zip(other.messages_kept) {
            *own += other;
        }
        tally.at_apex += other.at_apex;
        tally.outside_zone += other.outside_zone;
        tally.in_no_range += other.in_no_range;
    }
}

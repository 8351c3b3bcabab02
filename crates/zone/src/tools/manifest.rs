//! The manifest of a zone's pieces: which there are, and what stands before and behind each.

use crate::error::ZoneError;
use crate::whole_file::write_whole;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The first value of a manifest's text: name and version of the format.
pub const MANIFEST_SCHEMA: &str = "dnsrig-pieces/1";
/// The end of a manifest's file name.
pub const MANIFEST_SUFFIX: &str = "pieces";

/// What [`split`](super::split) tells of the pieces that it made: a JSON object.
///
/// Names are in presentation format, absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// The zone's apex.
    pub zone: String,
    /// The serial of the SOA record.
    pub serial: u32,
    /// The pieces in canonical order.
    pub pieces: Vec<Piece>,
}

/// One piece of a zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// The file; a relative path counts from the manifest's folder.
    pub file: PathBuf,
    /// The first owner below the apex; none in a piece of the apex alone.
    pub first: Option<String>,
    /// The last owner, glue included.
    pub last: Option<String>,
    /// What the NSEC record of the piece's last name names next: the first owner of the next piece, at the end the apex. The
    /// NSEC record of the apex names the first owner of the first piece.
    pub next: String,
    /// Owner names below the apex, those of an NSEC3 chain left out: signing changes nothing in it.
    pub names: u64,
    /// Records, those of the apex included.
    pub records: u64,
    /// RRsets, those of the apex included; RRSIG records form none.
    pub rrsets: u64,
    /// Records below the apex other than RRSIG and NSEC records, those of an NSEC3 chain left out: signing changes nothing
    /// in it.
    pub data_records: u64,
    /// Records of an NSEC3 chain and their signatures, which are among `records`.
    pub nsec3_records: u64,
}

/// How much there is in a piece of what signing does not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// [`Piece::names`].
    pub names: u64,
    /// [`Piece::data_records`].
    pub data_records: u64,
}

impl Piece {
    /// What a piece has to have whether it was signed or not.
    pub(crate) fn content(&self) -> Content {
        Content {
            names: self.names,
            data_records: self.data_records,
        }
    }
}

impl Manifest {
    /// Reads the manifest `path`.
    pub fn read(path: &Path) -> Result<Self, ZoneError> {
        let text = fs::read(path).map_err(|source| ZoneError::Read {
            file: path.to_path_buf(),
            source,
        })?;
        let refuse = |what: String| ZoneError::Pieces {
            file: path.to_path_buf(),
            what,
            hint: "give a manifest that dnsrig zone split wrote".into(),
        };
        let manifest: Self = serde_json::from_slice(&text)
            .map_err(|error| refuse(format!("this is no manifest of pieces: {error}")))?;
        match &manifest {
            Self { schema, .. } if schema != MANIFEST_SCHEMA => {
                Err(refuse(format!("'{schema}' is not '{MANIFEST_SCHEMA}'")))
            }
            Self { pieces, .. } if pieces.is_empty() => Err(refuse("it has no pieces".into())),
            _ => Ok(manifest),
        }
    }

    /// Writes the manifest to `path`.
    pub fn write(&self, path: &Path) -> Result<(), ZoneError> {
        write_whole(path, |target| {
            serde_json::to_writer_pretty(&mut *target, self)?;
            target.write_all(b"\n")
        })
        .map_err(|source| ZoneError::Write {
            file: path.to_path_buf(),
            source,
        })
    }

    /// Where the pieces are, `manifest` being the path of this manifest.
    pub fn files(&self, manifest: &Path) -> Vec<PathBuf> {
        let folder = manifest.parent().unwrap_or(Path::new(""));
        self.pieces
            .iter()
            .map(|piece| folder.join(&piece.file))
            .collect()
    }
}

//! Captures without anything that tells who sent a query: rewritten by a key, and searched for originals before they get
//! their name.
//!
//! Nothing passes as it is because nobody thought of it: every packet is made anew of the DNS messages that were found, and
//! every message of the parts that are known to tell of nobody; addresses are mapped by Crypto-PAn, everything else becomes a
//! pseudonym or zeros. docs/guide/anonymise.md has what becomes of each part.

mod check;
mod counts;
mod cryptopan;
mod encode;
mod finder;
mod key;
mod labels;
mod names;
mod options;
mod output;
mod packets;
mod pieces;
mod prf;
mod rdata;
mod rewrite;
mod seen;
mod sessions;

pub use check::CheckSummary;
pub use counts::{AnonymiseSummary, ContentCounts, MessageCounts, OptionCounts};
pub use cryptopan::{CryptoPan, KEY_LEN};
pub use key::Key;
pub use names::NamePolicy;

use crate::TrafficError;
use crate::read::{Reading, found, run};
use encode::{Encoder, Rules};
use key::KeySet;
use names::KeptSuffixes;
use output::Output;
use rewrite::{InOrder, Rewriting};
use seen::Seen;
use serde::Deserialize;
use std::ops::ControlFlow;
use std::path::Path;

/// How captures are anonymised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnonymiseSettings {
    /// Whether names stay readable.
    pub names: NamePolicy,
    /// Suffixes that stay readable among pseudonyms, beside public ones.
    pub keep: Vec<String>,
}

/// Writes what stands for the captures in `reading` to `path` (`-` is standard output), as pcap with times in nanoseconds and
/// raw IP packets.
///
/// The file is written beside its name, read again and searched for originals, and only then renamed.
///
/// # Errors
/// Those of [`run`], [`TrafficError::Setting`], [`TrafficError::Write`], [`TrafficError::Output`], and
/// [`TrafficError::NotAnonymous`] if an original is in the output; then nothing is left of it.
pub fn anonymise(
    reading: &Reading<'_>,
    key: &Key,
    settings: &AnonymiseSettings,
    path: &Path,
) -> Result<AnonymiseSummary, TrafficError> {
    let suffixes = KeptSuffixes::new(&settings.keep)?;
    let keys = KeySet::new(key);
    let seen = Seen::default();
    let rules = Rules {
        policy: settings.names,
        keys: &keys,
        suffixes: &suffixes,
        seen: &seen,
    };
    let mut output = Output::create(path)?;
    let rewriting = Rewriting::new(&rules, reading.ports);
    let mut in_order = InOrder::new(&rules, reading.ports);
    let mut written = Ok(());
    let (read, workers) = run(reading, &rewriting, |part| {
        written = in_order.part(&part, &mut |octets| output.write(octets));
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    written?;
    let mut summary = in_order.finish(&mut |octets| output.write(octets))?;
    for worker in workers {
        worker.add_to(&mut summary);
    }
    summary.read = read;
    if summary.messages.written == 0 {
        return Err(TrafficError::NoMessages {
            files: names_of(reading),
            found: found(&summary.read.files, summary.left_out.reasons()),
        });
    }
    summary.octets = output.len();
    summary.check = output
        .check(reading, &seen)?
        .map_err(|finding| finding.error(reading, settings.names))?;
    output.publish()?;
    Ok(summary)
}

/// Anonymises messages alone, one by one: for tests and other readers, for which speed is nothing.
pub struct MessageAnonymiser {
    keys: KeySet,
    suffixes: KeptSuffixes,
    policy: NamePolicy,
    seen: Seen,
}

impl MessageAnonymiser {
    /// An anonymiser by `key`.
    pub fn new(key: &Key, policy: NamePolicy) -> Self {
        Self {
            keys: KeySet::new(key),
            suffixes: KeptSuffixes::default(),
            policy,
            seen: Seen::default(),
        }
    }

    /// What stands for `message`, which begins with its ID; `None` if it must be left out.
    pub fn message(&self, message: &[u8]) -> Option<Vec<u8>> {
        let rules = Rules {
            policy: self.policy,
            keys: &self.keys,
            suffixes: &self.suffixes,
            seen: &self.seen,
        };
        let mut output = Vec::new();
        let encoded = Encoder::new(&rules).encode(message, &mut output);
        encoded.ok().map(|()| output)
    }
}

fn names_of(reading: &Reading<'_>) -> String {
    let names: Vec<String> = reading
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;

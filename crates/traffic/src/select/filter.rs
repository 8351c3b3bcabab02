//! `traffic filter`: what an expression holds for.

use super::expression::{Expression, Travel};
use super::pass::{Passed, Select, pass};
use crate::error::TrafficError;
use crate::message::Message;
use crate::read::Reading;
use crate::wire::View;
use serde::Serialize;
use std::path::Path;

/// What was filtered.
#[derive(Clone, Debug, Serialize)]
pub struct Filtered {
    /// What was read and written.
    #[serde(flatten)]
    pub passed: Passed,
    /// Messages for which the expression holds.
    pub messages_kept: u64,
}

/// Writes the packets and messages for which `expression` holds to the pcap file `output`.
///
/// # Errors
/// Those of [`crate::read::run`], [`TrafficError::NoMessages`], [`TrafficError::Write`] and [`TrafficError::Output`].
pub fn filter(
    reading: &Reading<'_>,
    expression: &Expression,
    output: &Path,
) -> Result<Filtered, TrafficError> {
    let (passed, messages_kept) = pass(reading, expression, &[output.to_owned()], None)?;
    Ok(Filtered {
        passed,
        messages_kept,
    })
}

impl Select for Expression {
    /// Messages for which it holds.
    type Tally = u64;

    fn keeps_segments(&self) -> bool {
        self.is_of_ends()
    }

    fn segment(&self, travel: &Travel) -> Option<usize> {
        self.takes_packet(travel).then_some(0)
    }

    #[inline]
    fn message(
        &self,
        kept: &mut u64,
        travel: &Travel,
        _message: &Message<'_>,
        view: Option<&View<'_>>,
    ) -> Option<usize> {
        let is_kept = self.takes(travel, view);
        *kept += u64::from(is_kept);
        is_kept.then_some(0)
    }

    fn add(kept: &mut u64, other: u64) {
        *kept += other;
    }
}

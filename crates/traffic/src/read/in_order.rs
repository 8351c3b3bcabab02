//! The simple way: all DNS messages, one after the other.

use super::{ReadSummary, Reading};
use crate::error::TrafficError;
use crate::message::Message;
use std::ops::ControlFlow;

/// Gives every DNS message of the captures to `sink` in order: of UDP, of TCP and of fragments put together, of dnstap and
/// C-DNS. `sink` ends the reading by breaking.
///
/// Nothing is checked but where messages begin and end: [`crate::wire::View::parse`] tells whether they are whole.
///
/// # Errors
/// Those of [`super::run`].
pub fn messages(
    reading: &Reading<'_>,
    sink: impl FnMut(Message<'_>) -> ControlFlow<()>,
) -> Result<ReadSummary, TrafficError> {
    let _ = (reading, sink);
    unimplemented!()
}

//! Queries kept in memory, in columns.

use super::{AbandonedSession, Sink, Transaction};
use crate::error::TrafficError;
use crate::write::text;
use dnsrig_stream::asked::AskedQueries;
use dnsrig_stream::text::queries::Client;

/// Keeps who asks when for what.
#[derive(Default)]
pub(in super::super) struct Columns {
    asked: AskedQueries,
    line: Vec<u8>,
}

impl Columns {
    /// What it has kept.
    pub fn into_asked(self) -> AskedQueries {
        self.asked
    }
}

impl Sink for Columns {
    fn wants_answers(&self) -> bool {
        false
    }

    fn transaction(&mut self, transaction: &Transaction<'_>) -> Result<(), TrafficError> {
        self.line.clear();
        // By way of a line, so that this and a file hold the same, and lack the same.
        let pushed = text::push_line(transaction.query, None, None, &mut self.line);
        let time_ns = u64::try_from(transaction.time_ns).ok();
        let (Ok(()), Some(time_ns), Ok(line)) = (pushed, time_ns, str::from_utf8(&self.line))
        else {
            return Ok(());
        };
        let client = Client::Address(transaction.client.address);
        Ok(self.asked.push_line(line, time_ns, client)?)
    }

    fn abandoned_session(&mut self, _: &AbandonedSession) -> Result<(), TrafficError> {
        Ok(())
    }
}

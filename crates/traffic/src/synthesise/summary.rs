//! What was made.

use super::clients::{Client, MOST_CLIENTS};
use super::output::Written;
use super::plan::Size;
use super::quotas::{Category, Outcome, Request};
use serde::Serialize;

/// What is in a stream that was synthesised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SynthesisSummary {
    /// Queries: requests with opcode QUERY.
    pub queries: u64,
    /// Requests with other opcodes.
    pub other_requests: u64,
    /// Queries whose answer has another RCODE than NOERROR.
    pub failed: u64,
    /// TCP sessions, those without a query included.
    pub tcp_sessions: u64,
    /// Different clients.
    pub clients: u64,
    /// Questions that clients did not send, as they knew the answer. The rate is that of queries that are sent.
    pub cached: u64,
    /// The mean length of queries, in octets.
    pub query_octets_mean: f64,
    /// The mean rate of queries a second.
    pub rate_qps: f64,
    /// How long the traffic lasts, in seconds.
    pub duration_s: f64,
    /// When it begins, in ns since 1970.
    pub start_ns: i64,
    /// Packets, lines or messages that were written.
    pub items: u64,
    /// Octets that were written, without the file's header.
    pub octets: u64,
    /// Requests that the format cannot hold.
    pub left_out: u64,
}

/// Counts while traffic is made.
#[derive(Debug)]
pub(super) struct Made {
    pub requests: u64,
    queries: u64,
    failed: u64,
    tcp_sessions: u64,
    octets: u64,
    /// A bit for each client.
    seen: Vec<u64>,
    clients: u64,
}

impl Default for Made {
    fn default() -> Self {
        Self {
            requests: 0,
            queries: 0,
            failed: 0,
            tcp_sessions: 0,
            octets: 0,
            seen: vec![0; (MOST_CLIENTS / 64) as usize],
            clients: 0,
        }
    }
}

impl Made {
    /// Counts a request.
    #[inline]
    pub fn count(&mut self, category: &Category, request: &Request, client: Client, octets: usize) {
        self.requests += 1;
        if category.is_query() {
            self.queries += 1;
            self.octets += octets as u64;
            self.failed += u64::from(matches!(category.outcome, Outcome::Failed(_)));
        }
        self.tcp_sessions += u64::from(request.is_tcp) + u64::from(request.has_abandoned_session);
        let (word, bit) = (client.number as usize / 64, 1 << (client.number % 64));
        self.clients += u64::from(self.seen[word] & bit == 0);
        self.seen[word] |= bit;
    }

    /// The summary of a stream of `size`.
    pub fn summary(&self, size: &Size, cached: u64, written: &Written) -> SynthesisSummary {
        SynthesisSummary {
            queries: self.queries,
            other_requests: self.requests - self.queries,
            failed: self.failed,
            tcp_sessions: self.tcp_sessions,
            clients: self.clients,
            cached,
            query_octets_mean: self.octets as f64 / self.queries.max(1) as f64,
            rate_qps: size.rate_qps,
            duration_s: size.duration_s,
            start_ns: size.start_ns,
            items: written.items,
            octets: written.octets,
            left_out: written.left_out,
        }
    }
}

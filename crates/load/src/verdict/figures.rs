//! What the rules look at.

use super::{
    GENERATOR_AT_EASE, QUEUEING, SEND_ERROR_TOLERATED_NS, SERVER_BUSY, SERVER_IDLE, WINDOW_FULL,
};
use crate::config::ScheduleKind;
use crate::refusal::{Refusal, RefusedBy};
use crate::report::LoadReport;
use crate::tally::Connections;
use std::collections::BTreeMap;

/// The figures that the rules look at. Of a load that opens sessions and sends no queries they are those of the sessions:
/// tried, opened, neither opened nor failed by the end, failed; latency is that of the handshakes.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Whether they are of sessions.
    pub are_of_sessions: bool,
    /// Sessions asked for that were not tried; 0 of queries, of which send-time errors tell.
    pub not_tried: u64,
    /// Queries per second that the schedule would have sent if nothing held it back, if it has such a rate.
    pub asked_qps: Option<f64>,
    /// Queries in flight at most, for a closed loop.
    pub window: Option<usize>,
    /// Queries sent.
    pub sent: u64,
    /// Queries answered.
    pub answered: u64,
    /// Queries timed out.
    pub timed_out: u64,
    /// Queries refused, by [`Refusal`].
    pub refusals: [u64; Refusal::ALL.len()],
    /// Share of one CPU used by the busiest generator thread.
    pub generator_cpu_share: f64,
    /// Share of the time in which that thread was ready to run but had no CPU.
    pub generator_run_delay_share: f64,
    /// Share of the time in which nothing could be sent because too many queries were in flight.
    pub full_share: f64,
    /// Share of the window's places that were empty on average, for a closed loop without a rate limit.
    pub empty_share: Option<f64>,
    /// Mean latency in nanoseconds.
    pub latency_mean_ns: u64,
    /// Least latency above zero in nanoseconds.
    pub latency_least_ns: u64,
    /// 99th percentile of the send-time error in nanoseconds.
    pub send_error_p99_ns: u64,
    /// Datagrams dropped at the generator's sockets.
    pub socket_drops: u64,
    /// Datagrams dropped at other sockets of this machine.
    pub udp_drops_elsewhere: u64,
    /// Share of its CPU that the server used, if known.
    pub server_cpu_share: Option<f64>,
}

impl From<&LoadReport> for Figures {
    fn from(report: &LoadReport) -> Self {
        let window = match report.schedule {
            ScheduleKind::ClosedLoop { outstanding, .. } => Some(outstanding),
            _ => None,
        };
        let asked_qps = report.asked_qps;
        // Little's law: places that are empty at a time are the queries sent per second times the mean time empty.
        let empty_places = report.send_error_ns.mean.map_or(0.0, |mean_ns| {
            report.sent as f64 * mean_ns as f64 / 1e9 / report.duration_s.max(1e-9)
        });
        let are_of_sessions = report.is_of_sessions();
        let by_cause = |counts: &BTreeMap<String, u64>| {
            Refusal::ALL.map(|refusal| counts.get(refusal.name()).copied().unwrap_or(0))
        };
        let (answered, timed_out, refusals, latency_ns) = if are_of_sessions {
            let Connections {
                tried,
                opened,
                failed,
                ..
            } = report.connections;
            let pending = tried.saturating_sub(opened + failed);
            let causes = by_cause(&report.session_failures);
            (opened, pending, causes, &report.handshake_ns)
        } else {
            let causes = by_cause(&report.refusals);
            (
                report.answered,
                report.timed_out,
                causes,
                &report.latency_ns,
            )
        };
        Self {
            are_of_sessions,
            not_tried: sessions_not_tried(report),
            asked_qps,
            window,
            sent: report.begun(),
            answered,
            timed_out,
            refusals,
            generator_cpu_share: report.generator.cpu_share,
            generator_run_delay_share: report.generator.run_delay_share,
            full_share: report.generator.blocked_share + report.generator.nap_share,
            empty_share: window
                .filter(|_| asked_qps.is_none())
                .map(|window| empty_places / window as f64),
            latency_mean_ns: latency_ns.mean.unwrap_or(0),
            latency_least_ns: latency_ns.least.unwrap_or(0),
            send_error_p99_ns: report.send_error_ns.p99.unwrap_or(0),
            socket_drops: report.generator.socket_drops,
            udp_drops_elsewhere: report.udp_drops_elsewhere,
            server_cpu_share: report.server_cpu_share,
        }
    }
}

/// The sessions that a rate asked for while they were opened, less those tried.
fn sessions_not_tried(report: &LoadReport) -> u64 {
    let is_open = !matches!(report.schedule, ScheduleKind::ClosedLoop { .. });
    let Some(rate) = report.asked_qps.filter(|_| is_open) else {
        return 0;
    };
    if !report.is_of_sessions() || report.holds_all_sessions() {
        return 0;
    }
    let asked = (rate * report.duration_s) as u64;
    // One more or less is a matter of where the load's time is cut.
    asked.saturating_sub(report.begun() + 1)
}

impl Figures {
    /// What the load was made of.
    pub(super) fn things(&self) -> &'static str {
        if self.are_of_sessions {
            "sessions"
        } else {
            "queries"
        }
    }

    pub(super) fn share(&self, count: u64) -> f64 {
        count as f64 / self.sent.max(1) as f64
    }

    /// Queries refused by whom `by` names.
    pub(super) fn refused_by(&self, by: RefusedBy) -> u64 {
        let of = Refusal::ALL.iter().zip(self.refusals);
        of.filter(|(refusal, _)| refusal.by() == by)
            .map(|(_, count)| count)
            .sum()
    }

    pub(super) fn is_held_back(&self) -> bool {
        self.full_share > WINDOW_FULL
    }

    /// Whether too many queries in flight held sending back, and the generator had time to spare: what was due and not
    /// sent is then not its fault.
    pub fn was_kept_from_sending(&self) -> bool {
        self.is_held_back() && self.generator_busy_share() < GENERATOR_AT_EASE
    }

    /// Share of the time in which the busiest generator thread ran or waited for a CPU.
    pub(super) fn generator_busy_share(&self) -> f64 {
        self.generator_cpu_share + self.generator_run_delay_share
    }

    pub(super) fn is_server_busy(&self) -> bool {
        self.server_cpu_share
            .is_some_and(|share| share >= SERVER_BUSY)
    }

    pub(super) fn is_server_idle(&self) -> bool {
        self.server_cpu_share
            .is_some_and(|share| share < SERVER_IDLE)
    }

    /// Whether queries wait for others most of their time. With as few in flight as it takes to see that, or fewer,
    /// chance varies latency as much.
    pub(super) fn is_queueing(&self) -> bool {
        self.window.is_none_or(|window| window as u64 > QUEUEING)
            && self.latency_least_ns > 0
            && self.latency_mean_ns >= QUEUEING * self.latency_least_ns
    }

    /// The send-time error above which the generator is late: 1 ms, or the spacing of queries where that is longer.
    pub(super) fn send_error_limit_ns(&self) -> u64 {
        let spacing_ns = self.asked_qps.map_or(0, |rate| (1e9 / rate) as u64);
        spacing_ns.max(SEND_ERROR_TOLERATED_NS)
    }
}

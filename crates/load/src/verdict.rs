//! Who was the bottleneck: a judgement by fixed rules over measured figures.

use crate::config::ScheduleKind;
use crate::refusal::{Refusal, RefusedBy};
use crate::report::LoadReport;
use crate::tally::Connections;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A generator thread that runs or waits for a CPU for this share of the time has none to spare.
pub(crate) const GENERATOR_BUSY: f64 = 0.95;

/// A generator thread below this share has time enough not to be what limits a load.
const GENERATOR_AT_EASE: f64 = 0.8;

/// A server above this share of its CPU has none to spare.
const SERVER_BUSY: f64 = 0.9;

/// A server below this share of its CPU is not what limits a load.
const SERVER_IDLE: f64 = 0.5;

/// Shares of queries lost or refused up to this one are no trouble.
pub(crate) const LOSS_TOLERATED: f64 = 0.001;

/// Send-time errors up to this one are no trouble at any rate, in nanoseconds.
const SEND_ERROR_TOLERATED_NS: u64 = 1_000_000;

/// A window that is full for this share of the time is what holds sending back.
pub(crate) const WINDOW_FULL: f64 = 0.02;

/// With this share of a window's places empty on average, it is not the window that holds sending back.
const WINDOW_EMPTY: f64 = 0.5;

/// A mean latency of so many times the least one is mostly waiting for other queries.
const QUEUEING: u64 = 3;

/// What limited a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bottleneck {
    /// The server: the figures are its own.
    Server,
    /// The generator: the server could have done more.
    Generator,
    /// What lies between: refusals, losses that neither end explains.
    Path,
    /// Nothing: the asked rate was met.
    None,
    /// The figures do not tell.
    Unknown,
}

/// A bottleneck and the figures that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What limited the load.
    pub bottleneck: Bottleneck,
    /// Sentences with figures, the decisive one first.
    pub evidence: Vec<String>,
}

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
    fn things(&self) -> &'static str {
        if self.are_of_sessions {
            "sessions"
        } else {
            "queries"
        }
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.sent.max(1) as f64
    }

    /// Queries refused by whom `by` names.
    fn refused_by(&self, by: RefusedBy) -> u64 {
        let of = Refusal::ALL.iter().zip(self.refusals);
        of.filter(|(refusal, _)| refusal.by() == by)
            .map(|(_, count)| count)
            .sum()
    }

    fn is_held_back(&self) -> bool {
        self.full_share > WINDOW_FULL
    }

    /// Whether too many queries in flight held sending back, and the generator had time to spare: what was due and not
    /// sent is then not its fault.
    pub fn was_kept_from_sending(&self) -> bool {
        self.is_held_back() && self.generator_busy_share() < GENERATOR_AT_EASE
    }

    /// Share of the time in which the busiest generator thread ran or waited for a CPU.
    fn generator_busy_share(&self) -> f64 {
        self.generator_cpu_share + self.generator_run_delay_share
    }

    fn is_server_busy(&self) -> bool {
        self.server_cpu_share
            .is_some_and(|share| share >= SERVER_BUSY)
    }

    fn is_server_idle(&self) -> bool {
        self.server_cpu_share
            .is_some_and(|share| share < SERVER_IDLE)
    }

    /// Whether queries wait for others most of their time. With as few in flight as it takes to see that, or fewer,
    /// chance varies latency as much.
    fn is_queueing(&self) -> bool {
        self.window.is_none_or(|window| window as u64 > QUEUEING)
            && self.latency_least_ns > 0
            && self.latency_mean_ns >= QUEUEING * self.latency_least_ns
    }

    /// The send-time error above which the generator is late: 1 ms, or the spacing of queries where that is longer.
    fn send_error_limit_ns(&self) -> u64 {
        let spacing_ns = self.asked_qps.map_or(0, |rate| (1e9 / rate) as u64);
        spacing_ns.max(SEND_ERROR_TOLERATED_NS)
    }
}

/// Names the bottleneck. The first rule that applies decides:
///
/// 1. *generator*: a thread ran, or waited for a CPU that other programs had, for 95 % of the time or more; or more than 0.1 % of the
///    queries' answers were dropped at its own sockets; or nothing held it back, and yet its send-time error is above 1 ms (and above
///    the spacing of queries) at p99, or half of the places of a closed loop without a rate limit were empty;
/// 2. more than 0.1 % of the queries were refused: whose doing most of that was by [`Refusal::by`], *server*, *path*, *generator*, or *unknown*;
/// 3. more than 0.1 % of the queries timed out. *server*, if it used 90 % of its CPU or more, or if sockets other than the generator's
///    on this machine had no room for at least half as many datagrams and it is not known to be idle; *path*, if it used less than
///    50 % of its CPU and no socket of this machine lacked room; otherwise *unknown*;
/// 4. *server*: it used 90 % of its CPU or more, and there was no asked rate to meet, or too many queries in flight held sending back;
/// 5. too many queries in flight held sending back. *server*, if queries waited for others for most of their latency (its mean is three times
///    the least or more), the server is not known to use less than 50 % of its CPU, and the generator was busy for less than 80 % of the
///    time; otherwise *unknown*, since more queries in flight would have shown more;
/// 6. *none*: a rate was asked for and met.
pub fn judge(figures: &Figures) -> Verdict {
    let rules = [generator, refusals, losses, busy_server, window, rate_met];
    let (bottleneck, mut evidence) = rules.iter().find_map(|rule| rule(figures)).unwrap_or((
        Bottleneck::Unknown,
        vec!["nothing that was measured explains the rate".to_owned()],
    ));
    evidence.extend(background(figures));
    Verdict {
        bottleneck,
        evidence,
    }
}

type Finding = Option<(Bottleneck, Vec<String>)>;

fn generator(figures: &Figures) -> Finding {
    let mut evidence = Vec::new();
    if figures.generator_cpu_share >= GENERATOR_BUSY {
        evidence.push(format!(
            "a generator thread used {} of its CPU",
            percent(figures.generator_cpu_share)
        ));
    } else if figures.generator_busy_share() >= GENERATOR_BUSY {
        evidence.push(format!(
            "a generator thread was starved of CPU by other programs: it ran for {} of the time and waited for a CPU for {}",
            percent(figures.generator_cpu_share),
            percent(figures.generator_run_delay_share)
        ));
    }
    if figures.share(figures.socket_drops) > LOSS_TOLERATED {
        evidence.push(format!(
            "{} answers were dropped at the generator's own sockets",
            figures.socket_drops
        ));
    }
    if !figures.is_held_back() {
        evidence.extend(late_sending(figures));
    }
    (!evidence.is_empty()).then_some((Bottleneck::Generator, evidence))
}

fn late_sending(figures: &Figures) -> Option<String> {
    if let (Some(empty_share), Some(window)) = (figures.empty_share, figures.window) {
        return (empty_share > WINDOW_EMPTY).then(|| {
            let empty = percent(empty_share);
            format!("the generator did not fill the window of {window}: {empty} of its places were empty on average")
        });
    }
    (figures.send_error_p99_ns > figures.send_error_limit_ns()).then(|| {
        format!(
            "1 % of the queries were sent {} or more after their scheduled time, with free places in flight",
            milliseconds(figures.send_error_p99_ns)
        )
    })
}

fn refusals(figures: &Figures) -> Finding {
    let refused: u64 = figures.refusals.iter().sum();
    let share = figures.share(refused);
    if share <= LOSS_TOLERATED {
        return None;
    }
    let causes = Refusal::ALL.into_iter().zip(figures.refusals);
    let (cause, most) = causes.max_by_key(|(_, count)| *count)?;
    let parties = [
        (RefusedBy::Unclear, Bottleneck::Unknown),
        (RefusedBy::Generator, Bottleneck::Generator),
        (RefusedBy::Path, Bottleneck::Path),
        (RefusedBy::Server, Bottleneck::Server),
    ];
    let (_, bottleneck) = parties
        .into_iter()
        .max_by_key(|(by, _)| figures.refused_by(*by))?;
    let (things, ended) = if figures.are_of_sessions {
        ("sessions", "failed")
    } else {
        ("queries", "were refused")
    };
    let sentence = format!(
        "{refused} of {} {things} ({}) {ended}, {most} of them as {}: {}",
        figures.sent,
        percent(share),
        cause.name(),
        cause.meaning(),
    );
    let mut evidence = vec![sentence];
    evidence.extend(closed_by_places(figures));
    Some((bottleneck, evidence))
}

fn losses(figures: &Figures) -> Finding {
    let share = figures.share(figures.timed_out);
    if share <= LOSS_TOLERATED {
        return None;
    }
    let ended = if figures.are_of_sessions {
        "were neither open nor failed at the end"
    } else {
        "timed out"
    };
    let mut evidence = vec![format!(
        "{} of {} {} ({}) {ended}",
        figures.timed_out,
        figures.sent,
        figures.things(),
        percent(share)
    )];
    let overflow =
        figures.udp_drops_elsewhere >= figures.timed_out / 2 && figures.udp_drops_elsewhere > 0;
    let bottleneck = if figures.is_server_busy() || (overflow && !figures.is_server_idle()) {
        Bottleneck::Server
    } else if overflow {
        evidence.push(
            "sockets of this machine overflowed although the server had CPU to spare: one of its threads may have been busy, \
             its buffers small, or the sockets those of another program"
                .to_owned(),
        );
        Bottleneck::Unknown
    } else if figures.is_server_idle() {
        evidence.push(
            "the server had CPU to spare: rate limiting, its queues, or loss on the way".to_owned(),
        );
        Bottleneck::Path
    } else {
        evidence.push(
            "rate limiting, a server that stopped, and loss on the way look the same from here"
                .to_owned(),
        );
        Bottleneck::Unknown
    };
    evidence.extend(closed_by_places(figures));
    Some((bottleneck, evidence))
}

fn busy_server(figures: &Figures) -> Finding {
    let limits = figures.asked_qps.is_none() || figures.is_held_back();
    let server = figures
        .server_cpu_share
        .filter(|_| figures.is_server_busy() && limits)?;
    let sentence = format!(
        "the server used {} of its CPU, the busiest generator thread {}",
        percent(server),
        percent(figures.generator_cpu_share)
    );
    Some((Bottleneck::Server, vec![sentence]))
}

fn window(figures: &Figures) -> Finding {
    if !figures.is_held_back() {
        return None;
    }
    let mut evidence = vec![format!(
        "{}, while the busiest generator thread used {} of its CPU; {} {} in the mean and {} at least",
        full_places(figures),
        percent(figures.generator_cpu_share),
        if figures.are_of_sessions {
            "a handshake took"
        } else {
            "latency was"
        },
        milliseconds(figures.latency_mean_ns),
        milliseconds(figures.latency_least_ns)
    )];
    let things = figures.things();
    let more = if figures.are_of_sessions {
        "more sessions at a time would show more"
    } else {
        "more queries in flight would show more"
    };
    let doubt = if figures.is_server_idle() {
        format!("the server had CPU to spare too: {more}")
    } else if !figures.is_queueing() {
        format!("the window is full of waiting time: {more}")
    } else if figures.generator_busy_share() >= GENERATOR_AT_EASE {
        format!("{things} waited for others, but the generator had little time to spare either")
    } else {
        evidence.push(format!(
            "{things} waited for others for most of their latency"
        ));
        return Some((Bottleneck::Server, evidence));
    };
    evidence.push(doubt);
    Some((Bottleneck::Unknown, evidence))
}

/// That queries which were due had to wait for the end of others, in a schedule that does not go by those.
fn closed_by_places(figures: &Figures) -> Option<String> {
    (figures.window.is_none() && figures.is_held_back()).then(|| {
        format!(
            "{}: what was due then was sent late, or not at all",
            full_places(figures)
        )
    })
}

/// How often nothing could be sent, and why.
fn full_places(figures: &Figures) -> String {
    let share = percent(figures.full_share);
    match figures.window {
        Some(window) => format!("the window of {window} was full for {share} of the time"),
        None if figures.are_of_sessions => {
            format!("all clients were busy opening sessions for {share} of the time")
        }
        None => format!("all places in flight were full for {share} of the time"),
    }
}

fn rate_met(figures: &Figures) -> Finding {
    let rate = figures.asked_qps?;
    let rate = (rate * 1e3).round() / 1e3;
    let Figures { answered, sent, .. } = figures;
    if figures.not_tried as f64 > LOSS_TOLERATED * (sent + figures.not_tried) as f64 {
        let sentence = format!(
            "of the {rate} sessions per second asked for, {} were not tried; {answered} of {sent} were opened",
            figures.not_tried
        );
        return Some((Bottleneck::Unknown, vec![sentence]));
    }
    let sentence = if figures.are_of_sessions {
        format!(
            "{rate} sessions per second were asked for and tried; {answered} of {sent} were opened"
        )
    } else {
        format!(
            "{rate} queries per second were asked for and sent; {answered} of {sent} were answered"
        )
    };
    (*answered > 0).then_some((Bottleneck::None, vec![sentence]))
}

/// What a reader wants to see beside any verdict.
fn background(figures: &Figures) -> Vec<String> {
    let mut evidence = Vec::new();
    if let Some(server) = figures.server_cpu_share {
        evidence.push(format!(
            "the server used {} of the CPU it could use",
            percent(server)
        ));
    }
    if figures.udp_drops_elsewhere > 0 {
        evidence.push(format!(
            "sockets of this machine other than the generator's had no room for {} datagrams",
            figures.udp_drops_elsewhere
        ));
    }
    if figures.socket_drops > 0 {
        evidence.push(format!(
            "the generator's own sockets dropped {} datagrams",
            figures.socket_drops
        ));
    }
    evidence
}

pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 10.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.2} %")
    }
}

pub(crate) fn milliseconds(span_ns: u64) -> String {
    format!("{:.2} ms", span_ns as f64 / 1e6)
}

#[cfg(test)]
mod tests;

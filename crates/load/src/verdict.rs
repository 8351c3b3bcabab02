//! Who was the bottleneck: a judgement by fixed rules over measured figures.

mod figures;

pub use figures::Figures;

use crate::refusal::{Refusal, RefusedBy};
use serde::{Deserialize, Serialize};

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
/// 6. *none*: a rate was asked for and met; *unknown*, if more than 0.1 % of the sessions that it asked for were not tried.
///
/// Of a load that opens sessions only, "queries" are its sessions: see [`Figures`].
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

//! Who was the bottleneck: a judgement by fixed rules over measured figures.

use crate::config::ScheduleKind;
use crate::report::LoadReport;
use serde::{Deserialize, Serialize};

/// A generator thread above this share of a CPU has none to spare.
const GENERATOR_BUSY: f64 = 0.95;

/// A server above this share of its CPU has none to spare.
const SERVER_BUSY: f64 = 0.9;

/// A server below this share of its CPU is not what limits a load.
const SERVER_IDLE: f64 = 0.5;

/// Shares of queries lost or refused up to this one are no trouble.
const LOSS_TOLERATED: f64 = 0.001;

/// Send-time errors up to this one are no trouble at any rate, in nanoseconds.
const SEND_ERROR_TOLERATED_NS: u64 = 1_000_000;

/// A window that is full for this share of the time is what holds sending back.
const WINDOW_FULL: f64 = 0.02;

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

/// The figures that the rules look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
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
    /// Queries refused by the transport.
    pub refused: u64,
    /// Share of one CPU used by the busiest generator thread.
    pub generator_cpu_share: f64,
    /// Share of the time in which sending was held back by too many queries in flight.
    pub blocked_share: f64,
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
        let (window, asked_qps) = match report.schedule {
            ScheduleKind::ClosedLoop {
                outstanding,
                max_rate_qps,
            } => (Some(outstanding), max_rate_qps),
            ScheduleKind::FixedRate { rate_qps } => (None, Some(rate_qps)),
        };
        Self {
            asked_qps,
            window,
            sent: report.sent,
            answered: report.answered,
            timed_out: report.timed_out,
            refused: report.refused,
            generator_cpu_share: report.generator.cpu_share,
            blocked_share: report.generator.blocked_share,
            send_error_p99_ns: report.send_error_ns.p99.unwrap_or(0),
            socket_drops: report.generator.socket_drops,
            udp_drops_elsewhere: report.udp_drops_elsewhere,
            server_cpu_share: report.server_cpu_share,
        }
    }
}

impl Figures {
    fn share(&self, count: u64) -> f64 {
        count as f64 / self.sent.max(1) as f64
    }

    fn is_held_back(&self) -> bool {
        self.blocked_share > WINDOW_FULL
    }

    /// The send-time error above which the generator is late: 1 ms, or the spacing of queries where that is longer.
    fn send_error_limit_ns(&self) -> u64 {
        let spacing_ns = self.asked_qps.map_or(0, |rate| (1e9 / rate) as u64);
        spacing_ns.max(SEND_ERROR_TOLERATED_NS)
    }
}

/// Names the bottleneck. The first rule that applies decides:
///
/// 1. *generator*: a thread used 95 % of a CPU or more; or more than 0.1 % of the queries' answers were dropped at its own sockets; or
///    its send-time error is above 1 ms (and above the spacing of queries) at p99 although nothing held it back;
/// 2. *path*: more than 0.1 % of the queries were refused by ICMP, the kernel or a lost connection;
/// 3. more than 0.1 % of the queries timed out. *server*, if it used 90 % of its CPU or more, or if sockets other than the generator's
///    on this machine had no room for at least half as many datagrams and it is not known to be idle; *path*, if it used less than
///    50 % of its CPU; otherwise *unknown*;
/// 4. too many queries in flight held sending back. *server*, unless it used less than 50 % of its CPU: then *unknown*,
///    since a wider window would have shown more;
/// 5. *none*: a rate was asked for and met.
pub fn judge(figures: &Figures) -> Verdict {
    let rules = [generator, path, losses, window, rate_met];
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
    }
    if figures.share(figures.socket_drops) > LOSS_TOLERATED {
        evidence.push(format!(
            "{} answers were dropped at the generator's own sockets",
            figures.socket_drops
        ));
    }
    if figures.send_error_p99_ns > figures.send_error_limit_ns() && !figures.is_held_back() {
        evidence.push(format!(
            "1 % of the queries were sent {} or more after their scheduled time, with free places in flight",
            milliseconds(figures.send_error_p99_ns)
        ));
    }
    (!evidence.is_empty()).then_some((Bottleneck::Generator, evidence))
}

fn path(figures: &Figures) -> Finding {
    let share = figures.share(figures.refused);
    (share > LOSS_TOLERATED).then(|| {
        let sentence = format!(
            "{} of {} queries ({}) were refused on the way: ICMP errors, failed sends or lost connections",
            figures.refused,
            figures.sent,
            percent(share)
        );
        (Bottleneck::Path, vec![sentence])
    })
}

fn losses(figures: &Figures) -> Finding {
    let share = figures.share(figures.timed_out);
    if share <= LOSS_TOLERATED {
        return None;
    }
    let mut evidence = vec![format!(
        "{} of {} queries ({}) timed out",
        figures.timed_out,
        figures.sent,
        percent(share)
    )];
    let overflow =
        figures.udp_drops_elsewhere >= figures.timed_out / 2 && figures.udp_drops_elsewhere > 0;
    let bottleneck = match figures.server_cpu_share {
        Some(server) if server >= SERVER_BUSY => Bottleneck::Server,
        Some(server) if server < SERVER_IDLE => {
            evidence.push(
                "the server had CPU to spare: rate limiting, its queues, or loss on the way"
                    .to_owned(),
            );
            Bottleneck::Path
        }
        _ if overflow => Bottleneck::Server,
        _ => {
            evidence.push(
                "rate limiting, a server that stopped, and loss on the way look the same from here"
                    .to_owned(),
            );
            Bottleneck::Unknown
        }
    };
    Some((bottleneck, evidence))
}

fn window(figures: &Figures) -> Finding {
    if !figures.is_held_back() {
        return None;
    }
    let places = figures
        .window
        .map_or("all places in flight".to_owned(), |window| {
            format!("the window of {window}")
        });
    let mut evidence = vec![format!(
        "{places} was full for {} of the time, while the busiest generator thread used {} of its CPU",
        percent(figures.blocked_share),
        percent(figures.generator_cpu_share)
    )];
    if figures
        .server_cpu_share
        .is_some_and(|server| server < SERVER_IDLE)
    {
        evidence.push(
            "the server had CPU to spare too: more queries in flight would show more".to_owned(),
        );
        return Some((Bottleneck::Unknown, evidence));
    }
    Some((Bottleneck::Server, evidence))
}

fn rate_met(figures: &Figures) -> Finding {
    let rate = figures.asked_qps?;
    (figures.answered > 0).then(|| {
        let sentence = format!(
            "{rate} queries per second were asked for and sent; {} of {} were answered",
            figures.answered, figures.sent
        );
        (Bottleneck::None, vec![sentence])
    })
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

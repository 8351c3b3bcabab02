//! From counts and outcomes to a report.

use crate::account::AnswerTime;
use crate::answer::Malformed;
use crate::collector::{Collector, rcodes, seconds, sum};
use crate::config::{LoadConfig, ScheduleKind, TransportKind};
use crate::dress::{CookieCheck, TsigCheck};
use crate::engine::Outcome;
use crate::histogram;
use crate::plan::clients_for_open_loop;
use crate::refusal::Refusal;
use crate::report::{Bytes, Distribution, Generator, LoadReport, TransportReport};
use crate::stop::Stopped;
use crate::tally::{Tally, empty_histogram};
use crate::transport::Wire;
use crate::verdict::{
    Bottleneck, GENERATOR_BUSY, LOSS_TOLERATED, WINDOW_FULL, milliseconds, percent,
};
use dnsrig_stream::QueryStream;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// Measuring periods shorter than this say little.
const SHORT_S: f64 = 1.0;

/// All that is known when a load has ended.
pub struct Whole {
    /// When it began.
    pub start_ns: u64,
    /// The same in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// What the threads counted.
    pub collector: Collector,
    /// How each thread's load went.
    pub outcomes: Vec<Outcome>,
    /// Clients of each route over all threads.
    pub clients: Vec<usize>,
    /// What the kernel dropped at all UDP sockets, the generator's among them.
    pub udp_drops: u64,
    /// Memory that the process took more at the end than before its clients were opened.
    pub memory_bytes: Option<u64>,
}

/// Makes the report of a load.
pub fn summarise(config: &LoadConfig, stream: &QueryStream, whole: Whole) -> LoadReport {
    let Whole {
        start_ns,
        start_unix_ns,
        collector,
        outcomes,
        clients,
        udp_drops,
        memory_bytes,
    } = whole;
    let outcomes = outcomes.as_slice();
    let client_count: usize = clients.iter().sum();
    let Tally {
        counts,
        latency,
        timed_out,
        send_error,
        handshake,
    } = sum(&collector.totals);
    let (answered_measured, measured_until_ns) = measuring_period(outcomes, &collector.totals);
    let duration_s = seconds(measured_until_ns.saturating_sub(start_ns));
    let per_second = |count: u64| {
        if duration_s > 0.0 {
            count as f64 / duration_s
        } else {
            0.0
        }
    };
    let generator = Generator {
        clients: client_count,
        memory_bytes_per_client: memory_bytes
            .map(|octets| octets as f64 / client_count.max(1) as f64),
        ..generator(start_ns, outcomes, counts.answered)
    };
    let mean = |sum: u64, count: u64| (count > 0).then(|| sum as f64 / count as f64);
    let mut with_timeouts = latency.clone();
    with_timeouts
        .add(&timed_out)
        .expect("all tallies have histograms of the same range");
    let last = |at_ns: fn(&Outcome) -> u64| outcomes.iter().map(at_ns).max().unwrap_or(start_ns);
    let stopped_ns = last(|outcome| outcome.stopped_ns);
    let ended_ns = last(|outcome| outcome.ended_ns);
    let wires = wires(outcomes, clients.len());
    let mut report = LoadReport {
        server: config.routes[0].server.to_string(),
        transport: config.routes[0].transport,
        schedule: config.schedule.clone(),
        start_unix_ns,
        asked_qps: asked_qps(config, stream, stopped_ns.saturating_sub(start_ns)),
        sent: counts.sent,
        answered: counts.answered,
        timed_out: counts.timed_out,
        refused: counts.refused(),
        abandoned: counts.abandoned,
        refusals: by_name(Refusal::ALL.map(Refusal::name), &counts.refused),
        http_statuses: counts.http_statuses.clone(),
        unmatched: counts.unmatched,
        late: counts.late,
        malformed: counts.malformed(),
        malformations: by_name(Malformed::ALL.map(Malformed::name), &counts.malformed),
        qps: per_second(answered_measured.iter().sum()),
        duration_s,
        drain_s: seconds(ended_ns.saturating_sub(stopped_ns)),
        rcodes: rcodes(&counts),
        truncated: counts.truncated,
        latency_ns: Distribution::from(&latency),
        latency_with_timeouts_ns: Distribution::from(&with_timeouts),
        send_error_ns: Distribution::from(&send_error),
        moved_to_tcp: counts.moved,
        transports: Vec::new(),
        case_changed: counts.case_changed,
        cookies: if config.dress.cookies {
            by_name(CookieCheck::ALL.map(CookieCheck::name), &counts.cookies)
        } else {
            BTreeMap::new()
        },
        tsig: if config.dress.tsig.is_some() {
            by_name(TsigCheck::ALL.map(TsigCheck::name), &counts.tsig)
        } else {
            BTreeMap::new()
        },
        breaking_point: None,
        bytes: Bytes {
            sent: counts.bytes_sent,
            received: counts.bytes_received,
        },
        query_bytes_mean: mean(counts.bytes_sent, counts.sent + counts.moved),
        response_bytes_mean: mean(counts.answer_bytes, counts.answered),
        generator,
        connections: counts.connections,
        sessions_held: config.hold_sessions.then(|| counts.connections.open()),
        session_failures: if counts.connections.failed > 0 {
            by_name(Refusal::ALL.map(Refusal::name), &counts.session_failures)
        } else {
            BTreeMap::new()
        },
        handshake_ns: Distribution::from(&handshake),
        wire: wires.iter().fold(Wire::default(), |mut sum, wire| {
            sum += *wire;
            sum
        }),
        udp_drops_elsewhere: udp_drops.saturating_sub(generator.socket_drops),
        server_cpu_share: None,
        bottleneck: Bottleneck::Unknown,
        evidence: Vec::new(),
        tainted: Vec::new(),
        intervals_left_out: collector.left_out,
        intervals: Vec::new(),
        latency_histogram: histogram::encode(&latency),
    };
    if clients.len() > 1 {
        report.transports = route_reports(config, &collector.totals, &clients, &wires);
        for (route, answered) in report.transports.iter_mut().zip(answered_measured) {
            route.qps = per_second(answered);
        }
    }
    report.intervals = collector.into_intervals();
    report.judge(None);
    report.tainted = taints(
        &report,
        config,
        outcomes,
        seconds(stopped_ns.saturating_sub(start_ns)),
    );
    report
}

/// The distribution of what each thread has a histogram of.
fn together<'a>(histograms: impl Iterator<Item = &'a Histogram<u64>>) -> Distribution {
    let mut sum = empty_histogram();
    for histogram in histograms {
        sum += histogram;
    }
    Distribution::from(&sum)
}

/// What crossed the wire over each route.
fn wires(outcomes: &[Outcome], routes: usize) -> Vec<Wire> {
    let mut wires = vec![Wire::default(); routes];
    for outcome in outcomes {
        for (sum, transport) in wires.iter_mut().zip(&outcome.transports) {
            *sum += transport.wire;
        }
    }
    wires
}

/// The figures of each route, but for its rate; those of the TCP fallback come last.
fn route_reports(
    config: &LoadConfig,
    totals: &[Tally],
    clients: &[usize],
    wires: &[Wire],
) -> Vec<TransportReport> {
    let weights: f64 = config.routes.iter().map(|route| route.weight).sum();
    let udp_server = config
        .routes
        .iter()
        .find(|route| route.transport == TransportKind::Udp);
    let report = |(number, tally): (usize, &Tally)| {
        let route = config.routes.get(number);
        let counts = &tally.counts;
        TransportReport {
            transport: route.map_or(TransportKind::Tcp, |route| route.transport),
            server: route
                .or(udp_server)
                .map(|route| route.server.to_string())
                .unwrap_or_default(),
            weight: route.map_or(0.0, |route| route.weight / weights),
            sent: counts.sent,
            answered: counts.answered,
            timed_out: counts.timed_out,
            refused: counts.refused(),
            abandoned: counts.abandoned,
            moved: counts.moved,
            refusals: by_name(Refusal::ALL.map(Refusal::name), &counts.refused),
            unmatched: counts.unmatched,
            late: counts.late,
            malformed: counts.malformed(),
            malformations: by_name(Malformed::ALL.map(Malformed::name), &counts.malformed),
            truncated: counts.truncated,
            qps: 0.0,
            rcodes: rcodes(counts),
            latency_ns: Distribution::from(&tally.latency),
            send_error_ns: Distribution::from(&tally.send_error),
            handshake_ns: Distribution::from(&tally.handshake),
            bytes: Bytes {
                sent: counts.bytes_sent,
                received: counts.bytes_received,
            },
            wire: wires[number],
            connections: counts.connections,
            clients: clients[number],
            latency_histogram: histogram::encode(&tally.latency),
        }
    };
    totals.iter().enumerate().map(report).collect()
}

/// The rate that the schedule asked for while queries were sent.
fn asked_qps(config: &LoadConfig, stream: &QueryStream, sending_ns: u64) -> Option<f64> {
    if let ScheduleKind::ClosedLoop { max_rate_qps, .. } = config.schedule {
        return max_rate_qps;
    }
    let asked = config.schedule.asked_queries(stream, sending_ns)?;
    (sending_ns > 0).then(|| asked / seconds(sending_ns))
}

/// Queries of each route that were answered in the measuring period, and its end.
///
/// It ends when sending stops, since then the load is no longer that of the schedule. Where all queries are used up, it
/// ends with the last answer if that comes later: a short load may have sent everything before the first answer came.
/// Where threads stop one after the other, it ends with the last of them, and holds the answers that the others got until then.
fn measuring_period(outcomes: &[Outcome], totals: &[Tally]) -> (Vec<u64>, u64) {
    let used_up = outcomes
        .iter()
        .all(|outcome| outcome.stopped == Stopped::Exhausted);
    let end = |outcome: &Outcome| {
        if used_up {
            outcome.last_answer_ns.max(outcome.stopped_ns)
        } else {
            outcome.stopped_ns
        }
    };
    let end_ns = outcomes.iter().map(end).max().unwrap_or(0);
    let mut answered: Vec<u64> = totals.iter().map(|tally| tally.counts.answered).collect();
    if !used_up {
        answered.fill(0);
        for outcome in outcomes {
            for (sum, count) in answered.iter_mut().zip(&outcome.answered_before_stop) {
                *sum += count;
            }
            let in_time = |answer: &&AnswerTime| answer.at_ns < end_ns;
            for answer in outcome.answers_after_stop.iter().filter(in_time) {
                answered[answer.route] += 1;
            }
        }
    }
    (answered, end_ns)
}

fn generator(start_ns: u64, outcomes: &[Outcome], answered: u64) -> Generator {
    let cpu_ns: u64 = outcomes.iter().map(|outcome| outcome.cpu_ns).sum();
    // One span for all: a thread that is done early is idle for the rest of the load.
    let stopped = outcomes.iter().map(|outcome| outcome.stopped_ns);
    let sending_ns = stopped.max().unwrap_or(0).saturating_sub(start_ns).max(1);
    let share = |span_ns: u64| span_ns as f64 / sending_ns as f64;
    let had_nothing =
        |outcome: &&Outcome| outcome.stopped == Stopped::Exhausted && outcome.sent == 0;
    let working = || outcomes.iter().filter(|outcome| !had_nothing(outcome));
    let mean_share = |span_ns: fn(&Outcome) -> u64| {
        let shares = working().map(|outcome| share(span_ns(outcome)));
        shares.sum::<f64>() / working().count().max(1) as f64
    };
    let (cpu_share, run_delay_share) = working()
        .map(|outcome| {
            let cpu_share = share(outcome.sending_cpu_ns);
            // The kernel's counter is read when the load has ended: a thread may have waited between, too.
            let waited = share(outcome.sending_run_delay_ns);
            (cpu_share, waited.min((1.0 - cpu_share).max(0.0)))
        })
        .max_by(|one, other| (one.0 + one.1).total_cmp(&(other.0 + other.1)))
        .unwrap_or_default();
    Generator {
        cpu_us_per_query: (answered > 0).then(|| cpu_ns as f64 / 1e3 / answered as f64),
        cpu_share,
        run_delay_share,
        blocked_share: mean_share(|outcome| outcome.blocked_ns),
        nap_share: mean_share(|outcome| outcome.napped_ns),
        socket_drops: outcomes
            .iter()
            .flat_map(|outcome| &outcome.transports)
            .map(|transport| transport.socket_drops)
            .sum(),
        threads: outcomes.len(),
        wake_up_ns: together(outcomes.iter().map(|outcome| &outcome.wake_up_ns)),
        wake_up_in_load_ns: together(outcomes.iter().map(|outcome| &outcome.wake_up_in_load_ns)),
        memory_bytes_per_client: None,
        clients: 0,
    }
}

/// Counts by the names of what they count.
fn by_name<const N: usize>(names: [&str; N], counts: &[u64; N]) -> BTreeMap<String, u64> {
    names
        .into_iter()
        .map(str::to_owned)
        .zip(counts.iter().copied())
        .collect()
}

/// Why the figures may mislead.
fn taints(
    report: &LoadReport,
    config: &LoadConfig,
    outcomes: &[Outcome],
    sending_s: f64,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let share = |count: u64| count as f64 / report.sent.max(1) as f64;
    if outcomes
        .iter()
        .any(|outcome| outcome.stopped == Stopped::Cancelled)
    {
        reasons.push("the load was cancelled before its end".to_owned());
    } else if report.duration_s < SHORT_S {
        reasons.push(format!(
            "the measuring period lasted only {:.3} s",
            report.duration_s
        ));
    }
    if report.generator.cpu_share >= GENERATOR_BUSY {
        reasons.push(format!(
            "the generator used {} of its CPU: the server may be faster than the figures",
            percent(report.generator.cpu_share)
        ));
    }
    let busy_share = report.generator.cpu_share + report.generator.run_delay_share;
    if busy_share >= GENERATOR_BUSY && report.generator.cpu_share < GENERATOR_BUSY {
        reasons.push(format!(
            "other programs kept the generator from its CPU for {} of the time",
            percent(report.generator.run_delay_share)
        ));
    }
    if report.generator.socket_drops > 0 {
        reasons.push(format!(
            "{} datagrams were dropped at the generator's own sockets",
            report.generator.socket_drops
        ));
    }
    let is_open = !matches!(report.schedule, ScheduleKind::ClosedLoop { .. });
    if let Some(rate_qps) = report.asked_qps.filter(|_| is_open) {
        // One query more or less is a matter of where the period is cut.
        let begun = report.begun() as f64;
        let missing = (begun - rate_qps * sending_s).abs() - 1.0;
        let over_time = |outcome: &Outcome| outcome.stopped == Stopped::Duration;
        if outcomes.iter().all(over_time)
            && missing > LOSS_TOLERATED * rate_qps * sending_s
            && !(report.is_of_sessions() && report.holds_all_sessions())
        {
            let what = if report.is_of_sessions() {
                "sessions per second were tried"
            } else {
                "queries per second were sent"
            };
            reasons.push(format!(
                "{:.1} {what} instead of {rate_qps:.1}",
                begun / sending_s
            ));
        }
        reasons.extend(closed_by_places(report, config));
        let limit_ns = ((1e9 / rate_qps) as u64).max(1_000_000);
        if let Some(p99) = report.send_error_ns.p99.filter(|p99| *p99 > limit_ns) {
            reasons.push(format!(
                "1 % of the queries were sent {} or more after their time",
                milliseconds(p99)
            ));
        }
    }
    if share(report.timed_out) > LOSS_TOLERATED {
        reasons.push(format!(
            "{} of the queries timed out and stand in no latency percentile",
            percent(share(report.timed_out))
        ));
    }
    if share(report.refused) > LOSS_TOLERATED {
        reasons.push(format!(
            "{} of the queries were refused",
            percent(share(report.refused))
        ));
    }
    let failed_share = report.connections.failed as f64 / report.connections.tried.max(1) as f64;
    if report.is_of_sessions() && failed_share > LOSS_TOLERATED {
        reasons.push(format!(
            "{} of the attempts to open a session failed",
            percent(failed_share)
        ));
    }
    if report.abandoned > 0 {
        reasons.push(format!(
            "{} queries were still in flight when cancelling cut the drain short",
            report.abandoned
        ));
    }
    let strays = report.unmatched + report.malformed;
    if share(strays) > LOSS_TOLERATED {
        reasons.push(format!("{strays} messages came that answer no query"));
    }
    reasons
}

/// That an open loop was none for some of the time, and what would help.
fn closed_by_places(report: &LoadReport, config: &LoadConfig) -> Option<String> {
    let full_share = report.generator.blocked_share + report.generator.nap_share;
    if full_share <= WINDOW_FULL || report.is_of_sessions() {
        return None;
    }
    let mut reason = format!(
        "all places in flight were full for {} of the time: queries that were due waited for others to end",
        percent(full_share)
    );
    let clients = clients_for_open_loop(config).filter(|clients| *clients > config.client_count());
    if let Some(clients) = clients {
        let timeout_s = config.timeout.as_secs_f64();
        reason += &format!(
            ". {clients} clients have room for all that this rate has in flight within a time-out of {timeout_s} s; {} do not",
            config.client_count()
        );
    }
    Some(reason)
}

#[cfg(test)]
pub mod samples;
#[cfg(test)]
mod tests;

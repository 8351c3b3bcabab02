//! Adds up what threads count, interval by interval.

use crate::config::TransportKind;
use crate::engine::{INTERVAL_NS, IntervalPart};
use crate::interval::{Interval, IntervalFigures, Phase, TransportInterval};
use crate::rcode;
use crate::tally::{Counts, Tally};
use std::collections::{BTreeMap, VecDeque};

/// Finished intervals that are kept, at most: two hours, so that a load of days takes no more memory than that.
pub const INTERVALS_KEPT: usize = 7_200;

/// An interval that not all threads have finished.
struct Open {
    tallies: Vec<Tally>,
    parts: usize,
    end_ns: u64,
}

impl Open {
    fn new(routes: usize) -> Self {
        Self {
            tallies: vec![Tally::default(); routes],
            parts: 0,
            end_ns: 0,
        }
    }
}

/// The sum over threads.
pub struct Collector {
    threads: usize,
    /// The transport of each route.
    kinds: Vec<TransportKind>,
    start_ns: u64,
    /// The last interval of each thread that has stopped sending.
    last: Vec<u64>,
    /// Threads that have ended their drain.
    drained: usize,
    open: BTreeMap<u64, Open>,
    drain: Open,
    measured_until_ns: u64,
    /// The sum over all finished intervals, of each route.
    pub totals: Vec<Tally>,
    /// The last finished intervals in order, at most [`INTERVALS_KEPT`].
    intervals: VecDeque<Interval>,
    /// Earlier ones, which are not kept.
    pub left_out: u64,
}

impl Collector {
    /// For a load of `threads` threads over `kinds` that began at `start_ns`.
    pub fn new(threads: usize, kinds: Vec<TransportKind>, start_ns: u64) -> Self {
        Self {
            threads,
            totals: vec![Tally::default(); kinds.len()],
            start_ns,
            last: Vec::with_capacity(threads),
            drained: 0,
            open: BTreeMap::new(),
            drain: Open::new(kinds.len()),
            kinds,
            measured_until_ns: start_ns,
            intervals: VecDeque::new(),
            left_out: 0,
        }
    }

    /// The last finished intervals in order.
    pub fn into_intervals(self) -> Vec<Interval> {
        self.intervals.into()
    }

    /// Takes one thread's part of one interval, and gives `tell` each interval that it finishes.
    pub fn add(&mut self, part: IntervalPart, mut tell: impl FnMut(&Interval)) {
        let open = match part.number {
            Some(number) => {
                self.last.extend(part.last.then_some(number));
                self.open
                    .entry(number)
                    .or_insert_with(|| Open::new(self.kinds.len()))
            }
            None => {
                self.drained += 1;
                &mut self.drain
            }
        };
        for (sum, tally) in open.tallies.iter_mut().zip(&part.tallies) {
            *sum += tally;
        }
        open.parts += 1;
        open.end_ns = open.end_ns.max(part.end_ns);
        while let Some(entry) = self.open.first_entry()
            && let stopped_before = self.last.iter().filter(|last| *last < entry.key()).count()
            && entry.get().parts + stopped_before == self.threads
        {
            let (number, open) = entry.remove_entry();
            self.measured_until_ns = self.measured_until_ns.max(open.end_ns);
            let start_ns = self.start_ns + number * INTERVAL_NS;
            tell(self.close(Phase::Measure, start_ns, open));
        }
        if self.drained == self.threads {
            let drain = std::mem::replace(&mut self.drain, Open::new(0));
            tell(self.close(Phase::Drain, self.measured_until_ns, drain));
        }
    }

    fn close(&mut self, phase: Phase, start_ns: u64, open: Open) -> &Interval {
        let transports = if self.kinds.len() > 1 {
            self.kinds
                .iter()
                .zip(&open.tallies)
                .map(|(kind, tally)| TransportInterval {
                    transport: *kind,
                    figures: IntervalFigures::from(tally),
                })
                .collect()
        } else {
            Vec::new()
        };
        for (total, tally) in self.totals.iter_mut().zip(&open.tallies) {
            *total += tally;
        }
        if self.intervals.len() == INTERVALS_KEPT {
            self.intervals.pop_front();
            self.left_out += 1;
        }
        let place = self.intervals.len();
        self.intervals.push_back(Interval {
            phase,
            start_s: seconds(start_ns.saturating_sub(self.start_ns)),
            length_s: seconds(open.end_ns.saturating_sub(start_ns)),
            figures: IntervalFigures::from(&sum(&open.tallies)),
            transports,
        });
        &self.intervals[place]
    }
}

/// The sum over routes. A query that was moved from one to another counts once.
pub fn sum(tallies: &[Tally]) -> Tally {
    let mut sum = Tally::default();
    for tally in tallies {
        sum += tally;
    }
    sum.counts.sent -= sum.counts.moved.min(sum.counts.sent);
    sum
}

/// The counted RCODEs by name.
pub fn rcodes(counts: &Counts) -> BTreeMap<String, u64> {
    let counted = counts
        .rcodes
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0);
    counted
        .map(|(code, &count)| (rcode::name(code).into_owned(), count))
        .collect()
}

/// A span in seconds.
pub fn seconds(span_ns: u64) -> f64 {
    span_ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: Option<u64>, end_ns: u64, sent: u64) -> IntervalPart {
        let mut tally = Tally::default();
        tally.counts.sent = sent;
        let tallies = vec![tally];
        IntervalPart {
            number,
            last: false,
            end_ns,
            tallies,
        }
    }

    fn last(number: u64, end_ns: u64, sent: u64) -> IntervalPart {
        IntervalPart {
            last: true,
            ..part(Some(number), end_ns, sent)
        }
    }

    #[test]
    fn an_interval_is_finished_when_no_thread_can_add_to_it() {
        let mut collector = Collector::new(2, vec![TransportKind::Udp], 0);
        let mut finished: Vec<Interval> = Vec::new();
        let mut sent_after = |part| {
            collector.add(part, |interval| finished.push(interval.clone()));
            finished
                .iter()
                .map(|interval| interval.figures.sent)
                .collect::<Vec<_>>()
        };
        assert_eq!(sent_after(part(Some(0), INTERVAL_NS, 1)), Vec::<u64>::new());
        assert_eq!(sent_after(part(Some(0), INTERVAL_NS, 2)), [3]);
        sent_after(last(1, 1_500_000_000, 4));
        assert_eq!(
            sent_after(part(None, 1_600_000_000, 0)),
            [3],
            "the second thread has yet to deliver its part of the second interval"
        );
        let second = sent_after(part(Some(1), 2 * INTERVAL_NS, 8));
        assert_eq!(second, [3, 12]);
        assert_eq!(sent_after(last(2, 2_200_000_000, 16)), [3, 12, 16]);
        assert_eq!(sent_after(part(None, 2_300_000_000, 0)), [3, 12, 16, 0]);
        assert_eq!(
            (finished[3].phase, finished[3].start_s),
            (Phase::Drain, 2.2)
        );
        assert_eq!(collector.totals[0].counts.sent, 31);
        assert_eq!(collector.into_intervals(), finished);
    }

    #[test]
    fn a_load_of_days_keeps_its_last_two_hours() {
        let mut collector = Collector::new(1, vec![TransportKind::Udp], 0);
        let mut told = 0;
        let hours_later = INTERVALS_KEPT as u64 + 1_000;
        for number in 0..hours_later {
            let part = part(Some(number), (number + 1) * INTERVAL_NS, 1);
            collector.add(part, |_| told += 1);
        }
        collector.add(part(None, hours_later * INTERVAL_NS, 0), |_| told += 1);
        assert_eq!((told, collector.left_out), (hours_later + 1, 1_001));
        assert_eq!(collector.totals[0].counts.sent, hours_later);
        let kept = collector.into_intervals();
        assert_eq!(kept.len(), INTERVALS_KEPT);
        assert_eq!(kept[0].start_s, 1_001.0);
        assert_eq!(kept.last().map(|last| last.phase), Some(Phase::Drain));
    }
}

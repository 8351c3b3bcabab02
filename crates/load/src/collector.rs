//! Adds up what threads count, interval by interval.

use crate::engine::{INTERVAL_NS, IntervalPart};
use crate::rcode;
use crate::report::{Interval, Phase};
use crate::tally::{Counts, Tally};
use std::collections::BTreeMap;

/// An interval that not all threads have finished.
#[derive(Default)]
struct Open {
    tally: Tally,
    parts: usize,
    end_ns: u64,
}

/// The sum over threads.
pub struct Collector {
    threads: usize,
    start_ns: u64,
    /// The last interval of each thread that has stopped sending.
    last: Vec<u64>,
    /// Threads that have ended their drain.
    drained: usize,
    open: BTreeMap<u64, Open>,
    drain: Open,
    measured_until_ns: u64,
    /// The sum over all finished intervals.
    pub total: Tally,
    /// The finished intervals in order.
    pub intervals: Vec<Interval>,
}

impl Collector {
    /// For a load of `threads` threads that began at `start_ns`.
    pub fn new(threads: usize, start_ns: u64) -> Self {
        Self {
            threads,
            start_ns,
            last: Vec::with_capacity(threads),
            drained: 0,
            open: BTreeMap::new(),
            drain: Open::default(),
            measured_until_ns: start_ns,
            total: Tally::default(),
            intervals: Vec::new(),
        }
    }

    /// Takes one thread's part of one interval. Finished intervals are appended to `intervals`.
    pub fn add(&mut self, part: IntervalPart) {
        let open = match part.number {
            Some(number) => {
                self.last.extend(part.last.then_some(number));
                self.open.entry(number).or_default()
            }
            None => {
                self.drained += 1;
                &mut self.drain
            }
        };
        open.tally += &part.tally;
        open.parts += 1;
        open.end_ns = open.end_ns.max(part.end_ns);
        while let Some(entry) = self.open.first_entry()
            && let stopped_before = self.last.iter().filter(|last| *last < entry.key()).count()
            && entry.get().parts + stopped_before == self.threads
        {
            let (number, open) = entry.remove_entry();
            self.measured_until_ns = self.measured_until_ns.max(open.end_ns);
            self.close(Phase::Measure, self.start_ns + number * INTERVAL_NS, open);
        }
        if self.drained == self.threads {
            let drain = std::mem::take(&mut self.drain);
            self.close(Phase::Drain, self.measured_until_ns, drain);
        }
    }

    fn close(&mut self, phase: Phase, start_ns: u64, open: Open) {
        let Counts {
            sent,
            answered,
            timed_out,
            ..
        } = open.tally.counts;
        let quantile =
            |quantile| (answered > 0).then(|| open.tally.latency.value_at_quantile(quantile));
        self.intervals.push(Interval {
            phase,
            start_s: seconds(start_ns.saturating_sub(self.start_ns)),
            length_s: seconds(open.end_ns.saturating_sub(start_ns)),
            sent,
            answered,
            timed_out,
            refused: open.tally.counts.refused(),
            latency_p50_ns: quantile(0.5),
            latency_p99_ns: quantile(0.99),
            rcodes: rcodes(&open.tally.counts),
        });
        self.total += &open.tally;
    }
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
        IntervalPart {
            number,
            last: false,
            end_ns,
            tally,
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
        let mut collector = Collector::new(2, 0);
        collector.add(part(Some(0), INTERVAL_NS, 1));
        assert!(collector.intervals.is_empty());
        collector.add(part(Some(0), INTERVAL_NS, 2));
        assert_eq!(collector.intervals[0].sent, 3);
        collector.add(last(1, 1_500_000_000, 4));
        collector.add(part(None, 1_600_000_000, 0));
        assert_eq!(
            collector.intervals.len(),
            1,
            "the second thread has yet to deliver its part of the second interval"
        );
        collector.add(part(Some(1), 2 * INTERVAL_NS, 8));
        assert_eq!(collector.intervals[1].sent, 12);
        collector.add(last(2, 2_200_000_000, 16));
        assert_eq!(collector.intervals[2].sent, 16);
        collector.add(part(None, 2_300_000_000, 0));
        let drain = &collector.intervals[3];
        assert_eq!((drain.phase, drain.start_s), (Phase::Drain, 2.2));
        assert_eq!(collector.intervals.len(), 4);
        assert_eq!(collector.total.counts.sent, 31);
    }
}

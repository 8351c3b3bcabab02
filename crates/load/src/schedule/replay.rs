//! Queries at the times of the stream.

use super::{Due, NEVER_NS, Schedule};
use std::sync::Arc;

/// A pass through a stream in which no time passes takes this long, so that passes do not all begin at once.
const TIMELESS_PASS_NS: u64 = 1_000_000_000;

/// When the queries of a stream were sent.
pub trait Times {
    /// The number of queries.
    fn len(&self) -> usize;

    /// When query `index` was sent, in nanoseconds since the first one; never less than that of the query before.
    fn time_ns(&self, index: usize) -> u64;
}

impl<T: Times + ?Sized> Times for &T {
    fn len(&self) -> usize {
        (**self).len()
    }

    fn time_ns(&self, index: usize) -> u64 {
        (**self).time_ns(index)
    }
}

/// The times of a stream that begins again at its end, sped up or slowed down.
///
/// A further pass begins one mean gap after the last query of the one before. A gap cannot be told from a single query,
/// or from queries of one time: then passes begin 1 s apart.
#[derive(Clone, Debug)]
pub struct Timeline<T> {
    times: T,
    pass_ns: u64,
    speed: f64,
}

impl<T: Times> Timeline<T> {
    /// The times of `times`, `speed` times as fast.
    pub fn new(times: T, speed: f64) -> Self {
        let gaps = times.len().saturating_sub(1) as u64;
        let span_ns = (gaps > 0).then(|| times.time_ns(gaps as usize));
        let pass_ns = match span_ns.unwrap_or(0) {
            0 => TIMELESS_PASS_NS,
            span_ns => span_ns.saturating_add((span_ns / gaps).max(1)),
        };
        Self {
            times,
            pass_ns,
            speed,
        }
    }

    /// When query `index` of pass `pass`, both counted from 0, is due, in nanoseconds since the start.
    pub fn due_ns(&self, pass: u64, index: usize) -> u64 {
        let original_ns = pass
            .saturating_mul(self.pass_ns)
            .saturating_add(self.times.time_ns(index));
        // Exact to the nanosecond up to 2^53 ns, which are 104 days.
        (original_ns as f64 / self.speed) as u64
    }

    /// The number of queries due in the first `time_ns` nanoseconds.
    pub fn queries_before(&self, time_ns: u64) -> u64 {
        if self.times.len() == 0 {
            return 0;
        }
        let passes = (time_ns as f64 * self.speed / self.pass_ns as f64) as u64;
        // Rounding may have made it one pass too many, which then has no query before that time, or one too few.
        (passes.saturating_sub(1)..=passes.saturating_add(1))
            .map(|pass| self.queries_of_pass_before(pass, time_ns))
            .sum::<u64>()
            + passes.saturating_sub(1) * self.times.len() as u64
    }

    fn queries_of_pass_before(&self, pass: u64, time_ns: u64) -> u64 {
        let (mut before, mut after) = (0, self.times.len());
        while before < after {
            let middle = before + (after - before) / 2;
            if self.due_ns(pass, middle) < time_ns {
                before = middle + 1;
            } else {
                after = middle;
            }
        }
        before as u64
    }
}

/// Sends queries when their stream says, without regard to answers.
///
/// Queries are not gathered into batches: their times are what this is about.
#[derive(Clone, Debug)]
pub struct Replay<T, I> {
    timeline: Timeline<T>,
    numbers: I,
    start_ns: u64,
    due_ns: u64,
}

impl<T: Times, I: Iterator<Item = u64>> Replay<T, I> {
    /// The queries `numbers` of the stream of `timeline`, which begins at `start_ns`: those of one thread, in the order
    /// in which it sends them.
    ///
    /// Numbers go on where the stream begins again: query i of pass p, both counted from 0, is number p times the
    /// stream's length, plus i. [`numbers_of`] gives those of a list; `(thread..).step_by(threads)` every so many.
    pub fn new(timeline: Timeline<T>, numbers: I, start_ns: u64) -> Self {
        let mut schedule = Self {
            timeline,
            numbers,
            start_ns,
            due_ns: start_ns,
        };
        schedule.advance();
        schedule
    }
}

/// The numbers of the queries at `indices` in a stream of `len` queries that begins again at its end.
pub fn numbers_of(indices: Arc<[u32]>, len: usize) -> impl Iterator<Item = u64> {
    let passes = if indices.is_empty() { 0 } else { u64::MAX };
    (0..passes).flat_map(move |pass| {
        let first = pass.saturating_mul(len as u64);
        let indices = Arc::clone(&indices);
        (0..indices.len()).map(move |place| first.saturating_add(u64::from(indices[place])))
    })
}

impl<T: Times, I: Iterator<Item = u64>> Schedule for Replay<T, I> {
    fn next(&self) -> Due {
        Due::At(self.due_ns)
    }

    fn advance(&mut self) {
        self.due_ns = self.numbers.next().map_or(NEVER_NS, |number| {
            let len = self.timeline.times.len() as u64;
            let since_ns = self.timeline.due_ns(number / len, (number % len) as usize);
            self.start_ns.saturating_add(since_ns)
        });
    }

    fn latency_from_schedule(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Times for [u64] {
        fn len(&self) -> usize {
            <[u64]>::len(self)
        }

        fn time_ns(&self, index: usize) -> u64 {
            self[index]
        }
    }

    fn take_ns(mut schedule: impl Schedule, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let Due::At(due_ns) = schedule.next() else {
                    panic!("an open loop waits for no answer");
                };
                schedule.advance();
                due_ns
            })
            .collect()
    }

    #[test]
    fn queries_are_due_when_the_stream_says() {
        let times: &[u64] = &[0, 5, 5, 20];
        let timeline = Timeline::new(times, 1.0);
        let replay = Replay::new(timeline, 0.., 1_000);
        // A pass takes 20 and the mean gap of 6.
        assert_eq!(
            take_ns(replay, 9),
            [
                1_000, 1_005, 1_005, 1_020, 1_026, 1_031, 1_031, 1_046, 1_052
            ]
        );
    }

    #[test]
    fn speed_divides_time() {
        let times: &[u64] = &[0, 1_000_000_000];
        for (speed, expected) in [
            (2.0, 500_000_000),
            (0.001, 1_000_000_000_000),
            (1_000.0, 1_000_000),
        ] {
            let replay = Replay::new(Timeline::new(times, speed), 0..2, 0);
            assert_eq!(
                take_ns(replay, 3),
                [0, expected, NEVER_NS],
                "speed {speed}; no query is left after these"
            );
        }
    }

    #[test]
    fn a_thread_with_a_single_query_sends_it_once_a_pass() {
        let times: &[u64] = &[0, 10, 20];
        let replay = Replay::new(Timeline::new(times, 1.0), numbers_of(Arc::from([1]), 3), 0);
        assert_eq!(take_ns(replay, 3), [10, 40, 70]);
    }

    #[test]
    fn threads_may_be_more_than_queries() {
        let times: &[u64] = &[0, 10];
        let replay = |first| Replay::new(Timeline::new(times, 1.0), (first..).step_by(3), 0);
        assert_eq!(take_ns(replay(0), 3), [0, 30, 60]);
        assert_eq!(take_ns(replay(2), 3), [20, 50, 80]);
    }

    #[test]
    fn a_thread_without_queries_has_nothing_due() {
        let times: &[u64] = &[0, 10];
        let replay = Replay::new(Timeline::new(times, 1.0), numbers_of(Arc::from([]), 2), 0);
        assert_eq!(take_ns(replay, 2), [NEVER_NS, NEVER_NS]);
    }

    #[test]
    fn streams_in_which_no_time_passes_take_a_second() {
        for times in [&[0][..], &[0, 0, 0]] {
            let timeline = Timeline::new(times, 1.0);
            assert_eq!(timeline.due_ns(2, 0), 2_000_000_000);
            assert_eq!(
                timeline.queries_before(1_500_000_000),
                2 * times.len() as u64
            );
        }
    }

    #[test]
    fn hours_of_passes_do_not_drift() {
        let times: &[u64] = &[0, 333_333_333, 999_999_999];
        let timeline = Timeline::new(times, 1.0);
        // Each pass takes the span of 999,999,999 ns and the mean gap of 499,999,999 ns.
        assert_eq!(
            timeline.due_ns(1_000_000, 1),
            1_499_999_998_000_000 + 333_333_333
        );
    }

    fn any_times() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(0u64..50_000, 1..40).prop_map(|mut times| {
            times.sort_unstable();
            let first = times[0];
            times.iter().map(|time| time - first).collect()
        })
    }

    proptest! {
        #[test]
        fn threads_together_replay_the_whole_stream(
            times in any_times(),
            threads in prop::collection::vec(0usize..3, 40),
            speed in 0.001f64..=1_000.0,
        ) {
            let timeline = Timeline::new(&times[..], speed);
            let whole = take_ns(Replay::new(timeline.clone(), 0.., 9), 3 * times.len());
            prop_assert!(whole.is_sorted());
            let mut together = Vec::new();
            for thread in 0..3 {
                let own: Vec<u32> = (0..times.len() as u32).filter(|index| threads[*index as usize] == thread).collect();
                let numbers = numbers_of(Arc::from(own.as_slice()), times.len());
                together.extend(take_ns(Replay::new(timeline.clone(), numbers, 9), 3 * own.len()));
            }
            together.sort_unstable();
            prop_assert_eq!(together, whole);
        }

        #[test]
        fn queries_before_a_time_are_those_due_before_it(
            times in any_times(),
            speed in 0.001f64..=1_000.0,
            share in 0.0f64..3.0,
        ) {
            let timeline = Timeline::new(&times[..], speed);
            let until_ns = (timeline.due_ns(1, 0) as f64 * share) as u64;
            let due = take_ns(Replay::new(timeline.clone(), 0.., 0), 4 * times.len());
            let expected = due.iter().filter(|due_ns| **due_ns < until_ns).count() as u64;
            prop_assert_eq!(timeline.queries_before(until_ns), expected);
        }
    }
}

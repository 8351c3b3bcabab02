//! When a thread looks for queries.

use super::STOP_CHECK;
use std::time::Duration;

/// With this many queries at once there is no gain in gathering more.
const MANY: usize = super::datagrams::BATCH / 4;

/// Has a thread look for queries at most once in a while, so that one waking answers all that came meanwhile: a resolver's come
/// one by one, and to wake for each costs as much as to answer it. A query that comes when the last look found none is seen at once.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    every: Duration,
    /// When it last looked, and how many queries there were.
    looked: Option<(Duration, usize)>,
}

impl Gathering {
    /// From now on it looks once in `every`, at multiples of it; zero, as at first: whenever there is something.
    pub fn every(&mut self, every: Duration) {
        self.every = every;
    }

    /// Whether it looks at `now`, when it may be awake to let an answer leave.
    pub fn is_time(&self, now: Duration) -> bool {
        self.next() <= now
    }

    /// How long to sleep from `now` on; `due` is how long from `now` the next answer has to leave. Zero: it looks, or that is now.
    pub fn pause(&self, now: Duration, due: Option<Duration>) -> Duration {
        // No answer waits for queries, nor does the end of serving.
        let most = due.unwrap_or(STOP_CHECK).min(STOP_CHECK);
        self.next().saturating_sub(now).min(most)
    }

    /// When it looks next; zero: as soon as there is something.
    fn next(&self) -> Duration {
        let Some((looked, _)) = self.looked.filter(|(_, came)| (1..MANY).contains(came)) else {
            return Duration::ZERO;
        };
        let beats = looked.as_nanos().checked_div(self.every.as_nanos());
        beats.map_or(Duration::ZERO, |beats| {
            Duration::from_nanos((beats + 1) as u64 * self.every.as_nanos() as u64)
        })
    }

    /// Takes down that it looked at `now`, and how many queries there were.
    pub fn looked(&mut self, now: Duration, came: usize) {
        self.looked = Some((now, came));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looking_every(every: Duration) -> Gathering {
        let mut gathering = Gathering::default();
        gathering.every(every);
        gathering
    }

    const fn us(number: u64) -> Duration {
        Duration::from_micros(number)
    }

    #[test]
    fn looks_once_in_a_while_and_at_once_after_a_pause() {
        let mut gathering = looking_every(us(200));
        assert_eq!(gathering.pause(us(0), None), us(0));
        gathering.looked(us(1000), 1);
        assert_eq!(gathering.pause(us(1050), None), us(150));
        assert_eq!(gathering.pause(us(1200), None), us(0));
        gathering.looked(us(1290), 1);
        assert_eq!(gathering.pause(us(1300), None), us(100), "at the next beat");
        assert_eq!(gathering.pause(us(5000), None), us(0));
        gathering.looked(us(5000), 0);
        assert_eq!(gathering.pause(us(5001), None), us(0), "nothing came");
        gathering.looked(us(5000), MANY);
        assert_eq!(
            gathering.pause(us(5001), None),
            us(0),
            "more than enough came"
        );
    }

    #[test]
    fn keeps_no_answer_waiting() {
        let mut gathering = looking_every(us(200));
        gathering.looked(us(1000), 1);
        assert_eq!(gathering.pause(us(1010), Some(us(30))), us(30));
        assert_eq!(gathering.pause(us(1010), Some(us(0))), us(0));
        assert_eq!(gathering.pause(us(1010), Some(us(900))), us(190));
        assert!(!gathering.is_time(us(1040)), "awake for an answer alone");
        assert!(gathering.is_time(us(1200)));
        gathering.looked(us(1200), 0);
        assert!(gathering.is_time(us(1200)));
    }

    #[test]
    fn never_sleeps_where_none_is_wanted_nor_beyond_the_end() {
        let mut none = looking_every(Duration::ZERO);
        none.looked(us(1000), 1);
        assert_eq!(none.pause(us(1000), None), us(0));
        let mut long = looking_every(Duration::from_secs(3600));
        long.looked(us(1000), 1);
        assert_eq!(long.pause(us(1000), None), STOP_CHECK);
    }
}

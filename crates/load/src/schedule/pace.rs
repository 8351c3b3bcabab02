//! Ticks of even spacing.

/// Ticks of even spacing, without drift: rounding never adds up.
#[derive(Clone, Debug)]
pub struct Pace {
    due_ns: u64,
    whole_ns: u64,
    rest: u64,
    carried: u64,
    denominator: u64,
}

impl Pace {
    /// Every `step`-th tick of a pace of `rate_qps` ticks per second from `start_ns` on, beginning with tick `first`.
    ///
    /// The rate is taken to a millionth of a query per second, at least that.
    pub fn new(start_ns: u64, rate_qps: f64, first: u64, step: u64) -> Self {
        const UNITS: u128 = 1_000_000_000 * 1_000_000;
        let denominator = ((rate_qps * 1e6).round() as u64).max(1);
        let at = |tick: u64| UNITS * u128::from(tick);
        let whole =
            |units: u128| u64::try_from(units / u128::from(denominator)).unwrap_or(u64::MAX / 4);
        let rest = |units: u128| (units % u128::from(denominator)) as u64;
        Self {
            due_ns: start_ns + whole(at(first)),
            whole_ns: whole(at(step)),
            rest: rest(at(step)),
            carried: rest(at(first)),
            denominator,
        }
    }

    /// The time of the next tick.
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// The spacing, rounded down.
    pub fn spacing_ns(&self) -> u64 {
        self.whole_ns
    }

    /// Moves on to the next tick.
    pub fn advance(&mut self) {
        self.due_ns += self.whole_ns;
        // Both terms are below the denominator, which is at most 10^15: no overflow.
        self.carried += self.rest;
        if self.carried >= self.denominator {
            self.carried -= self.denominator;
            self.due_ns += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ticks_never_drift(rate_millionths in 1_000u64..=1_000_000_000_000, first in 0u64..8, step in 1u64..8) {
            let mut pace = Pace::new(77, rate_millionths as f64 / 1e6, first, step);
            for number in 0..1_000u64 {
                let exact = 1_000_000_000_000_000u128 * u128::from(first + number * step) / u128::from(rate_millionths);
                prop_assert_eq!(u128::from(pace.due_ns()), 77 + exact);
                pace.advance();
            }
        }

        #[test]
        fn threads_together_send_the_whole_pace(threads in 1u64..6, rate in 1.0f64..1e6) {
            let mut whole = Pace::new(0, rate, 0, 1);
            let mut parts: Vec<Pace> = (0..threads).map(|first| Pace::new(0, rate, first, threads)).collect();
            for number in 0..200 {
                let part = &mut parts[(number % threads) as usize];
                prop_assert_eq!(part.due_ns(), whole.due_ns());
                part.advance();
                whole.advance();
            }
        }
    }
}

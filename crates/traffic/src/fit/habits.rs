//! What clients ask once more, and what they ask together: as [`crate::synthesise`] has it, so that a profile of what a profile
//! made is like it.

use super::clients::Asked;
use super::tally::hash_of;

/// Clients' last questions that are known, by type and outcome; as many as synthesis remembers.
const RECENT: usize = 1 << 16;

/// How the answer to a query turned out, as far as it tells kinds of questions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    /// It is not known, as there is no answer.
    Unknown,
    /// There are data, of a server that says it is authoritative for them or of another.
    Data {
        /// AA.
        is_authoritative: bool,
    },
    /// It names the servers of a zone below.
    Referral,
    /// The name has no data of the type.
    NoData,
    /// The RCODE says that it failed.
    Failed(u16),
}

/// What was known of a client when it sent a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Habit {
    /// Whether the answer still lived that it had got to the same question.
    pub is_known: bool,
    /// Whether the query is for the host that it asked for last; `None` where it cannot be, as the type is another, or no
    /// such host is known, or the client knew that answer, too.
    pub is_of_pair: Option<bool>,
}

/// A share of what was counted.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    part: u64,
    whole: u64,
}

impl Share {
    fn add(&mut self, is_part: bool) {
        self.part += u64::from(is_part);
        self.whole += 1;
    }

    fn value(self) -> f64 {
        self.part as f64 / self.whole.max(1) as f64
    }

    fn with(self, other: Self) -> Self {
        Self {
            part: self.part + other.part,
            whole: self.whole + other.whole,
        }
    }
}

/// How often clients repeat themselves, and ask for pairs.
#[derive(Debug)]
pub(super) struct Habits {
    /// By hash of client, type and outcome: bits of that hash, and the hash of the last name.
    recent: Vec<(u32, u64)>,
    repeats: Share,
    /// The same of queries that were answered with authoritative data.
    of_authoritative: Share,
    pairs: Share,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            recent: vec![(0, 0); RECENT],
            repeats: Share::default(),
            of_authoritative: Share::default(),
            pairs: Share::default(),
        }
    }
}

impl Habits {
    /// Counts a query; gives whether its client asked for the same last, of that type and with that outcome.
    pub fn add(&mut self, asked: &Asked, outcome: Outcome, habit: Habit) -> bool {
        let hash = hash_of(&(asked.client, asked.qtype, outcome));
        let recent = &mut self.recent[(hash >> 32) as usize % RECENT];
        // No place that is in use has zero.
        let tag = hash as u32 | 1;
        let last = std::mem::replace(recent, (tag, asked.name));
        let is_repeated = last == (tag, asked.name);
        let is_authoritative = matches!(
            outcome,
            Outcome::Data {
                is_authoritative: true
            }
        );
        if last.0 == tag {
            let repeats = match is_authoritative {
                true => &mut self.of_authoritative,
                false => &mut self.repeats,
            };
            repeats.add(is_repeated);
        }
        if let Some(is_of_pair) = habit.is_of_pair {
            self.pairs.add(is_of_pair);
        }
        is_repeated
    }

    /// The share of queries that repeat the last of their kind, where there is one. Of a server that gives referrals, without
    /// those for its own data, which are of few names and asked for in any order.
    pub fn repeats(&self, has_referrals: bool) -> f64 {
        match has_referrals {
            true => self.repeats.value(),
            false => self.repeats.with(self.of_authoritative).value(),
        }
    }

    /// The share of AAAA and HTTPS queries for the host that their client asked for last, where they can be.
    pub fn paired(&self) -> f64 {
        self.pairs.value()
    }
}

/// The clients that are taken not to cache, among those that sent so many `queries` each: `again` says how many queries of all
/// these, together, asked for what their client knew, and `clients` how many clients did so.
///
/// A client that does not cache may never show it. If such clients ask again with the same chance each time, that chance follows
/// from how often those do that are seen to, and how many are not seen follows from it.
pub(super) fn share_without_cache(queries: &[u32], clients: u64, again: u64) -> f64 {
    let all = queries.len().max(1) as f64;
    let seen = clients as f64 / all;
    // So few that they tell no chance.
    if again < clients + 10 {
        return seen;
    }
    let sum: f64 = queries.iter().map(|count| f64::from(*count)).sum();
    let shown = |chance: f64| -> f64 {
        let never = queries
            .iter()
            .map(|count| (1.0 - chance).powf(f64::from(*count)));
        all - never.sum::<f64>()
    };
    let wanted = clients as f64 / again as f64;
    let (mut low, mut high) = (1e-6, 1.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        match shown(middle) / (middle * sum) > wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    (again as f64 / (high * sum)).clamp(seen, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn clients_without_a_cache_are_counted_though_not_all_show_it() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        for (share, chance) in [(0.3, 0.02), (0.9, 0.05), (0.1, 0.3)] {
            let queries: Vec<u32> = (0..4000).map(|_| random.random_range(10..40)).collect();
            let (mut clients, mut again) = (0, 0);
            for count in &queries {
                if random.random::<f64>() < share {
                    let own = (0..*count).filter(|_| random.random::<f64>() < chance);
                    let own = own.count() as u64;
                    again += own;
                    clients += u64::from(own > 0);
                }
            }
            let found = share_without_cache(&queries, clients, again);
            assert!((found - share).abs() < 0.2 * share, "{found}, not {share}");
        }
        assert_eq!(share_without_cache(&[], 0, 0), 0.0);
        assert_eq!(share_without_cache(&[10, 20, 30, 40], 1, 2), 0.25);
    }
}

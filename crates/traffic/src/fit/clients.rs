//! What clients do.

use super::counts::rounded;
use super::population::Population;
use crate::profile::Ranks;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::net::IpAddr;

/// Clients of which everything is known; others are counted with the least active ones.
const MOST: usize = 1 << 21;
/// The longest pause inside a burst.
const PAUSE_NS: i64 = 100_000_000;
/// A client is quiet if it asks less often than once in so many pauses: then its bursts seldom run into one another.
const QUIET_PAUSES: i64 = 20;
/// The fewest queries that a quiet client must have time for, or else all clients are taken for quiet.
const LEAST_QUIET: u32 = 10;
/// The fewest queries by which to tell whether a client caches.
const ENOUGH: u32 = 10;
/// Answers whose end of life is known.
const ANSWERS: usize = 1 << 22;

/// One client.
#[derive(Clone, Copy, Debug)]
struct Client {
    queries: u32,
    is_ipv6: bool,
    /// Whether it asked for something while the answer to that still lived.
    asks_again: bool,
    bursts: u32,
    /// Those of more than one query, and how long they took together.
    long_bursts: u32,
    long_burst_ns: u64,
    burst_start_ns: i64,
    last_ns: i64,
    last_type: u16,
    last_question: u64,
    last_host: u64,
}

/// All clients.
#[derive(Debug)]
pub(super) struct Clients {
    by_address: HashMap<IpAddr, Client, RandomState>,
    repeats: u64,
    pairs: u64,
    may_be_pairs: u64,
    queries: u64,
    /// By hash of client and question: until when the answer lives, in seconds since the first query, and bits of the hash.
    answers: Vec<(u32, u32)>,
    first_s: Option<i64>,
    last_s: u32,
}

/// What a profile has of clients.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClientFacts {
    pub count: u64,
    pub activity: Ranks,
    pub ipv6: f64,
    pub caching: f64,
    pub repeats: f64,
    pub burst_queries: f64,
    pub burst_ms: f64,
    pub paired: f64,
}

/// A query as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub client: IpAddr,
    pub time_ns: i64,
    pub qtype: u16,
    /// The hash of the name.
    pub name: u64,
}

const TYPE_A: u16 = 1;
const TYPE_AAAA: u16 = 28;
const TYPE_HTTPS: u16 = 65;
const NS_A_SECOND: i64 = 1_000_000_000;

impl Default for Clients {
    fn default() -> Self {
        Self {
            by_address: HashMap::default(),
            repeats: 0,
            pairs: 0,
            may_be_pairs: 0,
            queries: 0,
            answers: vec![(0, 0); ANSWERS],
            first_s: None,
            last_s: 0,
        }
    }
}

impl Clients {
    /// Counts a query.
    pub fn query(&mut self, asked: &Asked) {
        self.queries += 1;
        let now_s = self.second(asked.time_ns);
        self.last_s = self.last_s.max(now_s);
        let (place, tag) = answer_place(asked);
        let still_lives = self.answers[place].1 == tag && self.answers[place].0 > now_s;
        if self.by_address.len() >= MOST && !self.by_address.contains_key(&asked.client) {
            return;
        }
        let client = self.by_address.entry(asked.client).or_insert(Client {
            queries: 0,
            is_ipv6: asked.client.is_ipv6(),
            asks_again: false,
            bursts: 0,
            long_bursts: 0,
            long_burst_ns: 0,
            burst_start_ns: i64::MIN,
            last_ns: i64::MIN,
            last_type: 0,
            last_question: 0,
            last_host: 0,
        });
        let is_new = client.queries == 0;
        client.queries = client.queries.saturating_add(1);
        client.asks_again |= still_lives;
        if is_new || asked.time_ns.saturating_sub(client.last_ns) > PAUSE_NS {
            client.bursts = client.bursts.saturating_add(1);
            client.burst_start_ns = asked.time_ns;
        } else {
            let own_ns = asked.time_ns.saturating_sub(client.last_ns).max(0) as u64;
            client.long_bursts += u32::from(client.burst_start_ns == client.last_ns);
            client.long_burst_ns = client.long_burst_ns.saturating_add(own_ns);
        }
        self.repeats += u64::from(
            !is_new && (client.last_type, client.last_question) == (asked.qtype, asked.name),
        );
        if matches!(asked.qtype, TYPE_AAAA | TYPE_HTTPS) {
            self.may_be_pairs += 1;
            self.pairs += u64::from(!is_new && client.last_host == asked.name);
        }
        client.last_ns = asked.time_ns;
        (client.last_type, client.last_question) = (asked.qtype, asked.name);
        if asked.qtype == TYPE_A {
            client.last_host = asked.name;
        }
    }

    /// Notes that an answer came, which lives for `ttl_s`.
    pub fn answer(&mut self, asked: &Asked, ttl_s: u32) {
        let now_s = self.second(asked.time_ns);
        let (place, tag) = answer_place(asked);
        // A second less, as a client that asks again when it ends may be a little early.
        self.answers[place] = (now_s.saturating_add(ttl_s.saturating_sub(1)), tag);
    }

    fn second(&mut self, time_ns: i64) -> u32 {
        let second = time_ns.div_euclid(NS_A_SECOND);
        let first = *self.first_s.get_or_insert(second);
        u32::try_from(second.saturating_sub(first)).unwrap_or(0)
    }

    /// How many different clients there are, as far as they are known.
    pub fn count(&self) -> u64 {
        self.by_address.len() as u64
    }

    /// The most queries of a client whose bursts can be told apart.
    fn most_of_quiet(&self) -> u32 {
        let pauses = i64::from(self.last_s) * (NS_A_SECOND / PAUSE_NS);
        match u32::try_from(pauses / QUIET_PAUSES) {
            Ok(most) if most >= LEAST_QUIET => most,
            _ => u32::MAX,
        }
    }

    /// What a profile has of bursts: queries of one, and how long it takes in ms. Only of quiet clients, as those that always ask
    /// seem to do so in one burst.
    fn bursts(&self) -> (f64, f64) {
        let most = self.most_of_quiet();
        let quiet = self.by_address.values().filter(|own| own.queries <= most);
        let (mut queries, mut bursts, mut long, mut long_ns) = (0_u64, 0_u64, 0_u64, 0_u64);
        for client in quiet {
            queries += u64::from(client.queries);
            bursts += u64::from(client.bursts);
            long += u64::from(client.long_bursts);
            long_ns = long_ns.saturating_add(client.long_burst_ns);
        }
        // Queries that are evenly spread over a time are within two thirds of it, if they are few.
        let burst_ms = 1.5 * long_ns as f64 / long.max(1) as f64 / 1e6;
        let burst_queries = (queries as f64 / bursts.max(1) as f64).clamp(1.0, 1000.0);
        (burst_queries, burst_ms.min(1000.0))
    }

    /// All clients, and how unequally they begin to ask.
    fn population(&self, burst_queries: f64) -> Population {
        let most = self.most_of_quiet();
        let draws = |client: &Client| match client.queries <= most {
            true => f64::from(client.bursts),
            // Its bursts ran into one another.
            false => (f64::from(client.queries) / burst_queries).max(f64::from(client.bursts)),
        };
        let mut draws: Vec<f64> = self.by_address.values().map(draws).collect();
        draws.sort_unstable_by(|a, b| f64::total_cmp(b, a));
        Population::of(&draws)
    }

    /// What a profile has of them.
    pub fn facts(&self) -> ClientFacts {
        let clients = self.by_address.values();
        let active = clients.clone().filter(|client| client.queries >= ENOUGH);
        let (known, caching) = active.fold((0_u64, 0_u64), |(known, caching), client| {
            (known + 1, caching + u64::from(!client.asks_again))
        });
        let share = |part: u64, whole: u64| rounded(part as f64 / whole.max(1) as f64);
        let (burst_queries, burst_ms) = self.bursts();
        let population = self.population(burst_queries);
        ClientFacts {
            count: population.count,
            activity: population.activity,
            ipv6: share(
                clients.filter(|client| client.is_ipv6).count() as u64,
                self.count(),
            ),
            caching: if known > 0 {
                share(caching, known)
            } else {
                1.0
            },
            repeats: share(self.repeats, self.queries),
            burst_queries: rounded(burst_queries),
            burst_ms: rounded(burst_ms),
            paired: share(self.pairs, self.may_be_pairs),
        }
    }
}

/// Where the answer to a client's question is remembered, and by which bits it is known.
fn answer_place(asked: &Asked) -> (usize, u32) {
    let hash = super::tally::hash_of(&(asked.client, asked.qtype, asked.name));
    ((hash >> 32) as usize % ANSWERS, hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(client: u8, time_ms: i64, qtype: u16, name: u64) -> Asked {
        Asked {
            client: IpAddr::from([10, 0, 0, client]),
            time_ns: time_ms * 1_000_000,
            qtype,
            name,
        }
    }

    #[test]
    fn bursts_pairs_and_repeats_are_told() {
        let mut clients = Clients::default();
        for query in [
            asked(1, 0, TYPE_A, 7),
            asked(1, 10, TYPE_AAAA, 7),
            asked(1, 30, TYPE_A, 8),
            asked(2, 35, TYPE_AAAA, 8),
            asked(1, 5000, TYPE_A, 8),
        ] {
            clients.query(&query);
        }
        let facts = clients.facts();
        assert_eq!((facts.count, facts.paired, facts.repeats), (2, 0.5, 0.2));
        // Bursts of three, one and one queries.
        assert_eq!(facts.burst_queries, 1.66667);
        assert_eq!(facts.burst_ms, 45.0);
    }

    #[test]
    fn who_asks_again_does_not_cache() {
        let mut clients = Clients::default();
        for round in 0..20 {
            for client in [1, 2] {
                let period_ms = if client == 1 { 31_000 } else { 10_000 };
                let query = asked(client, round * period_ms, TYPE_A, 7);
                clients.query(&query);
                clients.answer(&query, 30);
            }
        }
        assert_eq!(clients.facts().caching, 0.5);
    }
}

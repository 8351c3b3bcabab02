//! What clients do.

use super::counts::rounded;
use super::habits::{Habit, Habits, Outcome, share_without_cache};
use super::population::Population;
use crate::profile::Ranks;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::net::IpAddr;

/// Clients of which everything is known; others are counted with the least active ones.
const MOST: usize = 1 << 21;
/// The longest pause inside a burst.
const PAUSE_NS: i64 = 200_000_000;
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
    /// Queries for what it knew, as the answer still lived; those that repeat the last of their kind left out.
    again: u32,
    bursts: u32,
    /// Queries of the last burst.
    burst_queries: u32,
    /// How long bursts took together, and what share of the time within which they are sent that is.
    bursts_ns: u64,
    bursts_span: f32,
    last_ns: i64,
    /// The last name that it asked an address of, and the one before; 0 for none.
    last_host: u64,
    host_before: u64,
}

/// All clients.
#[derive(Debug)]
pub(super) struct Clients {
    by_address: HashMap<IpAddr, Client, RandomState>,
    /// What queries tell, and what is known with their answers.
    by_queries: Habits,
    by_answers: Habits,
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

const NXDOMAIN: u16 = 3;
const TYPE_A: u16 = 1;
const TYPE_AAAA: u16 = 28;
const TYPE_HTTPS: u16 = 65;
const NS_A_SECOND: i64 = 1_000_000_000;

impl Default for Clients {
    fn default() -> Self {
        Self {
            by_address: HashMap::default(),
            by_queries: Habits::default(),
            by_answers: Habits::default(),
            answers: vec![(0, 0); ANSWERS],
            first_s: None,
            last_s: 0,
        }
    }
}

impl Clients {
    /// Counts a query; gives what its client knew then, for [`Clients::answered`].
    pub fn query(&mut self, asked: &Asked) -> Habit {
        let now_s = self.second(asked.time_ns);
        self.last_s = self.last_s.max(now_s);
        let mut habit = Habit {
            is_known: self.knows(asked, now_s),
            is_of_pair: None,
        };
        if self.by_address.len() >= MOST && !self.by_address.contains_key(&asked.client) {
            return habit;
        }
        let client = self
            .by_address
            .entry(asked.client)
            .or_insert_with(|| Client::new(asked.client.is_ipv6()));
        client.query(asked);
        let host = client.last_host;
        if asked.qtype == TYPE_A && host != asked.name {
            (client.host_before, client.last_host) = (host, asked.name);
        }
        if host != 0 && matches!(asked.qtype, TYPE_AAAA | TYPE_HTTPS) {
            let same = Asked {
                name: host,
                ..*asked
            };
            let is_of_pair = host == asked.name;
            habit.is_of_pair = (is_of_pair || !self.knows(&same, now_s)).then_some(is_of_pair);
        }
        self.by_queries.add(asked, Outcome::Unknown, habit);
        habit
    }

    /// Counts what is known of a query with its answer.
    pub fn answered(&mut self, asked: &Asked, outcome: Outcome, mut habit: Habit) {
        let is_missing = outcome == Outcome::Failed(NXDOMAIN);
        if is_missing {
            habit.is_of_pair = None;
        }
        let is_repeated = self.by_answers.add(asked, outcome, habit);
        let Some(client) = self.by_address.get_mut(&asked.client) else {
            return;
        };
        client.again += u32::from(habit.is_known && !is_repeated);
        // It is no host.
        if is_missing && asked.qtype == TYPE_A && client.last_host == asked.name {
            client.last_host = client.host_before;
        }
    }

    /// Whether the answer to this still lives that the client has got.
    fn knows(&self, asked: &Asked, now_s: u32) -> bool {
        let (place, tag) = answer_place(asked);
        let (until_s, known) = self.answers[place];
        known == tag && until_s > now_s
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
        let (mut queries, mut bursts, mut span, mut ns) = (0_u64, 0_u64, 0.0, 0_u64);
        for client in quiet {
            queries += u64::from(client.queries);
            bursts += u64::from(client.bursts);
            span += f64::from(client.bursts_span);
            ns = ns.saturating_add(client.bursts_ns);
        }
        let burst_ms = match span > 0.0 {
            true => ns as f64 / span / 1e6,
            false => 0.0,
        };
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

    /// The share of clients that cache, as far as clients that ask often enough tell.
    fn caching(&self) -> f64 {
        let active = self.by_address.values();
        let active = active.filter(|client| client.queries >= ENOUGH);
        let (mut queries, mut clients, mut again) = (Vec::new(), 0, 0);
        for client in active {
            queries.push(client.queries);
            clients += u64::from(client.again > 0);
            again += u64::from(client.again);
        }
        1.0 - share_without_cache(&queries, clients, again)
    }

    /// The share of AAAA and HTTPS queries for the host that their client asked for last.
    pub fn paired(&self) -> f64 {
        rounded(self.habits().paired())
    }

    fn habits(&self) -> &Habits {
        match self.by_answers.is_empty() {
            true => &self.by_queries,
            false => &self.by_answers,
        }
    }

    /// What a profile has of them; `has_referrals` says whether they were answered with any.
    pub fn facts(&self, has_referrals: bool) -> ClientFacts {
        let clients = self.by_address.values();
        let ipv6 = clients.filter(|client| client.is_ipv6).count();
        let (burst_queries, burst_ms) = self.bursts();
        let population = self.population(burst_queries);
        ClientFacts {
            count: population.count,
            activity: population.activity,
            ipv6: rounded(ipv6 as f64 / self.count().max(1) as f64),
            caching: rounded(self.caching()),
            repeats: rounded(self.habits().repeats(has_referrals)),
            burst_queries: rounded(burst_queries),
            burst_ms: rounded(burst_ms),
        }
    }
}

impl Client {
    fn new(is_ipv6: bool) -> Self {
        Self {
            queries: 0,
            is_ipv6,
            again: 0,
            bursts: 0,
            burst_queries: 0,
            bursts_ns: 0,
            bursts_span: 0.0,
            last_ns: i64::MIN,
            last_host: 0,
            host_before: 0,
        }
    }

    /// Counts a query, and to which burst it belongs.
    fn query(&mut self, asked: &Asked) {
        let since_ns = asked.time_ns.saturating_sub(self.last_ns);
        if self.queries == 0 || since_ns > PAUSE_NS {
            self.bursts = self.bursts.saturating_add(1);
            self.burst_queries = 1;
        } else {
            let before = span_of(self.burst_queries);
            self.burst_queries = self.burst_queries.saturating_add(1);
            self.bursts_span += span_of(self.burst_queries) - before;
            self.bursts_ns = self.bursts_ns.saturating_add(since_ns.max(0) as u64);
        }
        self.queries = self.queries.saturating_add(1);
        self.last_ns = asked.time_ns;
    }
}

/// From the first to the last of so many queries that are evenly spread over a time, as a share of that: what is expected.
fn span_of(queries: u32) -> f32 {
    (f64::from(queries - 1) / (f64::from(queries) + 1.0)) as f32
}

/// Where the answer to a client's question is remembered, and by which bits it is known.
fn answer_place(asked: &Asked) -> (usize, u32) {
    let hash = super::tally::hash_of(&(asked.client, asked.qtype, asked.name));
    ((hash >> 32) as usize % ANSWERS, hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: Outcome = Outcome::Data {
        is_authoritative: false,
    };

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
        let facts = clients.facts(false);
        // The other client's query has no host before it, and one of two later queries of type A is for the same name.
        assert_eq!(
            (facts.count, clients.paired(), facts.repeats),
            (2, 1.0, 0.5)
        );
        // Bursts of three, one and one queries; the three are expected to span half the time.
        assert_eq!(facts.burst_queries, 1.66667);
        assert_eq!(facts.burst_ms, 60.0);
    }

    #[test]
    fn who_asks_again_does_not_cache() {
        let mut clients = Clients::default();
        for round in 0..20 {
            for client in [1, 2, 3] {
                let period_ms = if client == 1 { 31_000 } else { 10_000 };
                // The third repeats each question once.
                let name = match client {
                    3 => round as u64 / 2,
                    _ => round as u64 % 2,
                };
                let query = asked(client, round * period_ms, TYPE_A, name);
                let habit = clients.query(&query);
                clients.answered(&query, DATA, habit);
                clients.answer(&query, 50);
            }
        }
        assert_eq!(clients.facts(false).caching, 0.666667);
        // Of 19 questions each after the first, ten of the third are repeated.
        assert_eq!(clients.facts(false).repeats, 0.175439);
    }

    #[test]
    fn what_is_no_host_makes_no_pair() {
        let mut clients = Clients::default();
        let queries = [
            (asked(1, 0, TYPE_A, 7), DATA),
            (asked(1, 10, TYPE_A, 8), Outcome::Failed(NXDOMAIN)),
            (asked(1, 20, TYPE_AAAA, 7), Outcome::NoData),
            // It knows the answer for that host.
            (asked(1, 30, TYPE_AAAA, 9), DATA),
            (asked(1, 40, TYPE_HTTPS, 9), Outcome::NoData),
            (asked(1, 50, TYPE_HTTPS, 10), Outcome::Failed(NXDOMAIN)),
        ];
        for (query, outcome) in queries {
            let habit = clients.query(&query);
            clients.answered(&query, outcome, habit);
            clients.answer(&query, 300);
        }
        assert_eq!(clients.paired(), 0.5);
    }
}

//! What clients do.

use super::counts::rounded;
use super::habits::{Habit, Habits, Outcome, share_without_cache};
use super::population::Population;
use super::tally::hash_of;
use crate::profile::Ranks;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::net::IpAddr;

/// Clients that are followed: as many as a table of 2^21 places, some 200 MB, has room for. With more, half of them are let go, by a
/// hash of the address, and so are all that come later of that half: those that stay are a sample of all.
const MOST: usize = if cfg!(test) { 1 << 13 } else { 7 << 18 };
/// The longest pause inside a burst.
const PAUSE_NS: i64 = 200_000_000;
/// A client is quiet if it asks less often than once in so many pauses: then its bursts seldom run into one another.
const QUIET_PAUSES: f64 = 20.0;
/// The fewest queries that a quiet client must have time for, or else all clients are taken for quiet.
const LEAST_QUIET: u32 = 10;
/// Queries on end that are no burst of one user's: a client with more in a burst is always asking.
const MOST_IN_BURST: f64 = 30.0;
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
    /// By hash of client and question: until when the answer lives, in seconds since 1970, and bits of the hash.
    answers: Vec<(u32, u32)>,
    /// One in two to the power of this many clients is followed.
    halvings: u32,
}

/// What a profile has of clients.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ClientFacts {
    pub count: u64,
    pub activity: Ranks,
    pub ipv6: f64,
    /// `None` if too few answers are known to tell.
    pub caching: Option<f64>,
    pub repeats: f64,
    pub paired: f64,
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
            halvings: 0,
        }
    }
}

impl Clients {
    /// Counts a query; gives what its client knew then, for [`Clients::answered`].
    pub fn query(&mut self, asked: &Asked) -> Habit {
        let now_s = second(asked.time_ns);
        let mut habit = Habit {
            is_known: self.knows(asked, now_s),
            is_of_pair: None,
        };
        if !self.follows(asked.client) {
            return habit;
        }
        while self.by_address.len() >= MOST && !self.by_address.contains_key(&asked.client) {
            self.halve();
            if !self.follows(asked.client) {
                return habit;
            }
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
        if !self.follows(asked.client) {
            return;
        }
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

    /// Whether the client at `address` is in the sample.
    fn follows(&self, address: IpAddr) -> bool {
        // As many bits of the hash are zero as the sample was halved; with none, all clients are in it.
        hash_of(&address).trailing_zeros() >= self.halvings
    }

    /// Lets half of all clients go.
    fn halve(&mut self) {
        self.halvings += 1;
        let mut by_address = std::mem::take(&mut self.by_address);
        by_address.retain(|address, _| self.follows(*address));
        self.by_address = by_address;
    }

    /// Clients for each that is followed.
    pub fn for_each_followed(&self) -> u64 {
        1 << self.halvings.min(u64::BITS - 1)
    }

    /// Whether the answer to this still lives that the client has got.
    fn knows(&self, asked: &Asked, now_s: u32) -> bool {
        let (place, tag) = answer_place(asked);
        let (until_s, known) = self.answers[place];
        known == tag && until_s > now_s
    }

    /// Notes that an answer came, which lives for `ttl_s`.
    pub fn answer(&mut self, asked: &Asked, ttl_s: u32) {
        let now_s = second(asked.time_ns);
        let (place, tag) = answer_place(asked);
        // A second less, as a client that asks again when it ends may be a little early.
        self.answers[place] = (now_s.saturating_add(ttl_s.saturating_sub(1)), tag);
    }

    /// How many different clients there are: exact if all of them are followed, else estimated.
    pub fn count(&self) -> u64 {
        (self.by_address.len() as u64).saturating_mul(self.for_each_followed())
    }

    /// What a profile has of bursts: queries of one, and how long it takes in ms. Only of quiet clients, with `most` queries, as those that always ask
    /// seem to do so in one burst.
    fn bursts(&self, most: u32) -> (f64, f64) {
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

    /// All clients that are followed, and how unequally they begin to ask.
    fn population(&self, burst_queries: f64, most: u32) -> Population {
        let of_one = burst_queries.min(MOST_IN_BURST);
        let draws = |client: &Client| {
            let (queries, bursts) = (f64::from(client.queries), f64::from(client.bursts));
            match client.queries <= most && queries <= MOST_IN_BURST * bursts {
                true => bursts,
                // Its bursts ran into one another.
                false => (queries / of_one).max(bursts),
            }
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

    /// The share of queries that came by IPv6. In a profile it is that of clients, as how much these ask does not depend on it there;
    /// that of clients in a capture would lose few ones that ask much.
    fn ipv6(&self) -> f64 {
        let (mut queries, mut of_ipv6) = (0, 0);
        for client in self.by_address.values() {
            queries += u64::from(client.queries);
            of_ipv6 += u64::from(client.queries) * u64::from(client.is_ipv6);
        }
        of_ipv6 as f64 / queries.max(1) as f64
    }

    /// What a profile has of them.
    pub fn facts(&self, seen: &Seen) -> ClientFacts {
        let most = most_of_quiet(seen.duration_s);
        let (burst_queries, burst_ms) = self.bursts(most);
        let population = self.population(burst_queries, most);
        // Answers to few of the queries tell nothing of the others: not even what is repeated, as what was between is missing.
        let habits = match seen.has_answers {
            true => &self.by_answers,
            false => &self.by_queries,
        };
        ClientFacts {
            count: population.count.saturating_mul(self.for_each_followed()),
            activity: population.activity,
            ipv6: rounded(self.ipv6()),
            caching: seen.has_answers.then(|| rounded(self.caching())),
            repeats: rounded(habits.repeats(seen.has_referrals)),
            paired: rounded(habits.paired()),
            burst_queries: rounded(burst_queries),
            burst_ms: rounded(burst_ms),
        }
    }
}

/// What else is known of a capture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// How long it is.
    pub duration_s: f64,
    /// Whether so many queries have answers that these tell what clients do.
    pub has_answers: bool,
    /// Whether they were answered with referrals.
    pub has_referrals: bool,
}

/// The most queries in so many seconds of a client whose bursts can be told apart.
fn most_of_quiet(duration_s: f64) -> u32 {
    let pauses = duration_s * (NS_A_SECOND / PAUSE_NS) as f64;
    match (pauses / QUIET_PAUSES) as u32 {
        most @ LEAST_QUIET.. => most,
        _ => u32::MAX,
    }
}

/// The second of a time, counted from 1970.
fn second(time_ns: i64) -> u32 {
    time_ns.div_euclid(NS_A_SECOND).clamp(0, u32::MAX.into()) as u32
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
    let hash = hash_of(&(asked.client, asked.qtype, asked.name));
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

    const SEEN: Seen = Seen {
        duration_s: 5.0,
        has_answers: true,
        has_referrals: false,
    };

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
        let facts = clients.facts(&Seen {
            has_answers: false,
            ..SEEN
        });
        // The other client's query has no host before it, and one of two later queries of type A is for the same name.
        assert_eq!(
            (facts.count, facts.paired, facts.repeats, facts.caching),
            (2, 1.0, 0.5, None)
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
        let facts = clients.facts(&Seen {
            duration_s: 600.0,
            ..SEEN
        });
        // Of 19 questions each after the first, ten of the third are repeated.
        assert_eq!((facts.caching, facts.repeats), (Some(0.666667), 0.175439));
    }

    #[test]
    fn with_too_many_clients_a_sample_tells_of_all() {
        let mut clients = Clients::default();
        let many = 10 * MOST as u32;
        for client in 0..many {
            // One in four asks by IPv6; one in ten asks twice, in a burst.
            let client = match client % 4 {
                0 => IpAddr::from([
                    0x2001,
                    0xDB8,
                    0,
                    0,
                    0,
                    0,
                    (client >> 16) as u16,
                    client as u16,
                ]),
                _ => IpAddr::from(client.to_be_bytes()),
            };
            let is_busy = hash_of(&(client, "busy")).is_multiple_of(10);
            for time_ms in [0, 100].into_iter().take(1 + usize::from(is_busy)) {
                clients.query(&Asked {
                    client,
                    ..asked(0, time_ms, TYPE_A, 1)
                });
            }
            assert!(clients.by_address.len() <= MOST);
        }
        assert_eq!(clients.for_each_followed(), 16);
        let near = |found: f64, expected: f64| {
            assert!(
                (found / expected - 1.0).abs() < 0.1,
                "{found}, not {expected}"
            );
        };
        near(clients.count() as f64, many.into());
        let facts = clients.facts(&SEEN);
        near(facts.ipv6, 0.25);
        near(facts.burst_queries, 1.1);
        // All of them were seen once, and eleven for each is the most.
        near(facts.count as f64, 11.0 * f64::from(many));
    }

    #[test]
    fn few_clients_of_ipv6_that_ask_much_count_by_what_they_ask() {
        let mut clients = Clients::default();
        for place in 0..30_u8 {
            let query = asked(place % 10, i64::from(place) * 1000, TYPE_A, place.into());
            let client = match place % 3 {
                0 => IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1_u16]),
                _ => query.client,
            };
            clients.query(&Asked { client, ..query });
        }
        assert_eq!(clients.facts(&SEEN).ipv6, 0.333333);
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
        assert_eq!(clients.facts(&SEEN).paired, 0.5);
    }
}

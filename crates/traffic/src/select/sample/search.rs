//! The key and the share with which a sample comes nearest to a rate.

use super::{Span, is_query};
use crate::error::TrafficError;
use crate::message::Message;
use crate::read::Reading;
use crate::select::clients::{ClientHash, Share};
use crate::select::expression::Travel;
use crate::select::pass::{Select, pass};
use crate::wire::View;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::net::IpAddr;

/// Keys that are tried.
const KEYS: u64 = 32;
/// A rate that is as near as this is not bettered.
const NEAR: f64 = 0.001;

/// Reads the captures for the key, from `key` on, and the share of clients with which `qps` is reached most nearly; `share`
/// is the share if it is given.
pub fn search(
    reading: &Reading<'_>,
    qps: f64,
    share: Option<Share>,
    key: u64,
) -> Result<(u64, Share), TrafficError> {
    let (_, tally) = pass(reading, &Counting, &[], None)?;
    let seconds = tally.span.seconds();
    if seconds <= 0.0 {
        return Err(TrafficError::Setting {
            why: "queries of no two times have no rate to be sampled at; give a share of clients"
                .into(),
        });
    }
    let clients: Vec<(IpAddr, u64)> = tally.queries.into_iter().collect();
    Ok(best(&clients, qps * seconds, share, key))
}

/// The key and the share with which clients send `target` queries, as nearly as the keys tried allow.
fn best(clients: &[(IpAddr, u64)], target: f64, share: Option<Share>, key: u64) -> (u64, Share) {
    let mut nearest: Option<(f64, u64, Share)> = None;
    for key in (0..KEYS).map(|step| key.wrapping_add(step)) {
        let hash = ClientHash::new(key);
        let mut numbers: Vec<(u64, u64)> = clients
            .iter()
            .map(|(client, queries)| (hash.of(*client), *queries))
            .collect();
        let (reached, share) = match share {
            Some(share) => (reached(&numbers, share), share),
            None => up_to(&mut numbers, target),
        };
        let error = (reached - target).abs();
        if nearest.is_none_or(|(least, ..)| error < least) {
            nearest = Some((error, key, share));
        }
        if error <= NEAR * target {
            break;
        }
    }
    nearest.map_or((key, Share::ALL), |(_, key, share)| (key, share))
}

/// Queries of the clients that `share` has.
fn reached(numbers: &[(u64, u64)], share: Share) -> f64 {
    let chosen = numbers.iter().filter(|(number, _)| share.has(*number));
    chosen.map(|(_, queries)| *queries as f64).sum()
}

/// The share at which clients, in the order of their numbers, have sent most nearly `target` queries, and how many they have.
fn up_to(numbers: &mut [(u64, u64)], target: f64) -> (f64, Share) {
    numbers.sort_unstable();
    let (mut sum, mut count) = (0.0, 0_usize);
    for (_, queries) in numbers.iter() {
        let next = sum + *queries as f64;
        if (next - target).abs() > (sum - target).abs() {
            break;
        }
        sum = next;
        count += 1;
    }
    let share = match (count.checked_sub(1), numbers.get(count)) {
        (_, None) => Share::ALL,
        (None, Some((first, _))) => Share::between(0, *first),
        (Some(last), Some((next, _))) => Share::between(numbers[last].0, *next),
    };
    (sum, share)
}

/// Counts the queries of each client.
struct Counting;

#[derive(Default)]
struct Tally {
    queries: HashMap<IpAddr, u64, RandomState>,
    span: Span,
}

impl Select for Counting {
    type Tally = Tally;

    fn keeps_segments(&self) -> bool {
        false
    }

    fn segment(&self, _travel: &Travel) -> Option<usize> {
        None
    }

    fn message(
        &self,
        tally: &mut Tally,
        travel: &Travel,
        _message: &Message<'_>,
        view: Option<&View<'_>>,
    ) -> Option<usize> {
        if is_query(view) {
            let client = travel.client.to_canonical();
            *tally.queries.entry(client).or_default() += 1;
            tally.span.add(travel.time_ns);
        }
        None
    }

    fn add(tally: &mut Tally, other: Tally) {
        for (client, queries) in other.queries {
            *tally.queries.entry(client).or_default() += queries;
        }
        tally.span.join(other.span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients() -> Vec<(IpAddr, u64)> {
        let heavy = |client: u32| if client.is_multiple_of(100) { 500 } else { 5 };
        (0..2_000_u32)
            .map(|client| (IpAddr::from(client.to_be_bytes()), heavy(client)))
            .collect()
    }

    #[test]
    fn a_rate_is_reached_by_share_or_by_key() {
        let clients = clients();
        let total: u64 = clients.iter().map(|(_, queries)| queries).sum();
        for target in [0.05, 0.3, 0.8] {
            let target = target * total as f64;
            let (key, share) = best(&clients, target, None, 0);
            let hash = ClientHash::new(key);
            let numbers: Vec<_> = clients
                .iter()
                .map(|(client, n)| (hash.of(*client), *n))
                .collect();
            let error = (reached(&numbers, share) - target).abs() / target;
            assert!(error < 0.01, "{error}");
        }
        let tenth = Share::new(0.1).unwrap();
        let target = 0.1 * total as f64;
        let (key, share) = best(&clients, target, Some(tenth), 5);
        assert_eq!(share, tenth);
        let error = |key| {
            let hash = ClientHash::new(key);
            let numbers: Vec<_> = clients
                .iter()
                .map(|(client, n)| (hash.of(*client), *n))
                .collect();
            (reached(&numbers, tenth) - target).abs()
        };
        assert!(
            (5..5 + KEYS).all(|other| error(key) <= error(other) || error(key) <= NEAR * target)
        );
    }

    #[test]
    fn more_than_there_is_takes_all_clients() {
        let clients = clients();
        assert_eq!(best(&clients, 1e12, None, 3).1, Share::ALL);
        let few = &clients[1..3];
        let (key, share) = best(few, 0.0, None, 3);
        assert!(
            few.iter()
                .all(|(client, _)| !share.has(ClientHash::new(key).of(*client)))
        );
    }
}

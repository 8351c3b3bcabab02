//! When requests are sent, and by whom.

use super::clients::{Client, Population};
use super::random::Random;

pub(super) const SECOND_NS: u64 = 1_000_000_000;
/// The most requests that are put in order at a time.
const LARGEST_SLICE: u64 = 1 << 16;

/// The time and the client of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Since the beginning of the second.
    pub offset_ns: u32,
    pub client: Client,
}

/// Slices of a second with `count` requests, as (beginning, end, requests): several where there are many.
pub(super) fn slices(second_ns: u64, count: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let slices = count.div_ceil(LARGEST_SLICE);
    (0..slices).map(move |slice| {
        let part = |whole: u64, slice: u64| {
            (u128::from(whole) * u128::from(slice) / u128::from(slices)) as u64
        };
        let (start, end) = (part(second_ns, slice), part(second_ns, slice + 1));
        (start, end, part(count, slice + 1) - part(count, slice))
    })
}

/// Fills `slots` with `count` requests from `start_ns` to before `end_ns` of a second, in order. Each client that is drawn sends
/// its burst of requests, which does not leave the slice.
pub(super) fn fill(
    slots: &mut Vec<Slot>,
    (start_ns, end_ns, count): (u64, u64, u64),
    population: &Population,
    random: &mut Random,
) {
    slots.clear();
    let count = count as usize;
    let len_ns = (end_ns - start_ns).max(1);
    while slots.len() < count {
        let client = population.draw(random);
        let (queries, within_ns) = population.burst(client, random);
        let queries = (queries as usize).min(count - slots.len());
        let span_ns = match queries {
            1 => 1,
            _ => within_ns.clamp(1, len_ns),
        };
        let first_ns = start_ns + random.below(len_ns - span_ns + 1);
        slots.extend((0..queries).map(|_| Slot {
            offset_ns: (first_ns + random.below(span_ns)) as u32,
            client,
        }));
    }
    // Stable, so that the order of requests of the same time is always the same.
    slots.sort_by_key(|slot| slot.offset_ns);
}

#[cfg(test)]
mod tests {
    use super::super::random::Purpose;
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn slices_make_up_a_second() {
        for count in [0, 1, 65_536, 65_537, 1_000_000] {
            let slices: Vec<_> = slices(SECOND_NS, count).collect();
            assert_eq!(slices.iter().map(|slice| slice.2).sum::<u64>(), count);
            assert!(slices.iter().all(|slice| slice.2 <= LARGEST_SLICE));
            assert!(slices.windows(2).all(|pair| pair[0].1 == pair[1].0));
            if let Some(last) = slices.last() {
                assert_eq!((slices[0].0, last.1), (0, SECOND_NS));
            }
        }
    }

    #[test]
    fn requests_are_in_order_and_inside_their_slice() {
        let profile = Profile::open("resolver-2022").unwrap();
        let population = Population::new(&profile, 0.001, 1).unwrap();
        let mut random = Random::new(1, Purpose::Slots);
        let mut slots = Vec::new();
        for (slice, count) in [
            ((0, 1_000), 50),
            ((500_000_000, 600_000_000), 5000),
            ((0, SECOND_NS), 1),
        ] {
            fill(
                &mut slots,
                (slice.0, slice.1, count),
                &population,
                &mut random,
            );
            assert_eq!(slots.len() as u64, count);
            assert!(slots.is_sorted_by_key(|slot| slot.offset_ns));
            let is_inside = |slot: &Slot| (slice.0..slice.1).contains(&u64::from(slot.offset_ns));
            assert!(slots.iter().all(is_inside));
        }
    }
}

//! What clients remember of answers, in bounded memory.

/// Questions that share a place; the one that is forgotten first goes when there is another.
const WAYS: usize = 4;
const LEAST_PLACES: usize = 1 << 12;
const MOST_PLACES: usize = 1 << 22;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Bits of the question's hash that do not tell its place.
    tag: u32,
    /// The second from which on the answer is forgotten; 0 for no entry.
    expiry_s: u32,
}

/// The caches of all clients: for each question of each, until when its answer is remembered.
///
/// Memory is 32 octets a place, at most 128 MiB. In streams that are larger than that, answers that expire soonest are
/// forgotten early.
#[derive(Debug)]
pub(super) struct Caches {
    places: Vec<[Entry; WAYS]>,
}

impl Caches {
    /// Room for about `questions` questions.
    pub fn new(questions: u64) -> Self {
        let places = usize::try_from(questions / 2).unwrap_or(usize::MAX);
        let places = places.clamp(LEAST_PLACES, MOST_PLACES).next_power_of_two();
        Self {
            places: vec![[Entry::default(); WAYS]; places],
        }
    }

    /// The upper half of the bits chooses the place, the lower is the tag.
    #[inline]
    fn place(&mut self, question: u64) -> (&mut [Entry; WAYS], u32) {
        let mask = self.places.len() - 1;
        (
            &mut self.places[(question >> 32) as usize & mask],
            question as u32,
        )
    }

    /// Whether the answer to the question of this hash is remembered at `now_s`.
    #[inline]
    pub fn has(&mut self, question: u64, now_s: u32) -> bool {
        let (place, tag) = self.place(question);
        place
            .iter()
            .any(|entry| entry.tag == tag && entry.expiry_s > now_s)
    }

    /// Remembers the answer to the question of this hash for `ttl_s`.
    #[inline]
    pub fn put(&mut self, question: u64, now_s: u32, ttl_s: u32) {
        let (place, tag) = self.place(question);
        let same = place.iter().position(|entry| entry.tag == tag);
        let chosen = same.unwrap_or_else(|| {
            let soonest = (0..WAYS).min_by_key(|&way| place[way].expiry_s);
            soonest.unwrap_or(0)
        });
        place[chosen] = Entry {
            tag,
            expiry_s: now_s.saturating_add(ttl_s),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::mix;
    use super::*;

    #[test]
    fn answers_are_remembered_as_long_as_they_live() {
        let mut caches = Caches::new(0);
        let question = mix(7);
        assert!(!caches.has(question, 0));
        caches.put(question, 100, 30);
        assert!(caches.has(question, 129) && !caches.has(question, 130));
        caches.put(question, 130, 0);
        assert!(!caches.has(question, 130));
    }

    #[test]
    fn nearly_all_of_what_there_is_room_for_is_remembered() {
        let mut caches = Caches::new(20_000);
        for question in 0..20_000 {
            caches.put(mix(question), 0, 60);
        }
        let known = (0..20_000)
            .filter(|&question| caches.has(mix(question), 59))
            .count();
        assert!(known > 18_500, "{known}");
        let unknown = (20_000..40_000)
            .filter(|&question| caches.has(mix(question), 59))
            .count();
        assert_eq!(unknown, 0);
    }

    #[test]
    fn where_there_is_no_room_what_lives_longest_stays() {
        let mut caches = Caches::new(0);
        let of_one_place: Vec<u64> = (0..=WAYS as u64).collect();
        for question in &of_one_place {
            caches.put(*question, 0, 100 - *question as u32);
        }
        assert!(caches.has(0, 50) && caches.has(WAYS as u64, 50));
        assert!(!caches.has(WAYS as u64 - 1, 50));
    }
}

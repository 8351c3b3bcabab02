//! Names: how often each was asked for, the zones they are in, and which of them are junk.
//!
//! Only whole names are counted while a capture is read. Zones, the number of different names, unknown top-level domains and random
//! labels follow from the names when they leave the table, at the latest at the end: so they cost nothing per query, and stay exact
//! when the table of names no longer is. Single labels alone are then judged by how often they came since the table was last full.

use super::distinct::Distinct;
use super::frequent::FrequentItems;
use super::hashing::{Hashing, lower};
use super::random_label::is_random;
use super::tlds;
use crate::wire::labels;

/// Levels of zones that are counted: top-level domains, and two below.
pub const LEVELS: usize = 3;
/// Zones in the table of a level.
const MAX_ZONES: usize = 1 << 20;

/// Names that one thread counts.
#[derive(Debug)]
pub struct Names {
    /// How often each name came, in lower case and wire format without the root label.
    pub table: FrequentItems,
    gone: NamesGone,
}

/// What is known of names that left the table.
#[derive(Debug)]
pub struct NamesGone {
    /// All of them.
    pub distinct: Distinct,
    /// By level, from the top-level domains on.
    pub zones: [FrequentItems; LEVELS],
    /// Queries for a name whose top-level domain is not in the root zone; until the end, of those that left the table of zones alone.
    pub unknown_tld: u64,
    /// Queries for a name with a label that seems to be random.
    pub random: u64,
}

impl Default for NamesGone {
    fn default() -> Self {
        Self {
            distinct: Distinct::default(),
            zones: std::array::from_fn(|_| FrequentItems::new(MAX_ZONES)),
            unknown_tld: 0,
            random: 0,
        }
    }
}

impl NamesGone {
    /// Takes `count` queries for `name`, in wire format without the root label, of `all` that the table had of it.
    fn leave(&mut self, name: &[u8], count: u64, all: u64) {
        self.distinct.add(Hashing::fixed().octets(name));
        if is_random(name, all) {
            self.random += count;
        }
        let mut starts = [0; 128];
        let mut at = 0;
        let mut depth = 0;
        for label in labels(name) {
            starts[depth] = at;
            at += 1 + label.len();
            depth += 1;
        }
        let suffixes = starts[..depth].iter().rev().map(|start| &name[*start..]);
        for (zone, table) in suffixes.zip(&mut self.zones) {
            if table.is_full() {
                let unknown_tld = &mut self.unknown_tld;
                table.make_room(&mut |zone, lost, _| *unknown_tld += unknown(zone, lost));
            }
            table.put(Hashing::fixed().octets(zone), count, zone);
        }
    }
}

impl Names {
    /// A table of at most `most` names.
    pub fn new(most: usize) -> Self {
        Self {
            table: FrequentItems::new(most),
            gone: NamesGone::default(),
        }
    }

    /// Counts a name with its root label, whose hash [`Hashing::name`] made.
    #[inline]
    pub fn add(&mut self, hash: u64, name: &[u8]) {
        if self.table.is_full() {
            self.table
                .make_room(&mut |name, count, all| self.gone.leave(name, count, all));
        }
        self.table
            .add(hash, |arena| push_lower(arena, &name[..name.len() - 1]));
    }

    /// Adds what another thread counted.
    pub fn merge(&mut self, other: &Self) {
        self.table.merge(&other.table, &mut |name, count, all| {
            self.gone.leave(name, count, all)
        });
        self.gone.distinct.merge(&other.gone.distinct);
        for (own, other) in self.gone.zones.iter_mut().zip(&other.gone.zones) {
            let unknown_tld = &mut self.gone.unknown_tld;
            own.merge(other, &mut |zone, lost, _| {
                *unknown_tld += unknown(zone, lost);
            });
        }
        self.gone.unknown_tld += other.gone.unknown_tld;
        self.gone.random += other.gone.random;
    }

    /// The table, and what is known of all names that were ever in it.
    pub fn finish(mut self) -> (FrequentItems, NamesGone) {
        for (name, count) in self.table.iter() {
            self.gone.leave(name, count, count);
        }
        let tlds = self.gone.zones[0].iter();
        self.gone.unknown_tld += tlds.map(|(zone, count)| unknown(zone, count)).sum::<u64>();
        (self.table, self.gone)
    }
}

/// What of `count` queries below `zone` is for an unknown top-level domain that leaves its table: nothing of other zones, whose queries
/// count where their top-level domain is.
fn unknown(zone: &[u8], count: u64) -> u64 {
    let mut labels = labels(zone);
    let is_unknown = labels.next().is_some_and(|tld| !tlds::is_known(tld));
    if is_unknown && labels.next().is_none() {
        count
    } else {
        0
    }
}

fn push_lower(arena: &mut Vec<u8>, name: &[u8]) {
    let (words, rest) = name.as_chunks::<8>();
    for word in words {
        arena.extend_from_slice(&lower(u64::from_le_bytes(*word)).to_le_bytes());
    }
    arena.extend(rest.iter().map(u8::to_ascii_lowercase));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(names: &mut Names, labels: &[&str]) {
        let mut message = vec![0; 12];
        for label in labels {
            message.push(label.len() as u8);
            message.extend_from_slice(label.as_bytes());
        }
        message.push(0);
        let hash = Hashing::fixed().name(&message, 12, message.len() - 12);
        names.add(hash, &message[12..]);
    }

    #[test]
    fn zones_follow_from_names_whether_these_stayed_in_the_table_or_not() {
        for most in [1 << 16, 0] {
            let mut names = [Names::new(most), Names::new(most)];
            for number in 0..3000 {
                let label = format!("Host{number}");
                add(&mut names[number % 2], &[&label, "Example", "COM"]);
                add(&mut names[0], &["www", "example", "com"]);
                add(&mut names[1], &["net"]);
                add(&mut names[1], &[]);
            }
            let [mut names, other] = names;
            names.merge(&other);
            let (table, gone) = names.finish();
            let zone = |level: usize| -> Vec<_> { gone.zones[level].top(3) };
            assert_eq!(zone(0), [(&b"\x03com"[..], 6000), (b"\x03net", 3000)]);
            assert_eq!(zone(1), [(&b"\x07example\x03com"[..], 6000)]);
            assert_eq!(zone(2)[0], (&b"\x03www\x07example\x03com"[..], 3000));
            assert_eq!(gone.zones[2].len(), 3001);
            let distinct = gone.distinct.count();
            assert!(
                (distinct / 3003.0 - 1.0).abs() < 3.0 * Distinct::ERROR,
                "{distinct}"
            );
            assert_eq!(table.error() == 0, most > 0);
            let top: Vec<_> = table
                .top(3)
                .into_iter()
                .map(|(name, _)| name.to_vec())
                .collect();
            assert!(top.contains(&b"".to_vec()) && top.contains(&b"\x03net".to_vec()));
        }
    }

    #[test]
    fn junk_is_counted_whole_though_neither_names_nor_zones_have_room() {
        let mut names = Names::new(0);
        names.gone.zones = std::array::from_fn(|_| FrequentItems::new(0));
        for number in 0..5000 {
            let tld = format!("q{number:07x}");
            add(&mut names, &["a", &tld]);
            add(&mut names, &["www", "example", "com"]);
            // Neither is random: one comes too often for that, the other is no single label.
            add(&mut names, &["localhost"]);
            add(&mut names, &["qwfkzbx", "com"]);
        }
        let (table, gone) = names.finish();
        assert!(table.error() > 0 && gone.zones[0].error() > 0);
        assert_eq!((gone.unknown_tld, gone.random), (10_000, 0));
    }
}

//! Questions of an Internet that stand in the place of the names of other traffic: a name of its own for each.

use crate::error::InternetError;
use crate::internet::Internet;
use crate::names::QueryNames;
use dnsrig_zone::{NumberedTexts, Texts};
use domain::base::iana::Rtype;
use std::collections::TryReserveError;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// Batches after which it is looked whether there are still new names.
const WINDOW: u64 = 40;
/// So many batches must have so many new names for each hundred questions of their kind; below that there are hardly any more.
const NEW_PERCENT: usize = 2;
/// Questions that a draw may take: about an hour, as a million of the profile internet-2022 took 0.7 s on an Intel Xeon.
const MOST_QUESTIONS: u64 = 5_000_000_000;
/// Bits of a place that say which kind it is of.
const KIND_BITS: u32 = 2;

/// What kind of name stands in a name's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandIn {
    /// One that exists, or does as far as a draw without missing ones tells.
    Existing = 0,
    /// One of an address (RFC 1035 section 3.5).
    Address = 1,
    /// One that does not exist.
    Missing = 2,
}

/// How stand-ins are drawn: in batches, each of a seed of its own, one more than that of the batch before it.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Questions of a batch.
    pub batch: usize,
    /// Seed of the first batch of existing names and of addresses.
    pub seed: u64,
    /// Seed of the first batch of missing ones.
    pub missing_seed: u64,
}

/// A question for each name of other traffic, by the name's number. Each takes about 26 octets beside its name while they are
/// drawn, and 14 later.
#[derive(Debug, Default)]
pub struct StandIns {
    /// By [`StandIn`].
    drawn: [Drawn; 3],
    /// Of each name: the number of its question among those of its kind, and the kind in the lowest bits.
    places: Vec<u32>,
}

#[derive(Debug, Default)]
struct Drawn {
    names: Texts,
    types: Vec<Rtype>,
}

impl StandIns {
    /// Draws a question for each of `kinds`. Each kind's are taken in the order in which they are drawn, so that the first
    /// ones, which other traffic asks for most, are popular ones.
    ///
    /// # Errors
    /// [`InternetError::TooFewNames`], [`InternetError::TooRareNames`], [`InternetError::NoMemory`], or [`InternetError::Stopped`] once `cancel` is set.
    pub fn draw(
        internet: &Internet,
        kinds: impl Iterator<Item = StandIn>,
        draw: &Draw,
        cancel: &AtomicBool,
    ) -> Result<Self, InternetError> {
        let mut wanted = [0_usize; 3];
        let mut places = Vec::new();
        for kind in kinds {
            let count = &mut wanted[kind as usize];
            let place = u32::try_from(*count)
                .ok()
                .and_then(|count| count.checked_mul(1 << KIND_BITS));
            places.try_reserve(1).map_err(no_memory)?;
            places.push(place.ok_or(InternetError::NoMemory)? | kind as u32);
            *count += 1;
        }
        let [existing, addresses, missing] = wanted;
        let drawing = Drawing {
            internet,
            batch: draw.batch,
            cancel,
        };
        let [existing, addresses] = drawing.draw(draw.seed, 0.0, [existing, addresses])?;
        let [missing, _] = drawing.draw(draw.missing_seed, 1.0, [missing, 0])?;
        Ok(Self {
            drawn: [existing, addresses, missing],
            places,
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The question that stands in the place of name `number`: its name as written, with the final dot, and its type's number; `None`
    /// beyond the last.
    pub fn question(&self, number: usize) -> Option<(&[u8], u16)> {
        let place = *self.places.get(number)?;
        let drawn = self.drawn.get((place & ((1 << KIND_BITS) - 1)) as usize)?;
        let index = (place >> KIND_BITS) as usize;
        Some((drawn.names.get(index)?, drawn.types.get(index)?.to_int()))
    }
}

fn no_memory(_: TryReserveError) -> InternetError {
    InternetError::NoMemory
}

/// What questions are drawn of.
struct Drawing<'a> {
    internet: &'a Internet,
    batch: usize,
    cancel: &'a AtomicBool,
}

/// Questions for different names.
#[derive(Default)]
struct Different {
    wanted: usize,
    names: NumberedTexts,
    types: Vec<Rtype>,
    /// Questions of the last batches, up to [`WINDOW`], and how many of them were for new names.
    seen: usize,
    new: usize,
}

impl Different {
    fn lacks(&self) -> usize {
        self.wanted - self.types.len()
    }

    fn take(&mut self, name: &str, rtype: Rtype) -> Result<(), TryReserveError> {
        self.seen += 1;
        if self.lacks() == 0 {
            return Ok(());
        }
        self.types.try_reserve(1)?;
        if self.names.number(name.as_bytes())?.1 {
            self.types.push(rtype);
            self.new += 1;
        }
        Ok(())
    }

    /// Whether the last batches had so few new names that the others are not worth waiting for.
    fn is_used_up(&self) -> bool {
        self.lacks() > 0 && self.new * 100 <= self.seen * NEW_PERCENT
    }

    /// How many questions all of the wanted names need at least, of any kind, if `drawn` gave those that are there: the more
    /// names there are, the fewer are new. `None` if none is there.
    fn needed(&self, drawn: u64) -> Option<u64> {
        let needed =
            (u128::from(drawn) * self.wanted as u128).checked_div(self.types.len() as u128)?;
        Some(u64::try_from(needed).unwrap_or(u64::MAX))
    }
}

impl Drawing<'_> {
    /// Draws questions for so many different names, and for so many different names of addresses.
    fn draw(
        &self,
        seed: u64,
        missing_share: f64,
        wanted: [usize; 2],
    ) -> Result<[Drawn; 2], InternetError> {
        let mut found = wanted.map(|wanted| Different {
            wanted,
            ..Different::default()
        });
        let mut name = String::new();
        for batch in 0.. {
            if found.iter().all(|some| some.lacks() == 0) {
                break;
            }
            if batch > 0 && batch % WINDOW == 0 {
                Self::refuse_endless(&mut found, batch * self.batch as u64)?;
            }
            if self.cancel.load(Ordering::Relaxed) {
                return Err(InternetError::Stopped);
            }
            let questions = QueryNames::new(self.internet, seed.wrapping_add(batch), missing_share);
            for asked in questions.take(self.batch) {
                name.clear();
                // Writing to a String cannot fail.
                let _ = write!(name, "{}", asked.name.fmt_with_dot());
                let is_address = asked.rtype == Rtype::PTR;
                found[usize::from(is_address)]
                    .take(&name, asked.rtype)
                    .map_err(no_memory)?;
            }
        }
        Ok(found.map(|some| Drawn {
            names: some.names.into_texts(),
            types: some.types,
        }))
    }

    /// Ends the draw if a kind of which names are lacking has hardly any more, or after `drawn` questions of all kinds has so few
    /// that those lacking would take too many; begins to count anew.
    fn refuse_endless(found: &mut [Different; 2], drawn: u64) -> Result<(), InternetError> {
        for (some, what) in found.iter_mut().zip(["names", "addresses with names"]) {
            let wanted = some.wanted;
            if some.is_used_up() {
                return Err(InternetError::TooFewNames { what, wanted });
            }
            if let Some(needed) = some.needed(drawn)
                && some.lacks() > 0
                && needed > MOST_QUESTIONS
            {
                return Err(InternetError::TooRareNames {
                    what,
                    wanted,
                    needed,
                    most: MOST_QUESTIONS,
                });
            }
            (some.seen, some.new) = (0, 0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InternetOptions, Profile};
    use std::collections::HashSet;

    const DRAW: Draw = Draw {
        batch: 1000,
        seed: 5,
        missing_seed: 1 << 32,
    };

    fn internet(domains: u64) -> Internet {
        let mut profile = Profile::load("small").unwrap();
        profile.domains = domains;
        Internet::new(&profile, InternetOptions::new(1, 1_700_000_000)).unwrap()
    }

    fn kinds(count: usize) -> impl Iterator<Item = StandIn> {
        let turns = [
            StandIn::Existing,
            StandIn::Missing,
            StandIn::Existing,
            StandIn::Address,
        ];
        turns.into_iter().cycle().take(count)
    }

    fn drawn(domains: u64, count: usize, draw: &Draw) -> Result<StandIns, InternetError> {
        let running = AtomicBool::new(false);
        StandIns::draw(&internet(domains), kinds(count), draw, &running)
    }

    #[test]
    fn each_name_has_a_question_of_its_own_and_of_its_kind() {
        let made = drawn(3000, 400, &DRAW).unwrap();
        assert_eq!(
            (made.len(), made.is_empty(), made.question(400)),
            (400, false, None)
        );
        let questions: Vec<_> = (0..400)
            .map(|number| made.question(number).unwrap())
            .collect();
        let names: HashSet<_> = questions.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), 400);
        for (kind, (name, rtype)) in kinds(400).zip(&questions) {
            assert_eq!(kind == StandIn::Address, *rtype == Rtype::PTR.to_int());
            assert!(kind != StandIn::Missing || name.starts_with(b"x"));
            assert!(name.ends_with(b"."));
        }
        // They are what the Internet's clients would ask, in that order.
        let internet = internet(3000);
        let first = QueryNames::new(&internet, 5, 0.0)
            .find(|asked| asked.rtype != Rtype::PTR)
            .unwrap();
        assert_eq!(
            questions[0].0,
            format!("{}", first.name.fmt_with_dot()).as_bytes()
        );
        assert_eq!(questions[0].1, first.rtype.to_int());
    }

    #[test]
    fn more_names_than_there_are_are_refused() {
        let error = drawn(100, 100_000, &DRAW).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("too few names for the 50000 of the traffic"),
            "{error}"
        );
    }

    #[test]
    fn names_that_would_take_hours_to_draw_are_refused() {
        let mut profile = Profile::load("small").unwrap();
        profile.domains = 100;
        profile.reverse.as_mut().unwrap().query_share = 1e-4;
        let rare = Internet::new(&profile, InternetOptions::new(1, 1_700_000_000)).unwrap();
        let running = AtomicBool::new(false);
        let draw = |count| {
            let kinds = std::iter::repeat_n(StandIn::Address, count);
            StandIns::draw(&rare, kinds, &DRAW, &running)
        };
        assert_eq!(draw(2).unwrap().len(), 2);
        let error = draw(5_000_000).unwrap_err();
        assert!(
            matches!(error, InternetError::TooRareNames { wanted: 5_000_000, needed, most, .. } if needed > most),
            "{error}"
        );
        assert!(
            error.to_string().contains("change reverse.query_share"),
            "{error}"
        );
    }

    #[test]
    fn what_a_draw_needs_follows_from_what_it_gave() {
        let mut some = Different {
            wanted: 100_000,
            ..Different::default()
        };
        assert_eq!(some.needed(8_000_000), None);
        for name in ["a.", "b.", "a."] {
            some.take(name, Rtype::PTR).unwrap();
        }
        assert_eq!(some.needed(8_000_000), Some(400_000_000_000));
        assert_eq!(some.needed(u64::MAX), Some(u64::MAX));
    }

    #[test]
    fn more_batches_are_drawn_while_they_have_new_names() {
        let small = Draw { batch: 10, ..DRAW };
        assert_eq!(drawn(3000, 4000, &small).unwrap().len(), 4000);
    }

    #[test]
    fn whoever_asks_it_to_stop_is_heard() {
        let stopped = AtomicBool::new(true);
        let made = StandIns::draw(&internet(100), kinds(4), &DRAW, &stopped);
        assert!(matches!(made, Err(InternetError::Stopped)));
    }
}

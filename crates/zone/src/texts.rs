//! Many short octet strings in little memory: one after the other in one buffer, found by number, and by what they are.

use std::collections::TryReserveError;
use std::hash::{BuildHasher, RandomState};

/// Octet strings, numbered from 0 in the order in which they were added. Beside its octets each takes 8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    octets: Vec<u8>,
    /// Where each ends in `octets`.
    ends: Vec<u64>,
}

impl Texts {
    /// Appends one.
    ///
    /// # Errors
    /// Memory does not suffice; then nothing changes.
    pub fn try_push(&mut self, text: &[u8]) -> Result<(), TryReserveError> {
        self.octets.try_reserve(text.len())?;
        self.ends.try_reserve(1)?;
        self.octets.extend_from_slice(text);
        self.ends.push(self.octets.len() as u64);
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The one with this number; `None` beyond the last.
    pub fn get(&self, number: usize) -> Option<&[u8]> {
        let end = *self.ends.get(number)?;
        let start = match number {
            0 => 0,
            _ => self.ends[number - 1],
        };
        Some(&self.octets[start as usize..end as usize])
    }
}

/// Different octet strings, numbered from 0 in the order of their first appearance.
///
/// Beside its octets each takes about 14, where a map of boxes would take 60.
#[derive(Clone, Debug, Default)]
pub struct NumberedTexts {
    texts: Texts,
    /// Numbers of `texts` plus 1 by their hash, 0 where there is none; as many as a power of two, a third of them free.
    slots: Vec<u32>,
    hasher: RandomState,
}

impl NumberedTexts {
    /// The number of `text`, and whether it is new.
    ///
    /// # Errors
    /// Memory does not suffice, or there would be more than `u32` can number; then nothing changes.
    pub fn number(&mut self, text: &[u8]) -> Result<(u32, bool), TryReserveError> {
        if self.texts.len() * 3 >= self.slots.len() * 2 {
            self.grow()?;
        }
        let slot = self.slot(text);
        if let Some(number) = self.slots[slot].checked_sub(1) {
            return Ok((number, false));
        }
        let number = self.texts.len() as u32;
        self.texts.try_push(text)?;
        self.slots[slot] = number + 1;
        Ok((number, true))
    }

    /// The texts by number.
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The texts by number, without what finds them.
    pub fn into_texts(self) -> Texts {
        self.texts
    }

    /// Where `text` is, or belongs.
    fn slot(&self, text: &[u8]) -> usize {
        let mut slot = self.first_slot(text);
        loop {
            match self.slots[slot].checked_sub(1) {
                Some(number) if self.texts.get(number as usize) != Some(text) => {
                    slot = (slot + 1) & (self.slots.len() - 1);
                }
                _ => return slot,
            }
        }
    }

    fn first_slot(&self, text: &[u8]) -> usize {
        self.hasher.hash_one(text) as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) -> Result<(), TryReserveError> {
        let len = (self.slots.len() * 2).max(16);
        let mut slots = Vec::new();
        // More than this would have numbers beyond u32: refused as what no memory holds.
        let is_numbered = len as u64 <= 1 << 32;
        slots.try_reserve_exact(if is_numbered { len } else { usize::MAX })?;
        slots.resize(len, 0);
        self.slots = slots;
        for number in 0..self.texts.len() {
            let text = self.texts.get(number).unwrap_or_default();
            let mut slot = self.first_slot(text);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = number as u32 + 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn numbers_are_those_of_a_map(given in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3), 0..500)) {
            let mut numbered = NumberedTexts::default();
            let mut expected: HashMap<Vec<u8>, u32> = HashMap::new();
            for text in &given {
                let next = expected.len() as u32;
                let is_new = !expected.contains_key(text);
                let number = *expected.entry(text.clone()).or_insert(next);
                prop_assert_eq!(numbered.number(text).unwrap(), (number, is_new));
            }
            let texts = numbered.into_texts();
            prop_assert_eq!(texts.len(), expected.len());
            prop_assert_eq!(texts.is_empty(), expected.is_empty());
            for (text, number) in &expected {
                prop_assert_eq!(texts.get(*number as usize), Some(text.as_slice()));
            }
            prop_assert_eq!(texts.get(texts.len()), None);
        }
    }
}

//! What takes the memory of an Internet.

use crate::excerpt::Excerpt;
use crate::internet::Internet;

/// Octets, about, by what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Records of zones and parts of zones, as they are answered from.
    pub zones: usize,
    /// Keys of these; such as several parts of a zone share count with each.
    pub keys: usize,
    /// The RRsets of these as they are signed, and the beginnings of their signatures' records.
    pub to_sign: usize,
    /// Signatures that were made.
    pub signatures: usize,
    /// Answers that were given, to be given again.
    pub answers: usize,
    /// The hashes of registries' NSEC3 chains, which `InternetOptions::memory_octets` does not bound.
    pub chains: usize,
}

impl Internet {
    /// What its memory is taken by now. It looks at all zones that were made, so it is nothing to be asked for often.
    pub fn memory(&self) -> Memory {
        let mut memory = Memory {
            signatures: self.signatures.octets(),
            answers: self.ready.octets(),
            chains: self.registries.iter().map(|one| one.ring_octets()).sum(),
            ..Memory::default()
        };
        let mut add = |excerpt: &Excerpt| {
            let parts = excerpt.parts;
            memory.keys += parts.keys;
            memory.to_sign += parts.to_sign;
            memory.zones += excerpt.octets - parts.keys - parts.to_sign;
        };
        self.excerpts.for_each(|excerpt| add(excerpt));
        if let Some(root) = self.root.get() {
            add(root);
        }
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InternetOptions, Profile, Responding};
    use std::num::NonZeroUsize;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn the_parts_are_the_whole() {
        let profile = Profile::load("small").unwrap();
        let internet = Internet::new(&profile, InternetOptions::new(1, 1_700_000_000)).unwrap();
        assert_eq!(internet.memory(), Memory::default());
        internet.prepare().unwrap();
        let chains = internet.memory().chains;
        // 21 octets for each of some thousands of names.
        assert!((21 * 2000..21 * 40_000).contains(&chains), "{chains}");
        internet
            .presign(50, NonZeroUsize::MIN, &AtomicBool::new(false))
            .unwrap();
        let memory = internet.memory();
        let parts = [memory.zones, memory.keys, memory.to_sign, memory.signatures];
        let all = parts.iter().sum::<usize>() + memory.answers;
        assert_eq!(all, internet.octets());
        assert!(parts.iter().all(|octets| *octets > 1000), "{memory:?}");
        assert_eq!(memory.chains, chains);
    }
}

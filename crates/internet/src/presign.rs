//! Making zones and signatures before they are asked for.

use crate::InternetError;
use crate::internet::Internet;
use crate::random::{Permutation, Purpose};
use crate::registry::Delegation;
use crate::zones::{ExcerptKey, Part};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Domains after which it is looked whether the work was cancelled.
const STEP: u64 = 64;

impl Internet {
    /// Makes what every resolver needs: the root's zone with its signatures, and the NSEC3 chains of all registries.
    ///
    /// # Errors
    /// [`InternetError::Sign`] if keys cannot be made.
    pub fn prepare(&self) -> Result<(), InternetError> {
        self.excerpt(ExcerptKey::Root)?.presign(&self.signatures)?;
        for (number, registry) in (0..).zip(&self.registries) {
            let signing = registry.signing.as_ref();
            if let Some(nsec3) = signing.and_then(|signing| signing.nsec3.as_ref()) {
                registry.ring(nsec3);
            }
            let key = ExcerptKey::Registry(number, Part::Apex);
            self.excerpt(key)?.presign(&self.signatures)?;
        }
        Ok(())
    }

    /// Makes the zones of the `domains` most popular domains, of all operators, and their delegations, with all signatures, as
    /// far as memory reaches; stops early once `cancel` is set.
    ///
    /// # Errors
    /// [`InternetError::Sign`] if keys cannot be made.
    pub fn presign(
        &self,
        domains: u64,
        threads: NonZeroUsize,
        cancel: &AtomicBool,
    ) -> Result<(), InternetError> {
        for (zone, operator) in (0..).zip(&self.operators) {
            let delegation = Delegation::Operator(zone);
            self.presign_zone(operator.registry, delegation, ExcerptKey::Operator(zone))?;
        }
        let domains = domains.min(self.domains());
        let popularity = self.popularity();
        let next = AtomicU64::new(0);
        let failure = Mutex::new(None);
        let work = || -> Result<(), InternetError> {
            loop {
                let from = next.fetch_add(STEP, Ordering::Relaxed);
                if from >= domains || cancel.load(Ordering::Relaxed) {
                    return Ok(());
                }
                for rank in from..(from + STEP).min(domains) {
                    let (registry, index) = self.domain_of(popularity.at(rank));
                    let key = ExcerptKey::Domain(registry, index);
                    self.presign_zone(registry, Delegation::Domain(index), key)?;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..threads.get() {
                scope.spawn(|| {
                    if let Err(error) = work() {
                        let mut failure = failure
                            .lock()
                            .unwrap_or_else(|poisoned| poisoned.into_inner());
                        failure.get_or_insert(error);
                    }
                });
            }
        });
        let failure = failure
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        failure.map_or(Ok(()), Err)
    }

    fn presign_zone(
        &self,
        registry: u32,
        delegation: Delegation,
        key: ExcerptKey,
    ) -> Result<(), InternetError> {
        let of_registry = &self.registries[registry as usize];
        let name = match delegation {
            Delegation::Domain(index) => of_registry.domain_name(index),
            Delegation::Operator(zone) => self.operators[zone as usize].name.clone(),
        };
        let label = name.as_slice().get(1..1 + usize::from(name.as_slice()[0]));
        let part = self.part_for(of_registry, label);
        self.excerpt(ExcerptKey::Registry(registry, part))?
            .presign(&self.signatures)?;
        self.excerpt(key)?.presign(&self.signatures)
    }

    /// Maps the rank of a domain, 0 for the most popular, to its number.
    pub(crate) fn popularity(&self) -> Permutation {
        Permutation::new(self.options.seed, Purpose::Popularity, 0, self.domains())
    }

    /// The registry of domain number `number`, and its index there.
    pub(crate) fn domain_of(&self, number: u64) -> (u32, u64) {
        let after = self
            .registries
            .partition_point(|one| one.domains_before <= number);
        let registry = after.saturating_sub(1);
        (
            registry as u32,
            number - self.registries[registry].domains_before,
        )
    }
}

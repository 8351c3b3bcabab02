//! Making zones and signatures before they are asked for.

use crate::InternetError;
use crate::answer::ZoneId;
use crate::internet::Internet;
use crate::query::HEADER;
use crate::random::{Purpose, permutation};
use crate::zones::{ExcerptKey, Part};
use dnsrig_zone::lookup::LookupName;
use dnsrig_zone::splitmix::Permutation;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// Zones that a thread takes at a time.
const STEP: u64 = 64;

impl Internet {
    /// Makes what every resolver needs: keys that zones share, the root's zone with its signatures, and the NSEC3 chains of all
    /// registries.
    ///
    /// # Errors
    /// [`InternetError::Sign`] if keys cannot be made.
    pub fn prepare(&self) -> Result<(), InternetError> {
        self.keys.make_shared(&self.profile.algorithms())?;
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
        self.presign_operators(cancel)?;
        let popularity = self.popularity();
        in_steps(domains.min(self.domains()), threads, cancel, |rank| {
            let (registry, index) = self.domain_of(popularity.at(rank));
            let name = self.registries[registry as usize].domain_name(index);
            self.presign_name(name.as_slice())
        })
    }

    /// Makes the zones that the questions of the queries `message(0)` to `message(count - 1)` lead to, with all signatures: those
    /// of their domains, the parts of registries that delegate them or deny their names, and those of all operators. Queries
    /// without a readable question are passed over. It goes as far as memory reaches, and stops early once `cancel` is set.
    ///
    /// # Errors
    /// [`InternetError::Sign`] if keys cannot be made.
    pub fn presign_for<'a>(
        &self,
        count: usize,
        message: impl Fn(usize) -> &'a [u8] + Sync,
        threads: NonZeroUsize,
        cancel: &AtomicBool,
    ) -> Result<(), InternetError> {
        self.presign_operators(cancel)?;
        in_steps(count as u64, threads, cancel, |place| {
            let question = message(place as usize).get(HEADER..);
            question.map_or(Ok(()), |octets| self.presign_name(octets))
        })
    }

    fn presign_operators(&self, cancel: &AtomicBool) -> Result<(), InternetError> {
        let operators = self.operators.iter();
        let mut operators = operators.take_while(|_| !cancel.load(Ordering::Relaxed));
        operators.try_for_each(|operator| self.presign_name(operator.name.as_slice()))
    }

    /// Makes and signs what is needed to answer for a name, from its top-level domain on; the root's zone is made whole by
    /// [`Internet::prepare`].
    fn presign_name(&self, wire: &[u8]) -> Result<(), InternetError> {
        let mut name = LookupName::default();
        if name.set(wire).is_none() {
            return Ok(());
        }
        let (zones, count) = self.zones_of(&name);
        for zone in zones[..count].iter().filter(|zone| **zone != ZoneId::Root) {
            let key = self.excerpt_key(*zone, &name);
            self.excerpt(key)?.presign(&self.signatures)?;
        }
        Ok(())
    }

    /// Maps the rank of a domain, 0 for the most popular, to its number.
    pub(crate) fn popularity(&self) -> Permutation {
        permutation(self.options.seed, Purpose::Popularity, 0, self.domains())
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

/// Does `work` for each number below `count` on `threads` threads, until one fails or `cancel` is set.
fn in_steps(
    count: u64,
    threads: NonZeroUsize,
    cancel: &AtomicBool,
    work: impl Fn(u64) -> Result<(), InternetError> + Sync,
) -> Result<(), InternetError> {
    let next = AtomicU64::new(0);
    let has_failed = AtomicBool::new(false);
    let run = || -> Result<(), InternetError> {
        loop {
            let from = next.fetch_add(STEP, Ordering::Relaxed);
            if from >= count {
                return Ok(());
            }
            for number in from..(from + STEP).min(count) {
                if cancel.load(Ordering::Relaxed) || has_failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                work(number).inspect_err(|_| has_failed.store(true, Ordering::Relaxed))?;
            }
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.get()).map(|_| scope.spawn(run)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

//! Tables that are made when a key has been used so often that they pay.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Signatures verified by one key before tables of its multiples are made: making them costs as much as some hundred
/// verifications without, so that small zones pay nothing and large ones little.
pub(super) const USES: usize = 1000;

/// Tables of one key, made once; threads that come meanwhile do without.
pub(super) struct Tables<T> {
    uses: AtomicUsize,
    tables: OnceLock<T>,
}

impl<T> Tables<T> {
    pub fn new() -> Self {
        Self {
            uses: AtomicUsize::new(0),
            tables: OnceLock::new(),
        }
    }

    /// The tables, if there are any before `count` more verifications; makes them when it is time.
    pub fn get(&self, count: usize, make: impl FnOnce() -> Option<T>) -> Option<&T> {
        if let Some(tables) = self.tables.get() {
            return Some(tables);
        }
        let before = self.uses.fetch_add(count, Ordering::Relaxed);
        // Exactly one of the threads sees the number pass.
        if before < USES && before + count >= USES {
            let made = make()?;
            return Some(self.tables.get_or_init(|| made));
        }
        None
    }
}

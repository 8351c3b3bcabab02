//! A responder that can be replaced while threads answer from it.

use crate::Responder;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The responder in use; replacing it is how zones are reloaded.
#[derive(Debug)]
pub struct SharedResponder {
    current: Mutex<Arc<Responder>>,
    /// Counts replacements, so that threads need the lock only after one.
    generation: AtomicU64,
}

impl SharedResponder {
    /// Shares a responder.
    pub fn new(responder: Responder) -> Self {
        Self {
            current: Mutex::new(Arc::new(responder)),
            generation: AtomicU64::new(0),
        }
    }

    /// Answers queries from `responder` from now on; zone transfers under way end with the one they began with.
    pub fn replace(&self, responder: Responder) {
        let responder = Arc::new(responder);
        *self
            .current
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = responder;
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The responder in use.
    pub fn current(&self) -> Arc<Responder> {
        Arc::clone(
            &self
                .current
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner()),
        )
    }
}

/// A thread's hold on the responder in use.
pub(super) struct Follower<'a> {
    shared: &'a SharedResponder,
    generation: u64,
    responder: Arc<Responder>,
}

impl<'a> Follower<'a> {
    pub fn new(shared: &'a SharedResponder) -> Self {
        Self {
            generation: shared.generation.load(Ordering::Acquire),
            responder: shared.current(),
            shared,
        }
    }

    /// The responder that the last query was answered from, which a zone transfer goes on with.
    pub fn last_used(&self) -> Arc<Responder> {
        Arc::clone(&self.responder)
    }

    /// The responder in use.
    pub fn responder(&mut self) -> &Arc<Responder> {
        let generation = self.shared.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.generation = generation;
            self.responder = self.shared.current();
        }
        &self.responder
    }
}

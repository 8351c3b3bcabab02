//! A server in the background.

use super::{Counters, ListenAddresses, ServeConfig, SharedResponder, listen, run};
use crate::{AnswerError, Responder};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A server that runs in the background until it is stopped or dropped.
#[derive(Debug)]
pub struct Server {
    addresses: ListenAddresses,
    common: Arc<Common>,
    thread: Option<JoinHandle<Result<(), AnswerError>>>,
}

#[derive(Debug)]
struct Common {
    responder: SharedResponder,
    counters: Counters,
    stop: AtomicBool,
}

impl Server {
    /// Starts a server; it can be asked when this returns.
    ///
    /// # Errors
    /// As [`serve`](super::serve).
    pub fn start(config: ServeConfig, responder: Responder) -> Result<Self, AnswerError> {
        let listeners = listen::listen(&config)?;
        let addresses = listeners.addresses;
        let common = Arc::new(Common {
            responder: SharedResponder::new(responder),
            counters: Counters::default(),
            stop: AtomicBool::new(false),
        });
        let run = {
            let common = Arc::clone(&common);
            move || {
                let Common {
                    responder,
                    counters,
                    stop,
                } = &*common;
                run(&config, listeners, responder, counters, stop, |_| {})
            }
        };
        let thread = thread::Builder::new()
            .name("answer".into())
            .spawn(run)
            .map_err(|source| AnswerError::Thread { source })?;
        Ok(Self {
            addresses,
            common,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn addresses(&self) -> ListenAddresses {
        self.addresses
    }

    /// What it has received and sent.
    pub fn counters(&self) -> &Counters {
        &self.common.counters
    }

    /// What it answers from; give it new zones there.
    pub fn responder(&self) -> &SharedResponder {
        &self.common.responder
    }

    /// Stops it, and tells if serving had broken off before.
    ///
    /// # Errors
    /// As [`serve`](super::serve).
    pub fn stop(mut self) -> Result<(), AnswerError> {
        self.common.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.common.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Who wants to know the error calls `stop`.
            let _ = thread.join();
        }
    }
}

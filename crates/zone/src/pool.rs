//! Threads that work through jobs, and results in the order of the jobs.

use crate::error::ZoneError;
use std::collections::VecDeque;
use std::hint::black_box;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How often somebody who waits for a result looks whether it is still wanted.
const CANCEL_CHECK: Duration = Duration::from_millis(50);
/// Octets of address space for a thread: the stack that std gives it, and some for what it allocates.
const THREAD_SPACE: usize = 3 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// A fixed number of threads; jobs begin in the order in which they were given.
///
/// Dropping the pool waits for all jobs that it was given, those that have not begun included.
pub struct Pool {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}

/// The result of a job that may not have ended yet.
#[derive(Debug)]
pub struct Ticket<T>(Receiver<std::thread::Result<T>>);

impl<T> Ticket<T> {
    /// Waits for the result.
    ///
    /// # Panics
    /// With the panic of the job, if that panicked.
    pub fn wait(self) -> T {
        match self.0.recv() {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => unreachable!("a job always sends its result"),
        }
    }

    /// Waits for the result like [`Ticket::wait`], or until `cancel` is set: `None`.
    fn wait_unless(self, cancel: &AtomicBool) -> Option<T> {
        loop {
            if cancel.load(Ordering::Relaxed) {
                return None;
            }
            match self.0.recv_timeout(CANCEL_CHECK) {
                Ok(Ok(result)) => return Some(result),
                Ok(Err(panic)) => resume_unwind(panic),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    unreachable!("a job always sends its result")
                }
            }
        }
    }
}

/// Refuses more threads than there is address space for: where that ends while threads start, the C library ends the process.
fn check_space(threads: usize) -> Result<(), ZoneError> {
    let mut space = Vec::<u8>::new();
    let reserved = space.try_reserve_exact(threads.saturating_mul(THREAD_SPACE));
    black_box(&space);
    reserved.map_err(|_| ZoneError::Threads {
        wanted: threads,
        source: ErrorKind::OutOfMemory.into(),
    })
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`ZoneError::Threads`] if not all of them can be started.
    pub fn new(threads: NonZeroUsize) -> Result<Self, ZoneError> {
        check_space(threads.get())?;
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let work = |queue: Arc<Mutex<Receiver<Job>>>| {
            move || {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    match next {
                        Ok(job) => job(),
                        Err(_) => return,
                    }
                }
            }
        };
        let mut pool = Self {
            jobs: Some(jobs),
            threads: Vec::new(),
        };
        for _ in 0..threads.get() {
            let started = Builder::new().spawn(work(queue.clone()));
            // Those that were started end with the pool.
            pool.threads
                .push(started.map_err(|source| ZoneError::Threads {
                    wanted: threads.get(),
                    source,
                })?);
        }
        Ok(pool)
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Jobs of one kind that should wait or run at once, so that no thread is idle and memory stays bounded.
    pub fn depth(&self) -> usize {
        2 * self.threads.len() + 1
    }

    /// Gives the threads a job.
    pub fn submit<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Ticket<T> {
        let (sender, receiver) = sync_channel(1);
        let job = Box::new(move || {
            // Nobody waits any more if the receiver is gone.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(job)));
        });
        if let Some(jobs) = &self.jobs {
            // The threads end only after `jobs` is dropped.
            let _ = jobs.send(job);
        }
        Ticket(receiver)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // Jobs catch their panics.
            let _ = thread.join();
        }
    }
}

/// Results of a pool's jobs in the order in which the jobs were given.
#[derive(Debug)]
pub struct InOrder<T>(VecDeque<Ticket<T>>);

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> InOrder<T> {
    /// Appends a job's ticket.
    pub fn push(&mut self, ticket: Ticket<T>) {
        self.0.push_back(ticket);
    }

    /// Jobs whose results were not taken yet.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether all results were taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Waits for the result of the earliest job; `None` if there is none.
    pub fn take(&mut self) -> Option<T> {
        self.0.pop_front().map(Ticket::wait)
    }

    /// Like [`InOrder::take`], but fails as soon as `cancel` is set.
    ///
    /// # Errors
    /// [`ZoneError::Cancelled`].
    pub fn take_unless(&mut self, cancel: &AtomicBool) -> Result<Option<T>, ZoneError> {
        let Some(ticket) = self.0.pop_front() else {
            return Ok(None);
        };
        match ticket.wait_unless(cancel) {
            Some(result) => Ok(Some(result)),
            None => Err(ZoneError::Cancelled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize) -> Pool {
        Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap()
    }

    #[test]
    fn results_come_in_order() {
        let pool = pool(4);
        let mut results = InOrder::default();
        for number in 0..1000u32 {
            results.push(pool.submit(move || number));
        }
        let all: Vec<u32> = std::iter::from_fn(|| results.take()).collect();
        assert!(all.into_iter().eq(0..1000));
    }

    #[test]
    fn who_cancels_does_not_wait() {
        let pool = pool(1);
        let cancel = AtomicBool::new(false);
        let (end, until_end) = channel::<()>();
        let mut results = InOrder::default();
        results.push(pool.submit(|| 7));
        results.push(pool.submit(move || until_end.recv().map_or(1, |()| 0)));
        assert!(matches!(results.take_unless(&cancel), Ok(Some(7))));
        cancel.store(true, Ordering::Relaxed);
        assert!(matches!(
            results.take_unless(&cancel),
            Err(ZoneError::Cancelled)
        ));
        assert!(matches!(results.take_unless(&cancel), Ok(None)));
        drop(end);
    }

    #[test]
    #[should_panic(expected = "of the job")]
    fn a_panic_reaches_who_waits() {
        pool(1).submit(|| panic!("the panic of the job")).wait();
    }

    #[test]
    fn threads_outlive_a_panic_and_unread_results() {
        let pool = pool(1);
        drop(pool.submit(|| panic!("nobody looks")));
        assert_eq!(pool.submit(|| 7).wait(), 7);
    }
}

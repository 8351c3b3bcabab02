//! What one generator thread is given to do, and what it gives back.

use crate::account::AnswerTime;
use crate::choice::{Choice, Rotation};
use crate::order::Order;
use crate::stop::{Stop, Stopped};
use crate::tally::Tally;
use crate::transport::TransportTotals;
use hdrhistogram::Histogram;
use std::ops::Range;

/// What one thread is to do.
pub struct Task {
    /// What it sends.
    pub work: Work,
    /// When it begins.
    pub start_ns: u64,
    /// When it stops sending.
    pub stop: Stop,
    /// Clients over which queries with a truncated answer are sent again, if they are.
    pub fallback: Option<Range<usize>>,
}

/// What a thread does each time that its schedule says so.
pub enum Work {
    /// Send the next query.
    Queries {
        /// The queries.
        order: Order,
        /// Who sends them.
        choice: Choice,
    },
    /// Open sessions without a query.
    Sessions {
        /// Whose turn it is.
        rotation: Rotation,
        /// Sessions stay open; otherwise a client closes the one that it has before it opens the next.
        hold: bool,
    },
}

/// What one thread counted in one interval.
pub struct IntervalPart {
    /// Number of the interval, or `None` for the drain, which is one interval of any length.
    pub number: Option<u64>,
    /// Whether this thread sends in no later interval.
    pub last: bool,
    /// When it ended.
    pub end_ns: u64,
    /// Its counts, of each route.
    pub tallies: Vec<Tally>,
}

/// How one thread's load went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why sending stopped.
    pub stopped: Stopped,
    /// When sending stopped.
    pub stopped_ns: u64,
    /// Queries sent, or sessions tried.
    pub sent: u64,
    /// When the last answer arrived, or the start.
    pub last_answer_ns: u64,
    /// Queries of each route answered before sending stopped.
    pub answered_before_stop: Vec<u64>,
    /// The later answers, in the order in which they were taken.
    pub answers_after_stop: Vec<AnswerTime>,
    /// When the last query ended.
    pub ended_ns: u64,
    /// Time until sending stopped in which a query could not be sent because too many were in flight, naps excepted.
    pub blocked_ns: u64,
    /// Time until sending stopped that was slept through, beginning with too many queries in flight.
    pub napped_ns: u64,
    /// Time until sending stopped in which the thread was ready to run but had no CPU.
    pub sending_run_delay_ns: u64,
    /// CPU time of the thread until sending stopped.
    pub sending_cpu_ns: u64,
    /// CPU time of the thread over all.
    pub cpu_ns: u64,
    /// How late the thread was woken up before the load, in nanoseconds.
    pub wake_up_ns: Histogram<u64>,
    /// How late it was woken up until sending stopped, from sleeps that nothing but their end could end.
    pub wake_up_in_load_ns: Histogram<u64>,
    /// Memory of the process when the thread stopped sending, if the kernel says.
    pub resident_bytes: Option<u64>,
    /// What each route's transport counted.
    pub transports: Vec<TransportTotals>,
}

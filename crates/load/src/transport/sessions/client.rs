//! One client: at most one session at a time, and how it is used.

use super::connection::{Connection, State};
use crate::config::SessionSettings;
use crate::refusal::Refusal;
use crate::transport::Obstacle;
use crate::transport::layer::Layer;
use crate::transport::timers::NEVER_NS;

/// How each client uses its sessions.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Queries of a session, at most.
    pub queries: u64,
    /// How long a session may stand without a query in flight.
    pub idle_ns: u64,
}

impl Policy {
    /// What the settings ask for.
    pub fn new(settings: &SessionSettings) -> Self {
        let idle_ns = settings
            .idle
            .map(|idle| u64::try_from(idle.as_nanos()).unwrap_or(NEVER_NS));
        Self {
            queries: settings.queries.unwrap_or(u64::MAX),
            idle_ns: idle_ns.unwrap_or(NEVER_NS),
        }
    }
}

/// A client.
pub struct Client<L> {
    /// Its connection. Without one, a client is small.
    pub connection: Option<Box<Connection<L>>>,
    /// No connection is tried before.
    pub retry_ns: u64,
    /// When the last query in flight ended, or the session opened.
    pub idle_since_ns: u64,
    /// Queries that have been queued and have not ended.
    pub in_flight: u32,
    /// Connections so far: tells what concerns the present one from what concerned an earlier one.
    pub connections: u32,
    /// Why the last attempt failed.
    pub last_refusal: Refusal,
    /// Has queries that `flush` is to look at.
    pub queued: bool,
}

impl<L: Layer> Client<L> {
    /// One without a connection.
    pub fn new() -> Self {
        Self {
            connection: None,
            retry_ns: 0,
            idle_since_ns: 0,
            in_flight: 0,
            connections: 0,
            last_refusal: Refusal::ConnectFailed,
            queued: false,
        }
    }

    /// Whether another query can be queued.
    pub fn has_room(&self, policy: Policy, now_ns: u64) -> bool {
        match &self.connection {
            None => self.retry_ns <= now_ns,
            Some(connection) => {
                connection.state != State::Ending
                    && connection.queries < policy.queries
                    && connection.layer.has_room()
            }
        }
    }

    /// What keeps it from having room.
    pub fn obstacle(&self) -> Obstacle {
        match &self.connection {
            None => Obstacle::Pausing(self.last_refusal),
            Some(connection)
                if connection.state != State::Ending && connection.layer.has_room() =>
            {
                Obstacle::Spent
            }
            Some(_) => Obstacle::Busy,
        }
    }

    /// Whether its session has had all its queries, and they have ended.
    pub fn is_spent(&self, policy: Policy) -> bool {
        self.in_flight == 0
            && self.connection.as_ref().is_some_and(|connection| {
                connection.state == State::Open && connection.queries >= policy.queries
            })
    }

    /// When something is due without anything having arrived.
    pub fn due_ns(&self, policy: Policy, now_ns: u64) -> u64 {
        match &self.connection {
            None if self.retry_ns > now_ns => self.retry_ns,
            None => NEVER_NS,
            Some(connection) if connection.state == State::Open && self.in_flight == 0 => {
                self.idle_since_ns.saturating_add(policy.idle_ns)
            }
            Some(connection) => connection.deadline_ns(),
        }
    }
}

//! Which client sends the next query.

use crate::in_flight::InFlight;
use crate::transport::Transport;

/// Goes round the clients; each sends a short run of queries in turn, which system calls can take at once.
#[derive(Debug)]
pub struct Rotation {
    clients: usize,
    current: usize,
    longest_run: usize,
    run: usize,
}

impl Rotation {
    /// Turns among `clients` clients, of at most `longest_run` queries of one batch.
    pub fn new(clients: usize, longest_run: usize) -> Self {
        Self {
            clients,
            current: 0,
            longest_run: longest_run.max(1),
            run: 0,
        }
    }

    /// The client to send the next query, or `None` if none has room.
    pub fn pick(&mut self, in_flight: &InFlight, transport: &impl Transport) -> Option<usize> {
        if in_flight.is_full() {
            return None;
        }
        if self.run == self.longest_run {
            self.turn();
        }
        for _ in 0..self.clients {
            if in_flight.has_room(self.current) && transport.has_room(self.current) {
                self.run += 1;
                return Some(self.current);
            }
            self.turn();
        }
        None
    }

    /// The batch is over: the next one begins with the next client.
    pub fn end_batch(&mut self) {
        self.turn();
    }

    fn turn(&mut self) {
        self.run = 0;
        self.current = if self.current + 1 == self.clients {
            0
        } else {
            self.current + 1
        };
    }
}

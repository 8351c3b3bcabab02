//! Clients in turn.

use std::ops::Range;

/// Goes round the clients; each sends a short run of queries in turn, which system calls can take at once.
#[derive(Clone, Debug)]
pub struct Rotation {
    clients: Range<usize>,
    current: usize,
    longest_run: usize,
    run: usize,
}

impl Rotation {
    /// Turns among `clients`, of at most `longest_run` queries of one batch.
    pub fn new(clients: Range<usize>, longest_run: usize) -> Self {
        Self {
            current: clients.start,
            clients,
            longest_run: longest_run.max(1),
            run: 0,
        }
    }

    /// The client to send the next query, or `None` if none has room.
    pub fn pick(&mut self, has_room: impl Fn(usize) -> bool) -> Option<usize> {
        if self.run == self.longest_run {
            self.turn();
        }
        for _ in 0..self.clients.len() {
            if has_room(self.current) {
                self.run += 1;
                return Some(self.current);
            }
            self.turn();
        }
        None
    }

    /// The client whose turn it is.
    pub fn next_client(&self) -> usize {
        self.current
    }

    /// The batch is over: the next one begins with the next client.
    pub fn end_batch(&mut self) {
        self.turn();
    }

    fn turn(&mut self) {
        self.run = 0;
        self.current += 1;
        if self.current == self.clients.end {
            self.current = self.clients.start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_takes_its_turn() {
        let mut rotation = Rotation::new(3..6, 2);
        let picked: Vec<_> = (0..8).map(|_| rotation.pick(|_| true).unwrap()).collect();
        assert_eq!(picked, [3, 3, 4, 4, 5, 5, 3, 3]);
        rotation.end_batch();
        assert_eq!(rotation.pick(|client| client != 4), Some(5));
        assert_eq!(rotation.pick(|_| false), None);
    }
}

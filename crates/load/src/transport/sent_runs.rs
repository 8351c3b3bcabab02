//! Which queries travelled in one segmented send: the kernel reports an ICMP error for the first of them alone.

use super::BATCH;

/// Segmented sends that are remembered. An error comes back within a round trip; older ones have been answered or lost.
const REMEMBERED: usize = 128;

/// Message IDs of one segmented send.
#[derive(Clone, Copy)]
struct Run {
    client: usize,
    ids: [u16; BATCH],
    len: usize,
}

/// The last segmented sends, over all clients.
pub struct SentRuns {
    runs: Vec<Run>,
    next: usize,
}

impl SentRuns {
    /// Remembers nothing yet.
    pub fn new() -> Self {
        let empty = Run {
            client: 0,
            ids: [0; BATCH],
            len: 0,
        };
        Self {
            runs: vec![empty; REMEMBERED],
            next: 0,
        }
    }

    /// Remembers a send of `client` with these IDs, at most [`BATCH`], in place of the oldest one.
    pub fn remember(&mut self, client: usize, ids: impl Iterator<Item = u16>) {
        let run = &mut self.runs[self.next];
        run.client = client;
        run.len = 0;
        for (place, id) in run.ids.iter_mut().zip(ids) {
            *place = id;
            run.len += 1;
        }
        self.next = (self.next + 1) % REMEMBERED;
    }

    /// Calls `each` with the IDs that travelled with `first_id`, itself excepted, and forgets them.
    pub fn take(&mut self, client: usize, first_id: u16, each: impl FnMut(u16)) {
        let newest_first = (1..=REMEMBERED).map(|age| (self.next + REMEMBERED - age) % REMEMBERED);
        let found = newest_first
            .map(|index| (index, &self.runs[index]))
            .find(|(_, run)| run.len > 0 && run.client == client && run.ids[0] == first_id);
        if let Some((index, run)) = found {
            run.ids[1..run.len].iter().copied().for_each(each);
            self.runs[index].len = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(runs: &mut SentRuns, client: usize, first_id: u16) -> Vec<u16> {
        let mut ids = Vec::new();
        runs.take(client, first_id, |id| ids.push(id));
        ids
    }

    #[test]
    fn the_newest_send_that_begins_with_an_id_is_meant() {
        let mut runs = SentRuns::new();
        runs.remember(0, [7, 8, 9].into_iter());
        runs.remember(0, [7, 10].into_iter());
        runs.remember(1, [7, 11].into_iter());
        assert_eq!(taken(&mut runs, 0, 8), Vec::<u16>::new());
        assert_eq!(taken(&mut runs, 0, 7), [10]);
        assert_eq!(taken(&mut runs, 0, 7), [8, 9]);
        assert_eq!(taken(&mut runs, 0, 7), Vec::<u16>::new());
        assert_eq!(taken(&mut runs, 1, 7), [11]);
    }

    #[test]
    fn old_sends_are_forgotten() {
        let mut runs = SentRuns::new();
        runs.remember(0, [1, 2].into_iter());
        for _ in 0..REMEMBERED {
            runs.remember(0, [3, 4].into_iter());
        }
        assert_eq!(taken(&mut runs, 0, 1), Vec::<u16>::new());
    }
}

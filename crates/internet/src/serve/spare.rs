//! Buffers of answers that were sent, kept for the next ones.

/// Buffers kept.
const BUFFERS_MAX: usize = 1024;
/// Octets of the largest kept; no answer over UDP is longer.
const OCTETS_MAX: usize = crate::excerpt::UDP_PAYLOAD as usize;

/// Buffers to be used again.
#[derive(Debug, Default)]
pub(super) struct Spare(Vec<Vec<u8>>);

impl Spare {
    /// A buffer with these octets.
    pub fn holding(&mut self, octets: &[u8]) -> Vec<u8> {
        let mut buffer = self.0.pop().unwrap_or_default();
        buffer.extend_from_slice(octets);
        buffer
    }

    /// Keeps a buffer for the next answers, unless there are enough or it is large.
    pub fn keep(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < BUFFERS_MAX && buffer.capacity() <= OCTETS_MAX {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_neither_too_many_nor_too_large_ones() {
        let mut spare = Spare::default();
        let many: Vec<Vec<u8>> = (0..2 * BUFFERS_MAX)
            .map(|_| spare.holding(&[7; 1232]))
            .collect();
        many.into_iter().for_each(|buffer| spare.keep(buffer));
        let large: Vec<Vec<u8>> = (0..10).map(|_| spare.holding(&[7; 60_000])).collect();
        large.into_iter().for_each(|buffer| spare.keep(buffer));
        assert!((1..=BUFFERS_MAX).contains(&spare.0.len()));
        assert!(
            spare
                .0
                .iter()
                .all(|one| one.is_empty() && one.capacity() <= OCTETS_MAX)
        );
        assert_eq!(spare.holding(&[1, 2]), [1, 2]);
    }
}

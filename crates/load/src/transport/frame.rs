//! DNS messages in a byte stream: two octets of length before each (RFC 1035 section 4.2.2).

/// Cuts a byte stream into messages.
#[derive(Debug, Default)]
pub struct FrameReader {
    /// The beginning of a message whose rest has not come.
    partial: Vec<u8>,
}

impl FrameReader {
    /// Takes the next octets of the stream and gives each message they complete to `each`.
    pub fn feed(&mut self, octets: &[u8], mut each: impl FnMut(&[u8])) {
        if self.partial.is_empty() {
            let rest = whole_frames(octets, &mut each);
            self.partial.extend_from_slice(rest);
        } else {
            self.partial.extend_from_slice(octets);
            let rest_len = whole_frames(&self.partial, &mut each).len();
            self.partial.drain(..self.partial.len() - rest_len);
        }
    }

    /// Whether a message has begun that is not complete.
    pub fn is_inside_message(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Lets go of its memory, unless a message has begun.
    pub fn release(&mut self) {
        if self.partial.is_empty() {
            self.partial = Vec::new();
        }
    }
}

/// Gives the whole messages at the beginning of `octets` to `each`; what it gives back is the rest.
fn whole_frames<'o>(mut octets: &'o [u8], each: &mut impl FnMut(&[u8])) -> &'o [u8] {
    while let Some((len, rest)) = octets.split_first_chunk::<2>() {
        let Some((message, rest)) = rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))
        else {
            break;
        };
        each(message);
        octets = rest;
    }
    octets
}

/// Appends `message` to `stream` as a frame, its first two octets replaced by `id`.
///
/// The message is one of a checked stream: 12 to 65535 octets.
pub fn append(stream: &mut Vec<u8>, id: u16, message: &[u8]) {
    stream.extend_from_slice(&(message.len() as u16).to_be_bytes());
    stream.extend_from_slice(&id.to_be_bytes());
    stream.extend_from_slice(&message[2..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn messages_survive_any_cutting(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 2..80), 0..20),
            cuts in proptest::collection::vec(1usize..50, 1..50),
        ) {
            let mut stream = Vec::new();
            for message in &messages {
                append(&mut stream, u16::from_be_bytes([message[0], message[1]]), message);
            }
            let mut reader = FrameReader::default();
            let mut seen: Vec<Vec<u8>> = Vec::new();
            let mut rest = stream.as_slice();
            for cut in cuts.iter().cycle() {
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                reader.feed(now, |message| seen.push(message.to_vec()));
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(seen, messages);
            prop_assert!(!reader.is_inside_message());
        }
    }

    #[test]
    fn knows_a_cut_message() {
        let mut reader = FrameReader::default();
        reader.feed(&[0, 5, 1], |_| panic!("no message is complete"));
        assert!(reader.is_inside_message());
        reader.release();
        assert!(reader.is_inside_message(), "what has begun is kept");
    }
}

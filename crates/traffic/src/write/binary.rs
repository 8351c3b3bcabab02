//! The load's binary form, which is dnsperf's (its `-B`): each message after its length in two octets, as on TCP (RFC 1035
//! section 4.2.2). Times and clients have no place in it.

/// Appends `message` after its length; `false`, and nothing appended, if it is longer than a message can be.
pub fn push_message(message: &[u8], target: &mut Vec<u8>) -> bool {
    let Ok(len) = u16::try_from(message.len()) else {
        return false;
    };
    target.extend_from_slice(&len.to_be_bytes());
    target.extend_from_slice(message);
    true
}

#[cfg(test)]
mod tests {
    use super::push_message;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_load_reads_what_is_written(messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..20)) {
            let mut file = Vec::new();
            prop_assert!(messages.iter().all(|message| push_message(message, &mut file)));
            let (stream, cut) = dnsrig_stream::binary::parse(&file[..]).unwrap();
            prop_assert_eq!((stream.len(), cut), (messages.len(), None));
            for (read, message) in stream.iter().zip(&messages) {
                prop_assert_eq!(read.get(2..), message.get(2..));
            }
        }
    }

    #[test]
    fn no_message_is_longer_than_its_length_can_say() {
        let mut file = Vec::new();
        assert!(!push_message(&[0; 65_536], &mut file) && file.is_empty());
    }
}

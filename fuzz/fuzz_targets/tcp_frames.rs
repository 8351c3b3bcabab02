//! A TCP stream cut into pieces anywhere: the first octet says how long the pieces are.
#![no_main]

use dnsrig_load::FrameReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|octets: &[u8]| {
    let Some((piece_len, stream)) = octets.split_first() else { return };
    let read = |piece_len: usize| {
        let (mut reader, mut messages) = (FrameReader::default(), Vec::new());
        for piece in stream.chunks(piece_len.max(1)) {
            reader.feed(piece, |message| messages.push(message.to_vec()));
        }
        (messages, reader.is_inside_message())
    };
    assert_eq!(read(usize::from(*piece_len)), read(stream.len()), "the cutting makes no difference");
});

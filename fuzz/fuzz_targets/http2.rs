//! What a DoH server sends, cut into pieces anywhere: the first octet says how long the pieces are.
#![no_main]

use dnsrig_load::answer::Malformed;
use dnsrig_load::{Http2, HttpRequests, HttpSettings, Layer, LayerEvents, Refusal};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

/// Empty SETTINGS, which come first.
const GREETING: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

#[derive(Default, PartialEq, Debug)]
struct Seen {
    answers: Vec<Vec<u8>>,
    refused: Vec<(u16, Refusal)>,
    statuses: Vec<u16>,
    malformed: Vec<Malformed>,
}

impl LayerEvents for Seen {
    fn answer(&mut self, message: &[u8]) {
        self.answers.push(message.to_vec());
    }

    fn refused(&mut self, id: u16, refusal: Refusal) {
        self.refused.push((id, refusal));
    }

    fn http_status(&mut self, status: u16) {
        self.statuses.push(status);
    }

    fn malformed(&mut self, malformed: Malformed) {
        self.malformed.push(malformed);
    }
}

fn read(stream: &[u8], piece_len: usize) -> (Seen, Result<(), Refusal>) {
    let server = ([127, 0, 0, 1], 443).into();
    let requests = HttpRequests::new(&HttpSettings::default(), None, server);
    let (mut http, mut seen) = (Http2::new(Arc::new(requests)), Seen::default());
    for id in 0..20 {
        http.queue(id, &[7; 20]);
    }
    let mut result = http.receive(GREETING, &mut seen);
    for piece in stream.chunks(piece_len.max(1)) {
        result = http.receive(piece, &mut seen);
        if result.is_err() {
            break;
        }
    }
    for id in 0..20 {
        http.query_ended(id);
    }
    http.say_goodbye();
    (seen, result)
}

fuzz_target!(|octets: &[u8]| {
    let Some((piece_len, stream)) = octets.split_first() else { return };
    let whole = read(stream, stream.len());
    assert_eq!(read(stream, usize::from(*piece_len)), whole, "the cutting makes no difference");
    let mut ids: Vec<_> = whole.0.refused.iter().map(|(id, _)| *id).collect();
    ids.extend(whole.0.answers.iter().map(|answer| u16::from_be_bytes([answer[0], answer[1]])));
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "no query ends twice");
});

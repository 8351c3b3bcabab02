//! What a server does that it should not, and what comes of damage on the way.

use super::*;
use proptest::prelude::*;

/// The type of records that hold an alert (RFC 8446 section 5.1).
const ALERT: u8 = 21;

#[test]
fn an_alert_ends_the_handshake() {
    let mut client = default_factory().layer(0).unwrap();
    client.outgoing().unwrap().clear();
    let handshake_failure = [ALERT, 3, 3, 0, 2, 2, 40];
    let received = client.receive(&handshake_failure, &mut Answers::default());
    assert_eq!(received, Err(Refusal::HandshakeFailed));
}

#[test]
fn answers_before_close_notify_are_taken() {
    let mut pair = Pair::of_default(TlsVersions::Any);
    pair.exchange().unwrap();
    pair.answer(&[9; 40]);
    pair.server.send_close_notify();
    assert_eq!(pair.exchange(), Err(Refusal::ConnectionLost));
    assert_eq!(pair.answers.0.len(), 1);
}

#[test]
fn a_broken_record_is_a_protocol_error() {
    let mut pair = Pair::of_default(TlsVersions::Any);
    pair.exchange().unwrap();
    pair.answer(&[9; 40]);
    let mut back = Vec::new();
    pair.server.write_tls(&mut back).unwrap();
    *back.last_mut().unwrap() ^= 1;
    let received = pair.client.receive(&back, &mut pair.answers);
    assert_eq!(received, Err(Refusal::ProtocolError));
    assert!(
        !pair.client.outgoing().unwrap().unwritten().is_empty(),
        "an alert"
    );
    assert_eq!(
        pair.client.receive(&back, &mut pair.answers),
        Ok(()),
        "nothing comes of more"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn garbage_does_no_harm(octets in proptest::collection::vec(any::<u8>(), 0..600), piece in 1usize..100) {
        let mut client = default_factory().layer(0).unwrap();
        for piece in octets.chunks(piece) {
            let _ = client.receive(piece, &mut Answers::default());
            let _ = client.outgoing();
        }
        prop_assert!(!client.is_open());
    }

    #[test]
    fn a_changed_octet_does_no_harm(place in any::<prop::sample::Index>(), bit in 0u32..8, is_old in any::<bool>()) {
        let versions = if is_old { TlsVersions::Tls12 } else { TlsVersions::Tls13 };
        let mut pair = Pair::of_default(versions);
        pair.client.queue(1, &[7; 40]);
        let hello = pair.client.outgoing().unwrap().unwritten().to_vec();
        pair.client.outgoing().unwrap().clear();
        pair.server.read_tls(&mut hello.as_slice()).unwrap();
        pair.server.process_new_packets().unwrap();
        let mut back = Vec::new();
        pair.server.write_tls(&mut back).unwrap();
        let place = place.index(back.len());
        back[place] ^= 1 << bit;
        let _ = pair.client.receive(&back, &mut pair.answers);
        let _ = pair.client.outgoing();
        prop_assert!(pair.answers.0.is_empty());
    }
}

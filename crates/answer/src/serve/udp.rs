//! Serving over UDP.

use super::batch::Batch;
use super::counters::Tally;
use super::shared::Follower;
use super::{Service, socket_error};
use crate::{AnswerError, Reply, Scratch, Transport};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};

/// Answers on one socket until told to stop.
pub(super) fn run(
    service: &Service<'_>,
    socket: UdpSocket,
    address: SocketAddr,
) -> Result<(), AnswerError> {
    let failed = socket_error("UDP", address);
    let mut follower = Follower::new(service.responder);
    let mut batch = Batch::new();
    let mut scratch = Scratch::default();
    let mut tally = Tally::default();
    while !service.should_stop() {
        let received = match batch.receive(&socket) {
            Ok(received) => received,
            // An ICMP error about an earlier response can surface here as ECONNREFUSED.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionRefused
                ) =>
            {
                continue;
            }
            Err(error) => return Err(failed(error)),
        };
        let responder = follower.responder();
        tally.counts.queries_udp += received as u64;
        let mut answered = 0;
        let failures = batch.answer(&socket, |query, out| {
            match responder.answer(query, Transport::Udp, &mut scratch, out) {
                Reply::Message { len, rcode } => {
                    tally.answered(rcode);
                    answered += 1;
                    Some(len)
                }
                Reply::Nothing | Reply::Transfer(_) => None,
            }
        });
        tally.counts.send_errors += failures.map_err(&failed)? as u64;
        tally.counts.unanswered += received as u64 - answered;
        tally.add_to(service.counters);
    }
    Ok(())
}

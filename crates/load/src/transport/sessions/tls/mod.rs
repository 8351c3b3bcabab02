//! TLS (RFC 8446, RFC 5246) between an octet stream and another layer; with frames above it, it is DoT (RFC 7858).

mod config;
mod factory;
mod tickets;

pub use config::{client_config, server_name};
pub use factory::{Alpn, TlsFactory};

use super::frames::UNWRITTEN_LIMIT;
use crate::answer::Malformed;
use crate::refusal::Refusal;
use crate::transport::layer::{Layer, LayerEvents, Outgoing};
use crate::transport::{Handshake, HandshakeFault};
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, UnbufferedStatus, WriteTraffic,
};
use rustls::{Error, HandshakeKind};

/// Longest plaintext of a record.
const RECORD_LEN: usize = 16 * 1024;

/// What a record adds to its plaintext, at most: header, content type, explicit nonce and tag.
const RECORD_OVERHEAD: usize = 64;

/// The client's side of a connection, with `L` inside.
///
/// An idle session costs about 5.6 KB, nearly all of it the library's: keys, and the server's certificate.
pub struct Tls<L> {
    connection: UnbufferedClientConnection,
    /// What has arrived of a record or handshake message whose rest has not.
    incoming: Vec<u8>,
    above: Above<L>,
    /// The application protocol without which there is no session.
    required_alpn: Option<&'static [u8]>,
}

/// All but the cryptography.
struct Above<L> {
    inner: L,
    outgoing: Outgoing,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has been said.
    New,
    Handshaking,
    Open,
    /// The last words are to be said.
    Leaving,
    /// They have been said.
    Ended,
}

/// What comes of one state of the cryptography.
enum Step {
    /// It may go on.
    Again,
    /// It waits for octets from the server, or for something to say.
    Wait,
    /// The handshake is over.
    Opened,
    Failed(Refusal),
}

impl<L: Layer> Tls<L> {
    fn new(
        connection: UnbufferedClientConnection,
        required_alpn: Option<&'static [u8]>,
        inner: L,
    ) -> Self {
        Self {
            connection,
            incoming: Vec::new(),
            above: Above {
                inner,
                outgoing: Outgoing::default(),
                stage: Stage::New,
            },
            required_alpn,
        }
    }

    /// Gives the inner layer what has arrived for it, and says what there is to say.
    fn go_on(&mut self, events: &mut impl LayerEvents) -> Result<(), Refusal> {
        if self.above.stage == Stage::New {
            self.above.stage = Stage::Handshaking;
        }
        let mut taken = 0;
        let result = loop {
            let arrived = &mut self.incoming[taken..];
            let UnbufferedStatus { discard, state } = self.connection.process_tls_records(arrived);
            taken += discard;
            let step = match state {
                Ok(state) => self.above.step(state, &mut taken, events),
                Err(error) => {
                    if self.above.stage == Stage::Handshaking
                        && let Some(fault) = fault_of(&error)
                    {
                        events.handshake_fault(fault);
                    }
                    Step::Failed(refusal_of(&error, self.above.stage))
                }
            };
            match step {
                Step::Again => {}
                Step::Wait => break Ok(()),
                Step::Opened => match self.check_alpn() {
                    Ok(()) => self.above.stage = Stage::Open,
                    Err(refusal) => {
                        events.handshake_fault(HandshakeFault::OtherProtocol);
                        break Err(refusal);
                    }
                },
                Step::Failed(refusal) => break Err(refusal),
            }
        };
        if result.is_err() {
            self.say_why(taken);
            self.above.stage = Stage::Ended;
        }
        self.incoming.drain(..taken);
        result
    }

    fn check_alpn(&self) -> Result<(), Refusal> {
        match self.required_alpn {
            Some(name) if self.connection.alpn_protocol() != Some(name) => {
                Err(Refusal::HandshakeFailed)
            }
            _ => Ok(()),
        }
    }

    /// After an error, takes the alert that tells the server of it.
    fn say_why(&mut self, taken: usize) {
        let rest = &mut self.incoming[taken..];
        if let Ok(ConnectionState::EncodeTlsData(mut data)) =
            self.connection.process_tls_records(rest).state
        {
            let _ = append(self.above.outgoing.end(), 0, |room| {
                data.encode(room).map_err(missing_to_encode)
            });
        }
    }
}

impl<L: Layer> Above<L> {
    fn step(
        &mut self,
        state: ConnectionState<'_, '_, ClientConnectionData>,
        taken: &mut usize,
        events: &mut impl LayerEvents,
    ) -> Step {
        match state {
            ConnectionState::ReadTraffic(mut traffic) => {
                while let Some(record) = traffic.next_record() {
                    let received = record
                        .map_err(|error| refusal_of(&error, self.stage))
                        .and_then(|record| {
                            *taken += record.discard;
                            self.inner.receive(record.payload, events)
                        });
                    if let Err(refusal) = received {
                        return Step::Failed(refusal);
                    }
                }
                Step::Again
            }
            ConnectionState::EncodeTlsData(mut data) => {
                let encode = |room: &mut [u8]| data.encode(room).map_err(missing_to_encode);
                match append(self.outgoing.end(), 0, encode) {
                    Ok(()) => Step::Again,
                    Err(()) => Step::Failed(Refusal::Send),
                }
            }
            ConnectionState::TransmitTlsData(data) => {
                // It stands among the outgoing octets, which are written in order.
                data.done();
                Step::Again
            }
            ConnectionState::WriteTraffic(_) if self.stage == Stage::Handshaking => Step::Opened,
            ConnectionState::WriteTraffic(mut traffic) => match self.say(&mut traffic) {
                Ok(()) => Step::Wait,
                Err(refusal) => Step::Failed(refusal),
            },
            ConnectionState::PeerClosed => {
                if self.stage == Stage::Handshaking {
                    events.handshake_fault(HandshakeFault::Closed);
                }
                Step::Failed(end_of(self.stage))
            }
            _ => Step::Wait,
        }
    }

    /// Encrypts what the inner layer has to say.
    fn say(&mut self, traffic: &mut WriteTraffic<'_, ClientConnectionData>) -> Result<(), Refusal> {
        let plain = std::mem::take(self.inner.outgoing()?);
        let mut rest = plain.unwritten();
        while !rest.is_empty() {
            let (record, later) = rest.split_at(self.inner.record_len(rest));
            let room = record.len() + RECORD_OVERHEAD * (1 + record.len() / RECORD_LEN);
            append(self.outgoing.end(), room, |room| {
                traffic.encrypt(record, room).map_err(missing_to_encrypt)
            })
            .map_err(|()| Refusal::ConnectionLost)?;
            rest = later;
        }
        let emptied = self.inner.outgoing()?;
        *emptied = plain;
        emptied.clear();
        if self.stage == Stage::Leaving {
            self.stage = Stage::Ended;
            append(self.outgoing.end(), RECORD_OVERHEAD, |room| {
                traffic.queue_close_notify(room).map_err(missing_to_encrypt)
            })
            .map_err(|()| Refusal::ConnectionLost)?;
        }
        Ok(())
    }
}

impl<L: Layer> Layer for Tls<L> {
    fn queue(&mut self, id: u16, message: &[u8]) {
        self.above.inner.queue(id, message);
    }

    fn has_room(&self) -> bool {
        self.above.inner.has_room() && self.above.outgoing.unwritten().len() < UNWRITTEN_LIMIT
    }

    fn is_open(&self) -> bool {
        self.above.stage == Stage::Open && self.above.inner.is_open()
    }

    fn handshake(&self) -> Handshake {
        match self.connection.handshake_kind() {
            Some(HandshakeKind::Resumed) => Handshake::Resumed,
            _ => Handshake::Full,
        }
    }

    fn receive(&mut self, octets: &[u8], events: &mut impl LayerEvents) -> Result<(), Refusal> {
        if self.above.stage == Stage::Ended {
            return Ok(());
        }
        self.incoming.extend_from_slice(octets);
        self.go_on(events)
    }

    fn outgoing(&mut self) -> Result<&mut Outgoing, Refusal> {
        let has_news = match self.above.stage {
            Stage::New | Stage::Leaving => true,
            Stage::Handshaking | Stage::Ended => false,
            Stage::Open => !self.above.inner.outgoing()?.unwritten().is_empty(),
        };
        if has_news {
            self.go_on(&mut NothingArrives)?;
        }
        Ok(&mut self.above.outgoing)
    }

    fn query_ended(&mut self, id: u16) {
        self.above.inner.query_ended(id);
    }

    fn is_inside_message(&self) -> bool {
        self.above.inner.is_inside_message()
            || (self.above.stage != Stage::Handshaking && !self.incoming.is_empty())
    }

    fn say_goodbye(&mut self) {
        if self.above.stage == Stage::Open {
            self.above.inner.say_goodbye();
            self.above.stage = Stage::Leaving;
        }
    }

    fn release_buffers(&mut self) {
        self.above.inner.release_buffers();
        self.above.outgoing.release();
        if self.incoming.is_empty() {
            self.incoming = Vec::new();
        }
    }
}

/// Without new octets from the server, nothing comes of what has arrived.
struct NothingArrives;

impl LayerEvents for NothingArrives {
    fn answer(&mut self, _message: &[u8]) {}

    fn refused(&mut self, _id: u16, _refusal: Refusal) {}

    fn malformed(&mut self, _malformed: Malformed) {}
}

/// Appends what `write` writes. It is called with `room` octets, and again if it says that it needs more; it fails for
/// good with `None`.
fn append(
    octets: &mut Vec<u8>,
    mut room: usize,
    mut write: impl FnMut(&mut [u8]) -> Result<usize, Option<usize>>,
) -> Result<(), ()> {
    let start = octets.len();
    loop {
        octets.resize(start + room, 0);
        match write(&mut octets[start..]) {
            Ok(written) => {
                octets.truncate(start + written);
                return Ok(());
            }
            Err(Some(needed)) if needed > room => room = needed,
            Err(_) => {
                octets.truncate(start);
                return Err(());
            }
        }
    }
}

fn missing_to_encode(error: EncodeError) -> Option<usize> {
    match error {
        EncodeError::InsufficientSize(size) => Some(size.required_size),
        EncodeError::AlreadyEncoded => None,
    }
}

fn missing_to_encrypt(error: EncryptError) -> Option<usize> {
    match error {
        EncryptError::InsufficientSize(size) => Some(size.required_size),
        EncryptError::EncryptExhausted => None,
    }
}

/// What the end of the connection means.
fn end_of(stage: Stage) -> Refusal {
    match stage {
        Stage::New | Stage::Handshaking => Refusal::HandshakeFailed,
        Stage::Open | Stage::Leaving | Stage::Ended => Refusal::ConnectionLost,
    }
}

/// What the server did that made a handshake fail, where the error is not the certificate's or our own.
fn fault_of(error: &Error) -> Option<HandshakeFault> {
    match error {
        Error::InvalidMessage(_) => Some(HandshakeFault::NotTls),
        Error::AlertReceived(alert) => Some(HandshakeFault::Alert(u8::from(*alert))),
        Error::NoApplicationProtocol => Some(HandshakeFault::OtherProtocol),
        _ => None,
    }
}

fn refusal_of(error: &Error, stage: Stage) -> Refusal {
    let is_handshaking = end_of(stage) == Refusal::HandshakeFailed;
    match error {
        Error::InvalidCertificate(_) | Error::NoCertificatesPresented if is_handshaking => {
            Refusal::CertificateRefused
        }
        _ if is_handshaking => Refusal::HandshakeFailed,
        // An alert: the server ends the session, for a reason of its own.
        Error::AlertReceived(_) => Refusal::ConnectionLost,
        _ => Refusal::ProtocolError,
    }
}

#[cfg(test)]
pub mod tests;

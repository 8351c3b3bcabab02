//! The life of a client's sessions: opened, lost, closed.

use super::client::{Client, Session};
use super::reason;
use super::shared::Shared;
use super::streams::{DOQ_NO_ERROR, Streams, Teller};
use super::tls::Presented;
use crate::clock::Clock;
use crate::refusal::Refusal;
use crate::transport::{Events, Handshake, RETRY_NS, SessionEvent};
use bytes::{Bytes, BytesMut};
use quinn_proto::{ConnectionError, DatagramEvent, EndpointEvent, Event};

impl Client {
    /// Begins to open a session.
    pub fn connect(&mut self, shared: &mut Shared, events: &mut impl Events) {
        events.session(self.number, SessionEvent::Tried);
        shared.turn_to(self.number);
        let config = shared.config.clone();
        let attempt = self
            .endpoint
            .connect(shared.now(), config, shared.server, &shared.name);
        match attempt {
            Ok((handle, connection)) => {
                self.session = Some(Box::new(Session {
                    connection,
                    handle,
                    streams: Streams::default(),
                    tried_ns: shared.now_ns,
                    is_open: false,
                    certificate: Presented::default(),
                    is_drained: false,
                }));
            }
            Err(_) => self.fail(Refusal::ConnectFailed, shared, events),
        }
    }

    /// There are queries, but no session may be tried yet.
    pub fn refuse_held(&mut self, shared: &Shared, events: &mut impl Events) {
        self.forget_queries();
        events.all_refused(self.number, self.last_refusal, shared.now_ns);
    }

    /// Takes a datagram that arrived at `received_ns`.
    pub fn receive(
        &mut self,
        datagram: BytesMut,
        received_ns: u64,
        shared: &mut Shared,
        clock: &impl Clock,
        events: &mut impl Events,
    ) {
        let Some(session) = &mut self.session else {
            return;
        };
        shared.turn_to(self.number);
        let now = shared.now();
        let response = &mut shared.response;
        response.clear();
        let routed = self
            .endpoint
            .handle(now, shared.server, None, None, datagram, response);
        // What belongs to no connection is of an earlier session. Who drops a session as soon as it is closed must not
        // respond to it (RFC 9000 section 10.2).
        if let Some(DatagramEvent::ConnectionEvent(_, event)) = routed {
            session.connection.handle_event(event);
            if !session.is_open {
                let presented = shared.verifier.take_presented();
                session.certificate.any |= presented.any;
                session.certificate.refused |= presented.refused;
            }
            self.follow(received_ns, shared, clock, events);
        }
    }

    /// Does what the connection asks for after something happened to it.
    fn follow(
        &mut self,
        received_ns: u64,
        shared: &mut Shared,
        clock: &impl Clock,
        events: &mut impl Events,
    ) {
        while let Some(session) = &mut self.session {
            while let Some(event) = session.connection.poll_endpoint_events() {
                session.is_drained |= event.is_drained();
                if let Some(reply) = self.endpoint.handle_event(session.handle, event) {
                    session.connection.handle_event(reply);
                }
            }
            match session.connection.poll() {
                Some(Event::Connected) => self.opened(shared, clock, events),
                Some(Event::ConnectionLost { reason }) => {
                    return self.ended(&reason, shared, events);
                }
                Some(Event::Stream(event)) => {
                    let mut teller = Teller {
                        client: self.number,
                        received_ns,
                        answer: &mut shared.answer,
                        events,
                    };
                    let connection = &mut session.connection;
                    session.streams.handle(connection, event, &mut teller);
                }
                Some(_) => {}
                None => break,
            }
        }
        self.send_held();
    }

    fn opened(&mut self, shared: &mut Shared, clock: &impl Clock, events: &mut impl Events) {
        // The client's own share of the handshake, its cryptography, takes time, too.
        shared.look_at(clock);
        let Some(session) = &mut self.session else {
            return;
        };
        session.is_open = true;
        session.streams.look_for_room(&mut session.connection);
        let opened = SessionEvent::Opened {
            handshake_ns: shared.now_ns.saturating_sub(session.tried_ns),
            kind: if session.certificate.any {
                Handshake::Full
            } else {
                Handshake::Resumed
            },
        };
        events.session(self.number, opened);
        self.rests_since_ns = shared.now_ns;
        if self.is_spent(shared) {
            self.close(shared, events);
        }
    }

    /// The connection has ended, without the client's doing.
    fn ended(&mut self, reason: &ConnectionError, shared: &mut Shared, events: &mut impl Events) {
        // A server that broke a rule is told so.
        self.transmit(shared);
        match &self.session {
            Some(session) if session.is_open => {
                self.lose(reason::of_session(reason), shared, events);
            }
            Some(session) => {
                let refused_certificate = session.certificate.refused;
                let refusal = reason::of_attempt(reason, refused_certificate);
                if let Some(fault) = reason::fault_of(reason) {
                    events.handshake_fault(self.number, fault);
                }
                self.fail(refusal, shared, events);
            }
            None => {}
        }
    }

    /// An attempt to open a session has failed.
    fn fail(&mut self, refusal: Refusal, shared: &mut Shared, events: &mut impl Events) {
        events.session(self.number, SessionEvent::Failed(refusal));
        self.discard(shared);
        self.pause(refusal, shared);
        self.forget_queries();
        events.all_refused(self.number, refusal, shared.now_ns);
    }

    /// An open session has ended, without the client's doing. If it brought no answer, the client pauses before the next.
    fn lose(&mut self, refusal: Refusal, shared: &mut Shared, events: &mut impl Events) {
        events.session(self.number, SessionEvent::ClosedByPeer);
        if let Some(session) = &self.session {
            session.streams.tell_cut(self.number, events);
            if !session.streams.used {
                self.pause(refusal, shared);
            }
        }
        self.discard(shared);
        self.forget_queries();
        events.all_refused(self.number, refusal, shared.now_ns);
    }

    /// An ICMP error came back: nothing listens at the port, or the server's host cannot be reached. The latter fails an
    /// attempt; an open session may outlive it.
    pub fn unreachable(
        &mut self,
        nothing_listens: bool,
        shared: &mut Shared,
        events: &mut impl Events,
    ) {
        match (
            self.session.as_ref().map(|session| session.is_open),
            nothing_listens,
        ) {
            (Some(true), true) => self.lose(Refusal::ConnectionLost, shared, events),
            (Some(false), true) => self.fail(Refusal::ConnectFailed, shared, events),
            (Some(false), false) => self.fail(Refusal::Unreachable, shared, events),
            (Some(true), false) | (None, _) => {}
        }
    }

    fn pause(&mut self, refusal: Refusal, shared: &Shared) {
        self.retry_ns = shared.now_ns + RETRY_NS;
        self.last_refusal = refusal;
    }

    /// Closes the session in order, open or not, and refuses the queries that were in flight.
    pub fn close(&mut self, shared: &mut Shared, events: &mut impl Events) {
        let Some(session) = &self.session else {
            return;
        };
        let event = if session.is_open {
            SessionEvent::Closed
        } else {
            SessionEvent::Failed(Refusal::ConnectionLost)
        };
        events.session(self.number, event);
        session.streams.tell_cut(self.number, events);
        let has_lost = !self.rests();
        self.end_session(shared);
        if has_lost {
            events.all_refused(self.number, Refusal::ConnectionLost, shared.now_ns);
        }
    }

    /// Closes the session and tells the server so, but not the accounting.
    pub fn end_session(&mut self, shared: &mut Shared) {
        self.say_goodbye(shared);
        self.discard(shared);
        self.forget_queries();
    }

    fn say_goodbye(&mut self, shared: &mut Shared) {
        if let Some(session) = &mut self.session {
            let now = shared.now();
            session.connection.close(now, DOQ_NO_ERROR, Bytes::new());
            self.transmit(shared);
        }
    }

    /// Drops the session.
    fn discard(&mut self, shared: &mut Shared) {
        if let Some(session) = self.session.take() {
            shared.wire += session.wire();
            if !session.is_drained {
                self.endpoint
                    .handle_event(session.handle, EndpointEvent::drained());
            }
        }
    }

    /// Does what is due by the clock.
    pub fn pass_time(&mut self, shared: &mut Shared, clock: &impl Clock, events: &mut impl Events) {
        let Some(session) = &mut self.session else {
            return;
        };
        shared.turn_to(self.number);
        session.connection.handle_timeout(shared.now());
        self.follow(shared.now_ns, shared, clock, events);
        if self.session_ends_ns(shared) > shared.now_ns {
            return;
        }
        match &self.session {
            Some(session) if session.is_open => {
                if !session.streams.has_room() {
                    self.pause(Refusal::ConnectionLost, shared);
                }
                self.close(shared, events);
            }
            _ => {
                self.say_goodbye(shared);
                self.fail(Refusal::HandshakeTimedOut, shared, events);
            }
        }
    }
}

//! The session of each client, in loads that open sessions without queries.

use crate::transport::SessionEvent;
use std::mem;

/// How far the session of a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// There is none.
    None,
    /// It is being opened.
    Opening,
    /// It is open.
    Open,
}

/// The sessions of all clients.
#[derive(Clone, Debug)]
pub struct ClientSessions {
    states: Vec<SessionState>,
    opening: usize,
    missing: usize,
}

impl ClientSessions {
    /// So many clients without a session.
    pub fn new(clients: usize) -> Self {
        Self {
            states: vec![SessionState::None; clients],
            opening: 0,
            missing: clients,
        }
    }

    /// How far the session of `client` is.
    pub fn state(&self, client: usize) -> SessionState {
        self.states[client]
    }

    /// Whether an attempt to open a session is under way.
    pub fn has_opening(&self) -> bool {
        self.opening > 0
    }

    /// Whether every client has a session or is opening one.
    pub fn has_all(&self) -> bool {
        self.missing == 0
    }

    /// Takes note of an event; says whether an attempt to open a session has ended with it.
    pub fn note(&mut self, client: usize, event: SessionEvent) -> bool {
        match event {
            SessionEvent::Tried => self.set(client, SessionState::Opening),
            SessionEvent::Opened { .. } => self.set(client, SessionState::Open),
            SessionEvent::Failed(_) => self.set(client, SessionState::None),
            // A client may begin to open the next session before the end of the earlier one is told.
            SessionEvent::ClosedByPeer | SessionEvent::Closed => {
                if self.states[client] == SessionState::Open {
                    self.set(client, SessionState::None);
                }
            }
        }
        matches!(event, SessionEvent::Opened { .. } | SessionEvent::Failed(_))
    }

    fn set(&mut self, client: usize, state: SessionState) {
        let before = mem::replace(&mut self.states[client], state);
        self.missing += usize::from(state == SessionState::None);
        self.missing -= usize::from(before == SessionState::None);
        self.opening += usize::from(state == SessionState::Opening);
        self.opening -= usize::from(before == SessionState::Opening);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal;
    use crate::transport::Handshake;

    const OPENED: SessionEvent = SessionEvent::Opened {
        handshake_ns: 1,
        kind: Handshake::Plain,
    };

    #[test]
    fn what_is_missing_and_being_opened_is_known() {
        let mut sessions = ClientSessions::new(2);
        assert!(!sessions.note(0, SessionEvent::Tried));
        assert!(!sessions.note(1, SessionEvent::Tried));
        assert!(sessions.has_all() && sessions.has_opening());
        assert!(sessions.note(0, OPENED));
        assert!(sessions.note(1, SessionEvent::Failed(Refusal::ConnectFailed)));
        assert!(!sessions.has_all() && !sessions.has_opening());
        assert_eq!(sessions.state(0), SessionState::Open);
        assert!(!sessions.note(0, SessionEvent::ClosedByPeer));
        assert_eq!(sessions.state(0), SessionState::None);
    }

    #[test]
    fn the_end_of_an_earlier_session_does_not_end_the_next() {
        let mut sessions = ClientSessions::new(1);
        sessions.note(0, SessionEvent::Tried);
        sessions.note(0, OPENED);
        sessions.note(0, SessionEvent::Tried);
        sessions.note(0, SessionEvent::Closed);
        assert_eq!(sessions.state(0), SessionState::Opening);
    }
}

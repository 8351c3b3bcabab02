//! What clients keep from one session for the next: TLS tickets and address validation tokens.

use bytes::Bytes;
use quinn_proto::TokenStore;
use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The newest of each; both are used at most once (RFC 8446 appendix C.4, RFC 9000 section 8.1.3).
#[derive(Default)]
struct Kept {
    ticket: Option<Tls13ClientSessionValue>,
    token: Option<Bytes>,
}

#[derive(Default)]
struct Inner {
    clients: Vec<Kept>,
    /// The group that the server chose last.
    group: Option<NamedGroup>,
}

/// The memories of all clients of one transport, which share a TLS configuration and one server.
///
/// TLS asks by server's name alone, so the client whose connection is being worked on is named beforehand.
pub struct Memory {
    current: AtomicUsize,
    inner: Mutex<Inner>,
}

impl Memory {
    /// Empty memories for `clients` clients.
    pub fn new(clients: usize) -> Self {
        Self {
            current: AtomicUsize::new(0),
            inner: Mutex::new(Inner {
                clients: (0..clients).map(|_| Kept::default()).collect(),
                group: None,
            }),
        }
    }

    /// What follows concerns `client`.
    pub fn turn_to(&self, client: usize) {
        self.current.store(client, Ordering::Relaxed);
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_current<R>(&self, act: impl FnOnce(&mut Kept) -> Option<R>) -> Option<R> {
        let current = self.current.load(Ordering::Relaxed);
        self.inner().clients.get_mut(current).and_then(act)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}

impl ClientSessionStore for Memory {
    fn set_kx_hint(&self, _server_name: ServerName<'static>, group: NamedGroup) {
        self.inner().group = Some(group);
    }

    fn kx_hint(&self, _server_name: &ServerName<'_>) -> Option<NamedGroup> {
        self.inner().group
    }

    // QUIC has no TLS 1.2 (RFC 9001 section 4.2), so nothing of it is ever given or asked for.
    fn set_tls12_session(&self, _name: ServerName<'static>, _value: Tls12ClientSessionValue) {}

    fn tls12_session(&self, _server_name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }

    fn remove_tls12_session(&self, _server_name: &ServerName<'static>) {}

    fn insert_tls13_ticket(&self, _name: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.with_current(|kept| kept.ticket.replace(value));
    }

    fn take_tls13_ticket(&self, _name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.with_current(|kept| kept.ticket.take())
    }
}

impl TokenStore for Memory {
    fn insert(&self, _server_name: &str, token: Bytes) {
        self.with_current(|kept| kept.token.replace(token));
    }

    fn take(&self, _server_name: &str) -> Option<Bytes> {
        self.with_current(|kept| kept.token.take())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_its_own_token_once() {
        let memory = Memory::new(2);
        memory.turn_to(1);
        TokenStore::insert(&memory, "a", Bytes::from_static(b"old"));
        TokenStore::insert(&memory, "a", Bytes::from_static(b"new"));
        memory.turn_to(0);
        assert_eq!(TokenStore::take(&memory, "a"), None);
        memory.turn_to(1);
        assert_eq!(TokenStore::take(&memory, "a").as_deref(), Some(&b"new"[..]));
        assert_eq!(TokenStore::take(&memory, "a"), None);
    }
}

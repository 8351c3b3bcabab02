//! Counting queries and answers.

use domain::base::iana::OptRcode;
use std::sync::atomic::{AtomicU64, Ordering};

/// Response codes counted one by one: 0 to 15, and BADVERS (16).
const RCODES: usize = 17;

/// Defines the counters, their snapshot, and how the one gets to the other.
macro_rules! counters {
    ($($(#[doc = $text:literal])+ $name:ident,)+) => {
        /// What a server has received and sent since it was started. Threads add to it after each batch.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($name: AtomicU64,)+
            answers: [AtomicU64; RCODES],
        }

        /// The counters at one moment.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct CountersSnapshot {
            $($(#[doc = $text])+ pub $name: u64,)+
            /// Answers by response code, 0 to 16, zone transfers not included.
            pub answers: [u64; RCODES],
        }

        impl Counters {
            /// The counters now.
            pub fn snapshot(&self) -> CountersSnapshot {
                let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
                CountersSnapshot {
                    $($name: get(&self.$name),)+
                    answers: self.answers.each_ref().map(get),
                }
            }

            fn add(&self, counts: &mut CountersSnapshot) {
                let add = |to: &AtomicU64, count: &mut u64| {
                    if *count > 0 {
                        to.fetch_add(std::mem::take(count), Ordering::Relaxed);
                    }
                };
                $(add(&self.$name, &mut counts.$name);)+
                for (to, count) in self.answers.iter().zip(&mut counts.answers) {
                    add(to, count);
                }
            }
        }
    };
}

counters! {
    /// Messages received over UDP.
    queries_udp,
    /// Messages received over TCP.
    queries_tcp,
    /// Messages received over TLS.
    queries_dot,
    /// Messages received over HTTPS.
    queries_doh,
    /// Messages received over QUIC.
    queries_doq,
    /// Messages that were no query and got no answer.
    unanswered,
    /// Datagrams that the system refused to send.
    send_errors,
    /// Zone transfers begun.
    transfers,
    /// Connections accepted: TCP (that is also DoT and DoH) and QUIC.
    connections,
    /// Connections closed at once for want of room.
    connections_refused,
    /// TLS handshakes finished: DoT, DoH and DoQ.
    handshakes,
    /// Those of them that resumed a session.
    handshakes_resumed,
    /// TLS handshakes begun and not finished.
    handshakes_failed,
    /// HTTP requests that got another status than 200.
    http_errors,
    /// QUIC connections closed because the client broke the rules of RFC 9250, or sent more than there is room for.
    doq_errors,
}

/// One thread's counts since the last time it added them up; plain numbers cost nothing per query.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub counts: CountersSnapshot,
}

impl Tally {
    pub fn answered(&mut self, rcode: OptRcode) {
        if let Some(count) = self.counts.answers.get_mut(usize::from(rcode.to_int())) {
            *count += 1;
        }
    }

    /// Adds what was counted to the server's counters and begins again.
    pub fn add_to(&mut self, counters: &Counters) {
        counters.add(&mut self.counts);
    }
}

//! CPU time of the HTTP/2 layer per query, beside that of the crate `h2`: in memory, without TLS and without a network.
//!
//! `cargo bench --profile release -p dnsrig-load --bench http2` prints nanoseconds of CPU time and allocations per query, the
//! least of [`ROUNDS`] rounds each, the two interleaved. Both ends are in one thread; the server's part is measured by
//! itself and taken off.

mod peer;
mod server;

use dnsrig_load::{Http2, HttpMethod, HttpRequests, HttpSettings, Layer, LayerEvents, Refusal};
use peer::Peer;
use server::Server;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Measurements of each.
const ROUNDS: usize = 15;

/// Queries of a measurement.
const QUERIES: usize = 100_000;

/// Queries in flight.
const WINDOW: usize = 100;

/// Octets of a query: a name of 32 octets, and EDNS.
const QUERY_LEN: usize = 60;

/// Counts allocations.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A client whose queries are answered window by window.
trait Client {
    /// Sends a window of queries.
    fn send(&mut self);

    /// Hands what is to be written to `server`, and its answer back.
    fn exchange(&mut self, server: &mut Server);

    /// Takes the answers, and says how many there were.
    fn receive(&mut self) -> usize;
}

struct Ours {
    layer: Http2,
    query: Vec<u8>,
    incoming: Vec<u8>,
}

struct Count(usize);

impl LayerEvents for Count {
    fn answer(&mut self, message: &[u8]) {
        self.0 += usize::from(message.len() == server::ANSWER_LEN);
    }

    fn refused(&mut self, id: u16, refusal: Refusal) {
        panic!("query {id} was refused: {}", refusal.name());
    }

    fn malformed(&mut self, malformed: dnsrig_load::answer::Malformed) {
        panic!("malformed answer: {malformed}");
    }
}

impl Ours {
    fn new(method: HttpMethod) -> Self {
        let settings = HttpSettings {
            method,
            ..HttpSettings::default()
        };
        let server = ([127, 0, 0, 1], 443).into();
        let requests = HttpRequests::new(&settings, None, server);
        Self {
            layer: Http2::new(Arc::new(requests)),
            query: vec![7; QUERY_LEN],
            incoming: Vec::new(),
        }
    }
}

impl Client for Ours {
    fn send(&mut self) {
        for id in 0..WINDOW {
            self.layer.queue(id as u16, &self.query);
        }
    }

    fn exchange(&mut self, server: &mut Server) {
        let outgoing = self.layer.outgoing().expect("the connection goes on");
        let count = outgoing.unwritten().len();
        self.incoming.clear();
        server.take(outgoing.unwritten(), &mut self.incoming);
        outgoing.wrote(count);
    }

    fn receive(&mut self) -> usize {
        let mut count = Count(0);
        self.layer
            .receive(&self.incoming, &mut count)
            .expect("the connection goes on");
        for id in 0..WINDOW {
            self.layer.query_ended(id as u16);
        }
        count.0
    }
}

/// Nanoseconds and allocations per query of the client alone.
fn measure(mut client: impl Client) -> (f64, f64) {
    let mut server = Server::default();
    let mut answered = 0;
    let mut window = |client: &mut dyn Client| {
        client.send();
        let start_ns = cpu_ns();
        client.exchange(&mut server);
        let serving_ns = cpu_ns() - start_ns;
        answered += client.receive();
        serving_ns
    };
    window(&mut client);
    let (start_ns, before) = (cpu_ns(), ALLOCATIONS.load(Ordering::Relaxed));
    let mut serving_ns = 0;
    for _ in 0..QUERIES / WINDOW {
        serving_ns += window(&mut client);
    }
    let client_ns = cpu_ns() - start_ns - serving_ns;
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert_eq!(answered, QUERIES + WINDOW);
    let per_query = |total: f64| total / QUERIES as f64;
    (per_query(client_ns as f64), per_query(allocations as f64))
}

/// CPU time of this thread.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel fills in a time that lives on this stack.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn least(of: Vec<f64>) -> f64 {
    of.into_iter().fold(f64::INFINITY, f64::min)
}

fn main() {
    println!(
        "{QUERIES} queries of {QUERY_LEN} octets, {WINDOW} in flight, answers of {} octets",
        server::ANSWER_LEN
    );
    for (name, method) in [("POST", HttpMethod::Post), ("GET", HttpMethod::Get)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(measure(Ours::new(method)));
            theirs.push(measure(Peer::new(method)));
        }
        for (client, measured) in [("this layer", ours), ("h2", theirs)] {
            let (time, allocations): (Vec<_>, Vec<_>) = measured.into_iter().unzip();
            println!(
                "{name:4} {client:10} {:6.0} ns/query {:6.2} allocations/query",
                least(time),
                least(allocations)
            );
        }
    }
}

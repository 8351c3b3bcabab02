//! Against the server side of the crate `h2`, which shares no code with this one.

use super::{Event, Recorded, connection};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use dnsrig_load::answer::Malformed;
use dnsrig_load::{Http2, HttpMethod, Layer, Refusal};
use h2::server::{Builder, Connection, SendResponse};
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, Response};
use proptest::prelude::*;
use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const AUTHORITY: &str = "[::1]:8443";

const DNS_MESSAGE: &str = "application/dns-message";

/// Names of fields that servers send.
const NAMES: &[&str] = &[
    "date",
    "server",
    "cache-control",
    "x-cache",
    "vary",
    "strict-transport-security",
];

/// A message of `len` octets with the ID `id`.
fn message(id: u16, len: usize) -> Vec<u8> {
    let octets = (2..len).map(|at| at as u8);
    id.to_be_bytes().into_iter().chain(octets).collect()
}

/// The octets between client and server.
#[derive(Default)]
struct Pipe {
    to_server: Vec<u8>,
    to_client: Vec<u8>,
}

/// The server's end of it.
#[derive(Clone, Default)]
struct ServerEnd(Rc<RefCell<Pipe>>);

impl AsyncRead for ServerEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let to_server = &mut self.0.borrow_mut().to_server;
        if to_server.is_empty() {
            return Poll::Pending;
        }
        let count = to_server.len().min(buffer.remaining());
        buffer.put_slice(&to_server[..count]);
        to_server.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ServerEnd {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().to_client.extend_from_slice(octets);
        Poll::Ready(Ok(octets.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// How the server answers a query.
#[derive(Clone, Debug)]
struct Plan {
    status: u16,
    content_type: Option<&'static str>,
    has_length: bool,
    fields: Vec<(&'static str, String)>,
    content: Vec<u8>,
    piece: usize,
    has_trailers: bool,
    resets: bool,
}

impl Plan {
    /// What the client is to say of it.
    fn events(&self, id: u16) -> Vec<Event> {
        if self.resets {
            return vec![Event::Refused(id, Refusal::StreamReset)];
        }
        if self.status != 200 {
            let refused = Event::Refused(id, Refusal::HttpStatus);
            return vec![Event::HttpStatus(self.status), refused];
        }
        if self.content_type != Some(DNS_MESSAGE) {
            return vec![Event::Refused(id, Refusal::HttpContent)];
        }
        match self.content.get(2..) {
            Some(rest) => vec![Event::Answer([&id.to_be_bytes(), rest].concat())],
            None => vec![Event::Malformed(Malformed::Short)],
        }
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    let fields = prop::collection::vec((prop::sample::select(NAMES), "[!-~]{0,60}"), 0..6);
    let status = prop_oneof![4 => Just(200), 1 => prop::sample::select(vec![201, 302, 404, 503])];
    let other = prop::sample::select(vec![None, Some("text/html"), Some("application/json")]);
    let content_type = prop_oneof![5 => Just(Some(DNS_MESSAGE)), 1 => other];
    let len = prop_oneof![9 => 0usize..600, 1 => 600usize..=65_535];
    let content = (len, any::<u16>()).prop_map(|(len, id)| message(id, len.max(2))[..len].to_vec());
    let flags = (
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(&[true, false, false, false, false][..]),
    );
    (status, content_type, fields, content, 1usize..5_000, flags).prop_map(
        |(status, content_type, fields, content, piece, (has_length, has_trailers, resets))| Plan {
            status,
            content_type,
            has_length,
            fields,
            content,
            piece,
            has_trailers,
            resets,
        },
    )
}

/// What the server saw of a query: the request's head and its content.
type Seen = (Request<()>, Vec<u8>);

async fn serve(request: Request<RecvStream>, mut respond: SendResponse<Bytes>, plan: Plan) -> Seen {
    let (head, mut body) = request.into_parts();
    let mut content = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.unwrap();
        body.flow_control().release_capacity(piece.len()).unwrap();
        content.extend_from_slice(&piece);
    }
    let seen = (Request::from_parts(head, ()), content);
    if plan.resets {
        respond.send_reset(Reason::INTERNAL_ERROR);
        return seen;
    }
    let mut response = Response::builder().status(plan.status);
    for (name, value) in &plan.fields {
        response = response.header(*name, value);
    }
    if let Some(content_type) = plan.content_type {
        response = response.header("content-type", content_type);
    }
    if plan.has_length {
        response = response.header("content-length", plan.content.len());
    }
    let mut stream = respond
        .send_response(response.body(()).unwrap(), false)
        .unwrap();
    for piece in plan.content.chunks(plan.piece) {
        stream
            .send_data(Bytes::copy_from_slice(piece), false)
            .unwrap();
    }
    if plan.has_trailers {
        let mut trailers = HeaderMap::new();
        trailers.insert("x-checksum", "7".parse().unwrap());
        stream.send_trailers(trailers).unwrap();
    } else {
        stream.send_data(Bytes::new(), true).unwrap();
    }
    seen
}

/// Both ends of a connection.
struct Pair {
    http: Http2,
    pipe: ServerEnd,
    server: Connection<ServerEnd, Bytes>,
    plans: std::vec::IntoIter<Plan>,
    serving: Vec<Pin<Box<dyn Future<Output = Seen>>>>,
    seen: Vec<Seen>,
    events: Recorded,
    /// Lengths of the pieces in which the client receives.
    cuts: Vec<usize>,
}

impl Pair {
    fn new(method: HttpMethod, server: &Builder, plans: Vec<Plan>, cuts: Vec<usize>) -> Self {
        let mut http = connection(AUTHORITY.parse().unwrap(), "/dns-query", method);
        let pipe = ServerEnd::default();
        let mut handshake = Box::pin(server.handshake(pipe.clone()));
        move_octets(&mut http, &pipe);
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(server) = handshake.as_mut().poll(&mut context) else {
            panic!("the preface is there, so the handshake is over");
        };
        Self {
            http,
            pipe,
            server: server.unwrap(),
            plans: plans.into_iter(),
            serving: Vec::new(),
            seen: Vec::new(),
            events: Recorded::default(),
            cuts,
        }
    }

    /// Lets both ends do what they can. Says whether octets moved.
    fn step(&mut self) -> bool {
        let sent = move_octets(&mut self.http, &self.pipe);
        let mut context = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(accepted)) = self.server.poll_accept(&mut context) {
            let (request, respond) = accepted.unwrap();
            let plan = self.plans.next().expect("no more requests than queries");
            self.serving.push(Box::pin(serve(request, respond, plan)));
        }
        let seen = &mut self.seen;
        self.serving
            .retain_mut(|serving| match serving.as_mut().poll(&mut context) {
                Poll::Ready(request) => {
                    seen.push(request);
                    false
                }
                Poll::Pending => true,
            });
        assert!(self.server.poll_closed(&mut context).is_pending());
        let octets = std::mem::take(&mut self.pipe.0.borrow_mut().to_client);
        let mut rest = &octets[..];
        for cut in self.cuts.iter().cycle() {
            let (now, later) = rest.split_at((*cut).min(rest.len()));
            self.http.receive(now, &mut self.events).unwrap();
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        sent || !octets.is_empty()
    }

    fn exchange(&mut self) {
        while self.step() {}
    }
}

fn move_octets(http: &mut Http2, pipe: &ServerEnd) -> bool {
    let outgoing = http.outgoing().unwrap();
    let count = outgoing.unwritten().len();
    let to_server = &mut pipe.0.borrow_mut().to_server;
    to_server.extend_from_slice(outgoing.unwritten());
    outgoing.wrote(count);
    count > 0
}

fn check_request(method: HttpMethod, seen: &Seen, query: &[u8]) {
    let (request, content) = seen;
    let without_id = [&[0, 0], &query[2..]].concat();
    let field = |name| {
        request
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap())
    };
    assert_eq!(request.uri().scheme_str(), Some("https"));
    assert_eq!(request.uri().authority().unwrap(), AUTHORITY);
    assert_eq!(request.uri().path(), "/dns-query");
    assert_eq!(field("accept"), Some(DNS_MESSAGE));
    match method {
        HttpMethod::Get => {
            let encoded = URL_SAFE_NO_PAD.encode(&without_id);
            assert_eq!(request.method(), "GET");
            assert_eq!(request.uri().query(), Some(&*format!("dns={encoded}")));
            assert!(content.is_empty());
            assert_eq!(request.headers().len(), 1);
        }
        HttpMethod::Post => {
            assert_eq!(request.method(), "POST");
            assert_eq!(request.uri().query(), None);
            assert_eq!(*content, without_id);
            assert_eq!(field("content-type"), Some(DNS_MESSAGE));
            assert_eq!(field("content-length"), Some(&*content.len().to_string()));
            assert_eq!(request.headers().len(), 3);
        }
    }
}

fn sorted(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by_cached_key(|event| format!("{event:?}"));
    events
}

proptest! {
    #[test]
    fn requests_arrive_and_answers_come_back(
        plans in prop::collection::vec((plan(), 12usize..900), 1..40),
        method in prop::sample::select(&[HttpMethod::Get, HttpMethod::Post][..]),
        window in prop::sample::select(&[0u32, 1, 50, 65_535, 1 << 20][..]),
        table_size in prop::sample::select(&[0u32, 100, 1_000, 4_096, 65_536][..]),
        max_streams in 1u32..50,
        cuts in prop::collection::vec(1usize..3_000, 1..10),
    ) {
        let mut builder = Builder::new();
        builder.header_table_size(table_size).max_concurrent_streams(max_streams).max_frame_size(20_000);
        // A window of none never opens: the server grants more only for octets that it has read.
        builder.initial_window_size(window.max(1));
        let (plans, lens): (Vec<_>, Vec<_>) = plans.into_iter().unzip();
        let mut pair = Pair::new(method, &builder, plans.clone(), cuts);
        if window > 0 {
            // Otherwise the first query is sent before the server's SETTINGS have come.
            pair.exchange();
        }
        let queries: Vec<_> = lens.iter().enumerate().map(|(id, len)| message(id as u16, *len)).collect();
        for (id, query) in queries.iter().enumerate() {
            for _ in 0..1_000_000 {
                if pair.http.has_room() && (window > 0 || id != 1) {
                    break;
                }
                if !pair.step() {
                    break;
                }
            }
            prop_assert!(pair.http.has_room());
            pair.http.queue(id as u16, query);
        }
        pair.exchange();
        // The server takes requests in the order in which they were sent, but ends them in another.
        prop_assert_eq!(pair.seen.len(), queries.len());
        let expected = plans.iter().enumerate().flat_map(|(id, plan)| plan.events(id as u16));
        prop_assert_eq!(sorted(pair.events.0), sorted(expected.collect()));
        for seen in &pair.seen {
            let matching = queries.iter().find(|query| match method {
                HttpMethod::Get => seen.0.uri().query().unwrap().len() == 4 + (query.len() * 4).div_ceil(3),
                HttpMethod::Post => seen.1.len() == query.len(),
            });
            check_request(method, seen, matching.unwrap());
        }
        pair.http.say_goodbye();
        prop_assert!(!pair.http.is_inside_message());
    }
}

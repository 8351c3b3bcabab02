//! DNS over HTTPS, by h2's client.

use super::{Subject, block_on, localhost, query_zero};
use crate::test_zone::{name, padded_query};
use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use domain::base::iana::Rtype;
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use http::{Method, Request, Response};
use rustls::version::TLS13;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::TlsConnector;

const MEDIA_TYPE: &str = "application/dns-message";

/// The status wanted for a request and its content in pieces.
type Case<'a> = (u16, Request<()>, &'a [&'a [u8]]);

type Tls = tokio_rustls::client::TlsStream<tokio::net::TcpStream>;

async fn connect_tls(subject: &Subject) -> Tls {
    let address = subject.server.addresses().doh.expect("DoH is served");
    let stream = tokio::net::TcpStream::connect(address).await;
    let connector = TlsConnector::from(Arc::new(subject.tls("h2", &[&TLS13])));
    let stream = connector.connect(localhost(), stream.expect("the server listens"));
    stream.await.expect("a handshake")
}

/// A client and the task that is its connection, which gives the error that it ends with.
async fn connect(
    subject: &Subject,
) -> (
    SendRequest<Bytes>,
    tokio::task::JoinHandle<Result<(), h2::Error>>,
) {
    let (client, connection) = h2::client::handshake(connect_tls(subject).await)
        .await
        .expect("HTTP/2");
    let connection = tokio::spawn(connection);
    (client.ready().await.expect("ready"), connection)
}

fn get(path_and_query: &str) -> Request<()> {
    let uri = format!("https://localhost{path_and_query}");
    Request::get(uri).body(()).expect("a valid request")
}

fn get_message(message: &[u8]) -> Request<()> {
    get(&format!(
        "/dns-query?dns={}",
        BASE64URL_NOPAD.encode(message)
    ))
}

fn post(media_type: &str) -> Request<()> {
    Request::post("https://localhost/dns-query")
        .header("content-type", media_type)
        .body(())
        .expect("a valid request")
}

async fn content(response: Response<RecvStream>) -> Vec<u8> {
    let mut body = response.into_body();
    let mut content = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.expect("whole content");
        body.flow_control()
            .release_capacity(chunk.len())
            .expect("held");
        content.extend_from_slice(&chunk);
    }
    content
}

/// Sends a request, with content in pieces if there is any.
async fn send(
    client: &mut SendRequest<Bytes>,
    request: Request<()>,
    pieces: &[&[u8]],
) -> Result<Response<RecvStream>, h2::Error> {
    let mut ready = client.clone().ready().await?;
    let (response, mut stream) = ready.send_request(request, pieces.is_empty())?;
    for (place, piece) in pieces.iter().enumerate() {
        let is_last = place + 1 == pieces.len();
        // The server may have answered before it has all.
        if stream
            .send_data(Bytes::copy_from_slice(piece), is_last)
            .is_err()
        {
            break;
        }
    }
    response.await
}

async fn status(client: &mut SendRequest<Bytes>, request: Request<()>, pieces: &[&[u8]]) -> u16 {
    let response = send(client, request, pieces).await.expect("a response");
    response.status().as_u16()
}

#[test]
fn get_and_post_give_the_message_and_how_long_it_is_fresh() {
    let subject = Subject::start(|_| {});
    let message = query_zero("www.example.", Rtype::A);
    block_on(async {
        let (mut client, _) = connect(&subject).await;
        let by_get = send(&mut client, get_message(&message), &[]).await;
        let whole: [&[u8]; 1] = [&message];
        let by_post = send(&mut client, post(MEDIA_TYPE), &whole).await;
        let pieces: [&[u8]; 3] = [&message[..1], &message[1..20], &message[20..]];
        let in_pieces = send(&mut client, post(MEDIA_TYPE), &pieces).await;
        for response in [by_get, by_post, in_pieces] {
            let response = response.expect("a response");
            assert_eq!(response.status(), 200);
            assert_eq!(response.headers()["content-type"], MEDIA_TYPE);
            assert_eq!(response.headers()["cache-control"], "max-age=3600");
            let len = response.headers()["content-length"].clone();
            let content = content(response).await;
            assert_eq!(len, content.len().to_string());
            assert_eq!(content[..2], [0, 0]);
            assert_eq!(content[6..8], [0, 1], "one record in the answer section");
        }
        let nothing = query_zero("nothing.example.", Rtype::A);
        let response = send(&mut client, get_message(&nothing), &[]).await;
        // The SOA's MINIMUM field.
        let response = response.expect("a response");
        assert_eq!(response.headers()["cache-control"], "max-age=600");
    });
    let counters = subject.counters(|counters| counters.queries_doh == 4);
    assert_eq!((counters.handshakes, counters.http_errors), (1, 0));
}

#[test]
fn requests_that_cannot_be_served_say_why() {
    let subject = Subject::start(|_| {});
    let message = query_zero("www.example.", Rtype::A);
    let mut response = message.clone();
    response[2] |= 0x80;
    let long = vec![0; 70_000];
    block_on(async {
        let (mut client, _) = connect(&subject).await;
        let with_method = |method: Method| {
            let builder = Request::builder().method(method);
            let builder = builder.uri("https://localhost/dns-query");
            builder.body(()).expect("a valid request")
        };
        let message: &[&[u8]] = &[&message];
        let cases: [Case<'_>; 11] = [
            (404, get("/"), &[]),
            (404, get("/dns?dns=AAAA"), &[]),
            (400, get("/dns-query"), &[]),
            (400, get("/dns-query?dns=AAA="), &[]),
            (400, get("/dns-query?dns=AAAA"), &[]),
            (400, get_message(&response), &[]),
            (405, with_method(Method::PUT), message),
            (405, with_method(Method::DELETE), &[]),
            (415, post("application/json"), message),
            (413, post(MEDIA_TYPE), &[&long]),
            (400, post(MEDIA_TYPE), &[&[]]),
        ];
        let expected = cases.len() as u64;
        for (status_wanted, request, pieces) in cases {
            let what = format!("{} {}", request.method(), request.uri());
            assert_eq!(
                status(&mut client, request, pieces).await,
                status_wanted,
                "{what}"
            );
        }
        let mut announced = post(MEDIA_TYPE);
        let headers = announced.headers_mut();
        headers.insert("content-length", 65_536.into());
        let pieces: &[&[u8]] = &[&long[..65_536]];
        assert_eq!(status(&mut client, announced, pieces).await, 413);
        // The connection is as good as before.
        assert_eq!(status(&mut client, post(MEDIA_TYPE), message).await, 200);
        subject.counters(|counters| counters.http_errors == expected + 1);
    });
}

#[test]
fn more_requests_than_streams_wait_for_their_turn() {
    const REQUESTS: u16 = 300;
    let subject = Subject::start(|config| config.max_streams = 10);
    block_on(async {
        let (mut client, _) = connect(&subject).await;
        // Before the first response the client may not know the limit.
        let first = get_message(&query_zero("www.example.", Rtype::A));
        assert_eq!(status(&mut client, first, &[]).await, 200);
        let requests = (0..REQUESTS).map(|id| {
            let mut client = client.clone();
            tokio::spawn(async move {
                let mut message = query_zero("several.example.", Rtype::ANY);
                message[..2].copy_from_slice(&id.to_be_bytes());
                let response = send(&mut client, get_message(&message), &[]).await;
                content(response.expect("a response")).await
            })
        });
        for (id, request) in (0..REQUESTS).zip(requests.collect::<Vec<_>>()) {
            assert_eq!(request.await.expect("answered")[..2], id.to_be_bytes());
        }
    });
}

#[test]
fn padding_is_answered_and_zone_transfers_are_refused() {
    let subject = Subject::start(|_| {});
    block_on(async {
        let (mut client, _) = connect(&subject).await;
        let message = padded_query(&name("www.example."), Rtype::A);
        let response = send(&mut client, post(MEDIA_TYPE), &[&message]).await;
        assert_eq!(content(response.expect("a response")).await.len(), 468);
        let message = query_zero("example.", Rtype::AXFR);
        let response = send(&mut client, post(MEDIA_TYPE), &[&message]).await;
        let refused = content(response.expect("a response")).await;
        assert_eq!(refused[3] & 0x0f, 5);
    });
}

#[test]
fn uploads_given_up_leave_nothing_behind() {
    let subject = Subject::start(|config| config.max_streams = 20);
    let message = query_zero("www.example.", Rtype::A);
    block_on(async {
        let (mut client, _) = connect(&subject).await;
        for _ in 0..5 {
            for _ in 0..10 {
                let mut ready = client.clone().ready().await.expect("ready");
                let sent = ready.send_request(post(MEDIA_TYPE), false);
                let (_, mut stream) = sent.expect("sent");
                stream.send_data(vec![0; 100].into(), false).expect("sent");
                stream.send_reset(Reason::CANCEL);
            }
            assert_eq!(
                status(&mut client, post(MEDIA_TYPE), &[&message]).await,
                200
            );
        }
    });
}

#[test]
fn too_much_unfinished_content_is_reset() {
    let subject = Subject::start(|_| {});
    let message = query_zero("www.example.", Rtype::A);
    block_on(async {
        let (mut client, _) = connect(&subject).await;
        let mut open = Vec::new();
        for _ in 0..30 {
            let mut ready = client.clone().ready().await.expect("ready");
            let sent = ready.send_request(post(MEDIA_TYPE), false);
            let (response, mut stream) = sent.expect("sent");
            stream
                .send_data(vec![0; 60_000].into(), false)
                .expect("sent");
            open.push((response, stream));
        }
        let first_to_end = poll_fn(|context| {
            let mut responses = open.iter_mut().map(|(response, _)| Pin::new(response));
            let ended = responses.find_map(|response| match response.poll(context) {
                Poll::Ready(ended) => Some(ended),
                Poll::Pending => None,
            });
            ended.map_or(Poll::Pending, Poll::Ready)
        });
        let error = first_to_end.await.expect_err("none of them is complete");
        assert_eq!(error.reason(), Some(Reason::ENHANCE_YOUR_CALM));
        drop(open);
        assert_eq!(
            status(&mut client, post(MEDIA_TYPE), &[&message]).await,
            200
        );
    });
}

/// Writes octets on a connection and reads to its end.
async fn converse(mut stream: impl AsyncRead + AsyncWrite + Unpin, octets: &[u8]) -> Vec<u8> {
    let mut written = 0;
    while written < octets.len() {
        let rest = &octets[written..];
        let write = poll_fn(|context| Pin::new(&mut stream).poll_write(context, rest)).await;
        written += write.expect("sent");
    }
    let flush = poll_fn(|context| Pin::new(&mut stream).poll_flush(context)).await;
    flush.expect("sent");
    let mut read = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let mut buffer = tokio::io::ReadBuf::new(&mut buffer);
        match poll_fn(|context| Pin::new(&mut stream).poll_read(context, &mut buffer)).await {
            Ok(()) if buffer.filled().is_empty() => return read,
            Ok(()) => read.extend_from_slice(buffer.filled()),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return read,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn what_is_no_http2_ends_the_connection() {
    let subject = Subject::start(|_| {});
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    // An empty SETTINGS frame, then a frame longer than allowed, HEADERS on stream 0, and a header block that is no HPACK.
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let too_long = [0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1];
    let on_zero = [0, 0, 0, 1, 5, 0, 0, 0, 0];
    let no_hpack = [0, 0, 2, 1, 5, 0, 0, 0, 1, 0xff, 0xff];
    let after_preface = |frame: &[u8]| [&preface[..], &settings, frame].concat();
    let garbage = [
        b"GET /dns-query HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
        vec![0xff; 100],
        after_preface(&too_long),
        after_preface(&on_zero),
        after_preface(&no_hpack),
    ];
    block_on(async {
        for octets in garbage {
            converse(connect_tls(&subject).await, &octets).await;
        }
        let (mut client, _) = connect(&subject).await;
        let message = query_zero("www.example.", Rtype::A);
        assert_eq!(status(&mut client, get_message(&message), &[]).await, 200);
    });
}

#[test]
fn stopping_the_server_says_goaway() {
    const GOAWAY: u8 = 7;
    let subject = Subject::start(|_| {});
    block_on(async {
        // No client of h2's, which takes leave too: it may find the connection closed when it does.
        let mut tls = connect_tls(&subject).await;
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let preface = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &settings].concat();
        tls.write_all(&preface).await.expect("it listens");
        let mut said = vec![0; 9];
        tls.read_exact(&mut said).await.expect("its settings");
        let stopped = tokio::task::spawn_blocking(|| subject.server.stop()).await;
        stopped.expect("no panic").expect("it ends well");
        tls.read_to_end(&mut said)
            .await
            .expect("a clean end of TLS");
        let mut last = None;
        let mut rest = &said[..];
        while let Some(([a, b, c, kind, ..], after)) = rest.split_first_chunk::<9>() {
            let len = u32::from_be_bytes([0, *a, *b, *c]) as usize;
            let (content, after) = after.split_at_checked(len).expect("whole frames");
            last = Some((*kind, content));
            rest = after;
        }
        // The last stream, and NO_ERROR.
        assert_eq!(last, Some((GOAWAY, &[0; 8][..])));
    });
}

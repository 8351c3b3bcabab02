//! Answers, right and wrong.

use super::driver::{Load, lengthen};
use super::server::{Identity, Server, answer, answer_stream, framed, read_query, serve};
use crate::answer::Malformed;
use crate::config::SessionSettings;
use quinn::{Connection, RecvStream, SendStream, VarInt};
use std::future::Future;
use std::sync::Arc;

/// A server that treats each stream with `reply`.
fn server<F>(reply: impl Fn(SendStream, RecvStream) -> F + Send + Sync + 'static) -> Server
where
    F: Future<Output = ()> + Send + 'static,
{
    let reply = Arc::new(reply);
    Server::new(Identity::new().config(b"doq"), move |_, incoming| {
        let reply = reply.clone();
        async move {
            let connection: Connection = incoming.await.unwrap();
            while let Ok((send, receive)) = connection.accept_bi().await {
                tokio::spawn(reply(send, receive));
            }
        }
    })
}

/// A server that sends what `octets` makes of each query, and ends the stream.
fn saying(octets: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static) -> Server {
    let octets = Arc::new(octets);
    server(move |mut send, mut receive| {
        let octets = octets.clone();
        async move {
            let query = read_query(&mut receive).await.unwrap();
            let _ = send.write_all(&octets(&query)).await;
            let _ = send.finish();
        }
    })
}

fn load(server: &Server) -> Load {
    Load::new(server.address, 1, &SessionSettings::default())
}

#[test]
fn many_clients_get_their_answers() {
    let server = Server::good();
    let mut load = Load::new(server.address, 50, &SessionSettings::default());
    load.window = 200;
    load.run(5_000);
    assert_eq!((load.seen.answered, load.seen.unmatched), (5_000, 0));
    assert_eq!((load.seen.tried, load.seen.full), (50, 50));
    assert_eq!(load.seen.closed + load.seen.closed_by_peer, 0);
}

#[test]
fn the_wire_is_counted() {
    use crate::transport::Transport;
    let server = Server::good();
    let mut load = load(&server);
    load.run(100);
    let wire = load.doq.totals().wire;
    // 100 queries of about 38 octets, and Initial datagrams of 1200 (RFC 9000 section 14.1).
    assert!(
        wire.octets_sent > 5_000 && wire.octets_received > 5_000,
        "{wire:?}"
    );
    assert!(
        wire.packets_sent < 200 && wire.packets_received > 2,
        "{wire:?}"
    );
}

#[test]
fn long_messages_pass_both_ways() {
    let server = saying(|query| {
        let mut long = answer(query);
        lengthen(&mut long, 60_000);
        framed(&long)
    });
    let mut load = load(&server);
    load.padding = 20_000;
    load.run(40);
    assert_eq!((load.seen.answered, load.seen.longest_answer), (40, 60_000));
}

#[test]
fn narrow_windows_hold_queries_up_but_let_them_pass() {
    let mut config = Identity::new().config(b"doq");
    let mut transport = quinn::TransportConfig::default();
    transport
        .stream_receive_window(VarInt::from_u32(50))
        .receive_window(VarInt::from_u32(120))
        .max_concurrent_bidi_streams(VarInt::from_u32(3));
    config.transport_config(Arc::new(transport));
    let server = Server::new(config, |_, incoming| async move {
        serve(incoming.await.unwrap()).await;
    });
    let mut load = load(&server);
    load.padding = 400;
    load.run(100);
    assert_eq!((load.seen.answered, load.seen.full), (100, 1));
}

#[test]
fn a_cut_answer_is_malformed_and_ends_its_query() {
    let server = saying(|query| {
        let mut cut = framed(&answer(query));
        cut.truncate(20);
        cut
    });
    let mut load = load(&server);
    load.run(10);
    assert_eq!(load.seen.malformed, [Malformed::Cut; 10]);
    assert_eq!(load.seen.refused["protocol_error"], 10);
    assert_eq!(load.seen.tried, 1, "the session goes on");
}

#[test]
fn a_stream_without_an_answer_ends_its_query() {
    let server = saying(|_| Vec::new());
    let mut load = load(&server);
    load.run(10);
    assert_eq!(load.seen.refused["protocol_error"], 10);
}

#[test]
fn garbage_ends_its_query() {
    let server = saying(|_| framed(b"garbage"));
    let mut load = load(&server);
    load.run(10);
    assert_eq!(load.seen.malformed, [Malformed::Short; 10]);
    assert_eq!(load.seen.refused["protocol_error"], 10);
}

#[test]
fn a_second_answer_matches_nothing() {
    let server = saying(|query| framed(&answer(query)).repeat(2));
    let mut load = load(&server);
    load.run(10);
    assert_eq!((load.seen.answered, load.seen.unmatched), (10, 10));
}

#[test]
fn octets_after_the_answer_are_malformed() {
    let server = saying(|query| [framed(&answer(query)).as_slice(), b"\0\x09more"].concat());
    let mut load = load(&server);
    load.run(10);
    assert_eq!(load.seen.answered, 10);
    assert_eq!(load.seen.malformed, [Malformed::Cut; 10]);
}

#[test]
fn an_answer_with_an_id_is_none() {
    let server = saying(|query| {
        let mut answer = answer(query);
        answer[..2].copy_from_slice(&[0xff, 0xff]);
        framed(&answer)
    });
    let mut load = load(&server);
    load.run(10);
    assert_eq!((load.seen.answered, load.seen.unmatched), (0, 10));
    assert_eq!(load.seen.refused["protocol_error"], 10);
}

#[test]
fn an_endless_answer_is_cut_off() {
    let server = server(|mut send, _receive| async move {
        while send.write_all(&[0xff; 4096]).await.is_ok() {}
    });
    let mut load = load(&server);
    load.run(10);
    assert_eq!(load.seen.refused["protocol_error"], 10);
    assert_eq!(load.seen.malformed, [Malformed::Cut; 10]);
}

#[test]
fn an_answer_without_the_end_of_its_stream_is_none() {
    let server = server(|mut send, mut receive| async move {
        let query = read_query(&mut receive).await.unwrap();
        let _ = send.write_all(&framed(&answer(&query))).await;
        let _ = send.stopped().await;
    });
    let mut load = load(&server);
    load.timeout_ns = 200_000_000;
    load.run(10);
    // Told with the next look at what has arrived.
    load.run(11);
    assert_eq!((load.seen.answered, load.seen.timed_out), (0, 11));
    assert!(load.seen.malformed.len() >= 10);
}

#[test]
fn a_reset_stream_refuses_its_query() {
    let server = server(|mut send, _receive| async move {
        let _ = send.reset(VarInt::from_u32(1));
    });
    let mut load = load(&server);
    load.run(300);
    assert_eq!(load.seen.refused["stream_reset"], 300);
    assert_eq!((load.seen.tried, load.seen.closed_by_peer), (1, 0));
}

#[test]
fn an_unwanted_query_is_refused() {
    // More than flow control lets out at once, so that the server's wish comes before the query's end.
    let mut config = Identity::new().config(b"doq");
    let mut transport = quinn::TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(50));
    config.transport_config(Arc::new(transport));
    let server = Server::new(config, |_, incoming| async move {
        let connection = incoming.await.unwrap();
        while let Ok((send, mut receive)) = connection.accept_bi().await {
            let _ = receive.stop(VarInt::from_u32(4));
            tokio::spawn(async move {
                let _ = { send }.stopped().await;
            });
        }
    });
    let mut load = load(&server);
    load.padding = 300;
    load.run(10);
    assert_eq!(load.seen.refused["stream_reset"], 10);
    assert_eq!(load.seen.tried, 1);
}

#[test]
fn a_server_that_does_not_read_the_end_of_a_query_is_forgiven() {
    let server = server(|mut send, mut receive| async move {
        let mut len = [0; 2];
        receive.read_exact(&mut len).await.unwrap();
        let mut query = vec![0; usize::from(u16::from_be_bytes(len))];
        receive.read_exact(&mut query).await.unwrap();
        // This asks the client to stop sending, without an error.
        drop(receive);
        let _ = send.write_all(&framed(&answer(&query))).await;
        let _ = send.finish();
    });
    let mut load = load(&server);
    load.run(200);
    assert_eq!(load.seen.answered, 200);
}

#[test]
fn a_silent_server_times_queries_out_and_gets_new_sessions() {
    let mut config = Identity::new().config(b"doq");
    let mut transport = quinn::TransportConfig::default();
    transport.max_concurrent_bidi_streams(VarInt::from_u32(5));
    config.transport_config(Arc::new(transport));
    let server = Server::new(config, |_, incoming| async move {
        let connection = incoming.await.unwrap();
        // Streams are neither accepted nor given back.
        connection.closed().await;
    });
    let mut load = load(&server);
    load.window = 5;
    load.timeout_ns = 100_000_000;
    load.run(12);
    assert_eq!((load.seen.answered, load.seen.timed_out), (0, 12));
    assert_eq!((load.seen.opened(), load.seen.closed), (3, 2));
}

#[test]
fn cancelled_queries_give_their_streams_back() {
    let mut config = Identity::new().config(b"doq");
    let mut transport = quinn::TransportConfig::default();
    transport.max_concurrent_bidi_streams(VarInt::from_u32(5));
    config.transport_config(Arc::new(transport));
    let server = Server::new(config, |_, incoming| async move {
        let connection = incoming.await.unwrap();
        let mut number = 0;
        while let Ok((send, receive)) = connection.accept_bi().await {
            number += 1;
            if number > 20 {
                tokio::spawn(answer_stream(send, receive));
            } else {
                tokio::spawn(async move {
                    let mut receive = receive;
                    let _ = read_query(&mut receive).await;
                    // Wakes up when the client cancels.
                    let code = { send }.stopped().await;
                    assert_eq!(code.ok().flatten(), Some(VarInt::from_u32(3)));
                });
            }
        }
    });
    let mut load = load(&server);
    load.window = 5;
    load.timeout_ns = 100_000_000;
    load.run(20);
    load.timeout_ns = super::driver::PATIENT_NS;
    load.run(40);
    assert_eq!((load.seen.timed_out, load.seen.answered), (20, 20));
    assert_eq!(load.seen.tried, 1);
}

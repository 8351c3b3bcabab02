//! How sessions are used: opened, resumed, closed.

use super::driver::Load;
use super::server::{Identity, Server, answer_stream, serve};
use crate::config::SessionSettings;
use crate::transport::Transport;
use quinn::{ConnectionError, IdleTimeout, VarInt};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

fn settings(queries: Option<u64>, resumption: bool) -> SessionSettings {
    SessionSettings {
        queries,
        idle: None,
        resumption,
    }
}

#[test]
fn sessions_end_after_their_queries() {
    let server = Server::good();
    let mut load = Load::new(server.address, 2, &settings(Some(5), false));
    load.run(100);
    let seen = &load.seen;
    assert_eq!(seen.answered, 100);
    // Each client's last session may have had fewer queries, and be told as closed later.
    assert!((20..=21).contains(&seen.full) && seen.resumed == 0);
    assert!((seen.full - 2..=seen.full).contains(&seen.closed) && seen.closed_by_peer == 0);
    assert!(seen.refused.is_empty() && seen.failed.is_empty());
}

#[test]
fn each_client_resumes_its_own_sessions() {
    let server = Server::good();
    let mut load = Load::new(server.address, 3, &settings(Some(1), true));
    load.run(30);
    assert_eq!(load.seen.answered, 30);
    assert_eq!((load.seen.full, load.seen.resumed), (3, 27));
}

#[test]
fn idle_sessions_are_closed_and_the_server_told() {
    let (closed, told) = mpsc::channel();
    let server = Server::new(Identity::new().config(b"doq"), move |_, incoming| {
        let closed = closed.clone();
        async move {
            let connection = incoming.await.unwrap();
            serve(connection.clone()).await;
            let _ = closed.send(connection.close_reason());
        }
    });
    let idle = SessionSettings {
        idle: Some(Duration::from_secs(3)),
        ..SessionSettings::default()
    };
    let mut load = Load::new(server.address, 2, &idle);
    load.run(10);
    assert_eq!((load.seen.opened(), load.seen.closed), (2, 0));
    load.clock.leap(3_000_000_000);
    load.run_until(10, |seen| seen.closed == 2);
    for _ in 0..2 {
        let reason = told.recv_timeout(Duration::from_secs(20)).unwrap();
        let Some(ConnectionError::ApplicationClosed(close)) = reason else {
            panic!("{reason:?}");
        };
        assert_eq!(close.error_code, VarInt::from_u32(0));
    }
    load.run(20);
    assert_eq!((load.seen.answered, load.seen.opened()), (20, 4));
}

#[test]
fn sessions_without_queries_are_opened_and_closed_on_demand() {
    let server = Server::good();
    let mut load = Load::new(server.address, 10, &settings(None, false));
    for client in 0..10 {
        load.doq.open(client, &load.clock, &mut load.seen);
        load.doq.open(client, &load.clock, &mut load.seen);
    }
    load.run_until(0, |seen| seen.opened() == 10);
    for client in 0..10 {
        load.doq.close(client, &load.clock, &mut load.seen);
        load.doq.close(client, &load.clock, &mut load.seen);
    }
    assert_eq!((load.seen.tried, load.seen.closed), (10, 10));
}

#[test]
fn an_attempt_that_is_given_up_has_failed() {
    let server = Server::good();
    let mut load = Load::new(server.address, 1, &settings(None, false));
    load.doq.open(0, &load.clock, &mut load.seen);
    load.doq.close(0, &load.clock, &mut load.seen);
    assert_eq!(load.seen.failed["connection_lost"], 1);
    load.run(5);
    assert_eq!(load.seen.answered, 5);
}

#[test]
fn the_end_of_a_load_is_told_to_the_server() {
    let (closed, told) = mpsc::channel();
    let server = Server::new(Identity::new().config(b"doq"), move |_, incoming| {
        let closed = closed.clone();
        async move {
            let connection = incoming.await.unwrap();
            serve(connection.clone()).await;
            let _ = closed.send(connection.close_reason());
        }
    });
    let mut load = Load::new(server.address, 1, &settings(None, false));
    load.run(5);
    drop(load);
    let reason = told.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(
        matches!(reason, Some(ConnectionError::ApplicationClosed(_))),
        "{reason:?}"
    );
}

#[test]
fn the_servers_idle_limit_closes_sessions() {
    let mut config = Identity::new().config(b"doq");
    let mut transport = quinn::TransportConfig::default();
    transport.max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(2_000))));
    config.transport_config(Arc::new(transport));
    let server = Server::new(config, |_, incoming| async move {
        serve(incoming.await.unwrap()).await;
    });
    let mut load = Load::new(server.address, 1, &settings(None, false));
    load.run(5);
    load.clock.leap(3_000_000_000);
    load.run_until(5, |seen| seen.closed_by_peer == 1);
    load.run(10);
    assert_eq!((load.seen.answered, load.seen.opened()), (10, 2));
}

#[test]
fn sessions_that_the_server_closes_are_opened_again() {
    let server = Server::new(Identity::new().config(b"doq"), |_, incoming| async move {
        let connection = incoming.await.unwrap();
        for _ in 0..3 {
            let (send, receive) = connection.accept_bi().await.unwrap();
            answer_stream(send, receive).await;
        }
        connection.close(VarInt::from_u32(4), b"excessive load");
    });
    let mut load = Load::new(server.address, 1, &settings(None, false));
    load.window = 1;
    load.run(30);
    let seen = &load.seen;
    assert!(seen.closed_by_peer >= 9, "{}", seen.closed_by_peer);
    assert!(seen.answered > 0 && seen.timed_out == 0);
    assert_eq!(
        seen.answered + seen.refused.get("connection_lost").unwrap_or(&0),
        30
    );
}

#[test]
fn sessions_that_bring_nothing_are_not_opened_in_a_storm() {
    let server = Server::new(Identity::new().config(b"doq"), |_, incoming| async move {
        incoming.await.unwrap().close(VarInt::from_u32(0), b"");
    });
    let mut load = Load::new(server.address, 1, &settings(None, false));
    load.window = 1;
    let begin = std::time::Instant::now();
    load.run(5);
    assert_eq!(load.seen.refused["connection_lost"], 5);
    assert!(begin.elapsed() >= Duration::from_millis(4 * 50));
}

//! DoQ servers on loopback that behave as told.

#![allow(dead_code, reason = "the tests of the transport take a part of it")]

use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Connection, Endpoint, Incoming, RecvStream, SendStream, ServerConfig};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::oneshot;

/// A self-signed certificate for localhost and 127.0.0.1, and a configuration of a server that has it.
pub struct Identity {
    pub certificate_pem: String,
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    pub fn new() -> Self {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        Self {
            certificate_pem: made.cert.pem(),
            certificate: made.cert.der().clone(),
            key: made.signing_key.serialize_der().into(),
        }
    }

    /// A server that speaks `alpn` over QUIC.
    pub fn config(&self, alpn: &[u8]) -> ServerConfig {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], self.key.clone_key().into())
            .unwrap();
        config.alpn_protocols = vec![alpn.to_vec()];
        ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(config).unwrap()))
    }
}

/// A server with a thread of its own, until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers everything.
    pub fn good() -> Self {
        Self::new(Identity::new().config(b"doq"), |_, incoming| async move {
            if let Ok(connection) = incoming.await {
                serve(connection).await;
            }
        })
    }

    /// Calls `talk` with the number of each attempt, from 0.
    pub fn new<F>(config: ServerConfig, talk: impl Fn(u64, Incoming) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::at((Ipv4Addr::LOCALHOST, 0).into(), config, talk)
    }

    /// Answers the probe, which is the first attempt, and calls `talk` with each later one.
    pub fn after_probe<F>(talk: impl Fn(Incoming) -> F + Clone + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self::new(Identity::new().config(b"doq"), move |number, incoming| {
            let talk = talk.clone();
            async move {
                match number {
                    0 => serve(incoming.await.unwrap()).await,
                    _ => talk(incoming).await,
                }
            }
        })
    }

    /// [`Self::new`] at an address.
    pub fn at<F>(
        address: SocketAddr,
        config: ServerConfig,
        talk: impl Fn(u64, Incoming) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let socket = UdpSocket::bind(address).unwrap();
        let address = socket.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let endpoint = Endpoint::new(
                    quinn::EndpointConfig::default(),
                    Some(config),
                    socket,
                    Arc::new(quinn::TokioRuntime),
                )
                .unwrap();
                let accepting = tokio::spawn(async move {
                    let mut number = 0;
                    while let Some(incoming) = endpoint.accept().await {
                        tokio::spawn(talk(number, incoming));
                        number += 1;
                    }
                });
                let _ = stopped.await;
                accepting.abort();
            });
            // Whatever was going on ends without a word.
            runtime.shutdown_timeout(Duration::ZERO);
        });
        Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Answers all queries of a connection.
pub async fn serve(connection: Connection) {
    while let Ok((send, receive)) = connection.accept_bi().await {
        tokio::spawn(answer_stream(send, receive));
    }
}

/// Answers one query.
pub async fn answer_stream(mut send: SendStream, mut receive: RecvStream) {
    if let Some(query) = read_query(&mut receive).await {
        let _ = send.write_all(&framed(&answer(&query))).await;
        let _ = send.finish();
    }
}

/// The query of a stream, which is as RFC 9250 has it.
pub async fn read_query(receive: &mut RecvStream) -> Option<Vec<u8>> {
    let octets = receive.read_to_end(70_000).await.ok()?;
    let (len, message) = octets.split_first_chunk::<2>().unwrap();
    assert_eq!(usize::from(u16::from_be_bytes(*len)), message.len());
    assert_eq!(message[..2], [0, 0], "the ID is 0");
    Some(message.to_vec())
}

/// A message with its length before it.
pub fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes(), message].concat()
}

/// The good answer to a query: NOERROR without records.
pub fn answer(query: &[u8]) -> Vec<u8> {
    let mut answer = query.to_vec();
    answer[2] |= 0x80;
    answer
}

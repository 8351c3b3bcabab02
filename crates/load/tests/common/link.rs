//! Servers over connections, with or without TLS, that talk as told.

use crate::common::{Server, answer};
use dnsrig_load::TransportKind;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// One connection, seen from above TLS.
pub trait Link: Read + Write {
    /// Completes the handshake, if there is one.
    fn shake_hands(&mut self) -> io::Result<()>;

    /// Ends what the server says, in order, and goes on reading.
    fn say_goodbye(&mut self);

    /// The connection below TLS.
    fn below(&mut self) -> &mut TcpStream;
}

impl Link for TcpStream {
    fn shake_hands(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn say_goodbye(&mut self) {
        let _ = self.shutdown(std::net::Shutdown::Write);
    }

    fn below(&mut self) -> &mut TcpStream {
        self
    }
}

impl Link for StreamOwned<ServerConnection, TcpStream> {
    fn shake_hands(&mut self) -> io::Result<()> {
        while self.conn.is_handshaking() {
            self.conn.complete_io(&mut self.sock)?;
        }
        Ok(())
    }

    fn say_goodbye(&mut self) {
        self.conn.send_close_notify();
        let _ = self.flush();
        let _ = self.sock.shutdown(std::net::Shutdown::Write);
    }

    fn below(&mut self) -> &mut TcpStream {
        &mut self.sock
    }
}

/// TLS with a certificate of its own making.
pub fn tls(alpn: &[u8], versions: &[&'static rustls::SupportedProtocolVersion]) -> ServerConfig {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![alpn.to_vec()];
    config
}

/// A server for TCP, DoT or DoH that calls `talk` with the number of each connection (the probe's is 0); it stops
/// listening when `talk` gives `false`.
pub fn server(
    kind: TransportKind,
    talk: impl Fn(u64, &mut dyn Link) -> bool + Send + Sync + 'static,
) -> Server {
    let alpn: &[u8] = match kind {
        TransportKind::Tcp => {
            return Server::tcp(move |number, mut stream| talk(number, &mut stream));
        }
        TransportKind::Doh => b"h2",
        _ => b"dot",
    };
    with_tls(Arc::new(tls(alpn, rustls::ALL_VERSIONS)), talk)
}

/// The same over the TLS of `config`.
pub fn with_tls(
    config: Arc<ServerConfig>,
    talk: impl Fn(u64, &mut dyn Link) -> bool + Send + Sync + 'static,
) -> Server {
    Server::tcp(move |number, stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        talk(number, &mut StreamOwned::new(connection, stream))
    })
}

/// Reads one framed message, or `None` at the end of the connection.
pub fn read_message(link: &mut dyn Link) -> Option<Vec<u8>> {
    let mut len = [0; 2];
    link.read_exact(&mut len).ok()?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(len))];
    link.read_exact(&mut message).ok()?;
    Some(message)
}

/// Writes one framed message.
pub fn write_message(link: &mut dyn Link, message: &[u8]) {
    let frame = [&(message.len() as u16).to_be_bytes(), message].concat();
    let _ = link.write_all(&frame).and_then(|()| link.flush());
}

/// Answers all queries of a connection.
pub fn serve(link: &mut dyn Link) -> bool {
    while let Some(query) = read_message(link) {
        write_message(link, &answer(&query));
    }
    true
}

/// Reads all that comes.
pub fn listen_only(link: &mut dyn Link) {
    let mut buffer = [0; 4096];
    while link.read(&mut buffer).is_ok_and(|count| count > 0) {}
}

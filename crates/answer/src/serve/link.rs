//! The octets of one TCP connection, with or without TLS around them.

use super::counters::Tally;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustls::{HandshakeKind, ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

/// A connection to read from and write to; neither waits.
pub(super) struct Link {
    stream: TcpStream,
    tls: Option<Box<ServerConnection>>,
    handshaking: bool,
    moved: bool,
}

impl Link {
    pub fn plain(stream: TcpStream) -> Self {
        Self {
            stream,
            tls: None,
            handshaking: false,
            moved: false,
        }
    }

    pub fn tls(stream: TcpStream, config: Arc<ServerConfig>) -> Result<Self, rustls::Error> {
        Ok(Self {
            stream,
            tls: Some(Box::new(ServerConnection::new(config)?)),
            handshaking: true,
            moved: false,
        })
    }

    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut self.stream, token, interest)
    }

    /// Whether the TLS handshake is still to be finished.
    pub fn is_handshaking(&self) -> bool {
        self.handshaking
    }

    /// Whether octets have come in or gone out since this was last asked.
    pub fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.moved)
    }

    /// Reads what has come in; 0 is the end, [`ErrorKind::WouldBlock`] says that there is nothing.
    pub fn read(&mut self, to: &mut [u8], tally: &mut Tally) -> io::Result<usize> {
        loop {
            if let Some(tls) = &mut self.tls {
                match tls.reader().read(to) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    // Messages have lengths of their own, so an end without close_notify cuts off nothing unnoticed.
                    Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                    result => return result,
                }
            }
            let received = match &mut self.tls {
                None => self.stream.read(to),
                Some(tls) => tls.read_tls(&mut self.stream),
            };
            match received {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
                Ok(_) => self.moved = true,
            }
            if self.tls.is_none() {
                return received;
            }
            self.process(tally)?;
        }
    }

    /// Decrypts what has been read, and takes the handshake further.
    fn process(&mut self, tally: &mut Tally) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            return Ok(());
        };
        let processed = tls.process_new_packets();
        if self.handshaking && !tls.is_handshaking() {
            self.handshaking = false;
            tally.counts.handshakes += 1;
            if tls.handshake_kind() == Some(HandshakeKind::Resumed) {
                tally.counts.handshakes_resumed += 1;
            }
        }
        // After an error this is the alert that says why.
        let flushed = self.flush();
        processed.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        flushed.map(drop)
    }

    /// Writes what there is room for; [`ErrorKind::WouldBlock`] says that there is none. With TLS this makes records that
    /// [`Self::flush`] sends.
    pub fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if let Some(tls) = &mut self.tls {
            let written = tls.writer().write(octets)?;
            if written > 0 {
                return Ok(written);
            }
            // The records of before take all the room.
            return match self.flush()? {
                true => self.write(octets),
                false => Err(ErrorKind::WouldBlock.into()),
            };
        }
        loop {
            match self.stream.write(octets) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(written) => {
                    self.moved = true;
                    return Ok(written);
                }
            }
        }
    }

    /// Sends what TLS has encrypted; whether that is all of it.
    pub fn flush(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else {
            return Ok(true);
        };
        while tls.wants_write() {
            match tls.write_tls(&mut self.stream) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => self.moved = true,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Says that nothing more will be sent, as far as that needs no waiting (RFC 8446 section 6.1).
    pub fn close(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            // A client that is gone need not hear it.
            let _ = self.flush();
        }
    }
}

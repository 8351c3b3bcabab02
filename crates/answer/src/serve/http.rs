//! HTTP/2 on one connection, fed with octets and giving octets: h2 reads from and writes to memory here, so that it needs no
//! asynchronous runtime.

use super::ServeConfig;
use super::doh::{self, Request};
use super::outgoing::Outgoing;
use super::workspace::{MESSAGE_LEN, Workspace};
use crate::{Reply, Transport};
use bytes::Bytes;
use h2::server::{Builder, Connection, Handshake, SendResponse};
use h2::{Reason, RecvStream};
use http::{Response, StatusCode};
use std::cell::RefCell;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Requests answered before what they made is sent.
const REQUESTS: usize = 256;
/// Octets of request content that a connection may have unfinished, over all streams.
const UPLOADS_LIMIT: usize = 1 << 20;
/// Octets of a request's header, which in a GET request holds the query.
const HEADER_LIMIT: u32 = 16 << 10;
/// With this many octets written h2 has to wait.
const WRITTEN_LIMIT: usize = 256 << 10;

/// The HTTP/2 connection of a DoH client.
pub(super) struct Http {
    pipe: Rc<RefCell<Pipe>>,
    state: State,
    uploads: Vec<Upload>,
    /// Octets that the uploads hold.
    uploaded: usize,
    /// The query of a GET request.
    query: Vec<u8>,
}

enum State {
    Handshake(Handshake<PipeEnd, Bytes>),
    Open(Connection<PipeEnd, Bytes>),
    Over,
}

/// A POST request whose content is not complete.
struct Upload {
    content: RecvStream,
    respond: SendResponse<Bytes>,
    octets: Vec<u8>,
}

/// How far an upload is.
enum Progress {
    Waiting,
    Complete,
    TooLong,
    /// The connection holds too much.
    NoRoom,
    /// The client has given it up.
    Gone,
}

impl Http {
    pub fn new(config: &ServeConfig) -> Self {
        let pipe = Rc::<RefCell<Pipe>>::default();
        let handshake = Builder::new()
            .max_concurrent_streams(config.max_streams)
            .max_header_list_size(HEADER_LIMIT)
            .handshake(PipeEnd(Rc::clone(&pipe)));
        Self {
            pipe,
            state: State::Handshake(handshake),
            uploads: Vec::new(),
            uploaded: 0,
            query: Vec::new(),
        }
    }

    pub fn receive(&mut self, octets: &[u8]) {
        let mut pipe = self.pipe.borrow_mut();
        let read = std::mem::take(&mut pipe.read);
        pipe.incoming.drain(..read);
        pipe.incoming.extend_from_slice(octets);
    }

    /// The client sends nothing more.
    pub fn end(&mut self) {
        self.pipe.borrow_mut().ended = true;
    }

    /// Whether nothing more will be said.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Takes leave (RFC 9113 section 6.8).
    pub fn go_away(&mut self, outgoing: &mut Outgoing) {
        if let State::Open(connection) = &mut self.state {
            connection.abrupt_shutdown(Reason::NO_ERROR);
            let mut context = Context::from_waker(Waker::noop());
            // Whether it has said everything or not: this is its last chance.
            let _ = connection.poll_closed(&mut context);
        }
        self.move_written(outgoing);
    }

    /// Answers requests that have come in; whether there was anything to do.
    pub fn answer(&mut self, workspace: &mut Workspace<'_>, outgoing: &mut Outgoing) -> bool {
        // Nothing needs to be woken: all is polled again until it has nothing to do, and then when octets move.
        let mut context = Context::from_waker(Waker::noop());
        let mut progress = false;
        for _ in 0..REQUESTS {
            let advanced = match self.poll_request(&mut context) {
                Poll::Ready(Some((request, respond))) => {
                    self.take(request, respond, workspace);
                    true
                }
                Poll::Ready(None) => {
                    progress |= !self.is_over();
                    self.state = State::Over;
                    break;
                }
                Poll::Pending => self.advance_uploads(&mut context, workspace),
            };
            self.move_written(outgoing);
            if !advanced {
                break;
            }
            progress = true;
        }
        self.move_written(outgoing);
        progress
    }

    fn move_written(&mut self, outgoing: &mut Outgoing) {
        let mut pipe = self.pipe.borrow_mut();
        if !pipe.outgoing.is_empty() {
            outgoing.push(&pipe.outgoing);
            // dnsperf (2.10) takes one response from a TLS record, and loses others in it.
            outgoing.end_record();
            pipe.outgoing.clear();
        }
    }

    /// The next request; `None` when the connection is over.
    fn poll_request(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<(http::Request<RecvStream>, SendResponse<Bytes>)>> {
        if let State::Handshake(handshake) = &mut self.state {
            match pin!(handshake).poll(context) {
                Poll::Ready(Ok(connection)) => self.state = State::Open(connection),
                Poll::Ready(Err(_)) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
        let State::Open(connection) = &mut self.state else {
            return Poll::Ready(None);
        };
        let accepted = pin!(connection.accept()).poll(context);
        // What is wrong is said to the client by h2, in GOAWAY.
        accepted.map(|accepted| accepted.and_then(Result::ok))
    }

    fn take(
        &mut self,
        request: http::Request<RecvStream>,
        mut respond: SendResponse<Bytes>,
        workspace: &mut Workspace<'_>,
    ) {
        let (head, content) = request.into_parts();
        match doh::read_request(&head, &mut self.query) {
            Request::Query => answer(&self.query, &mut respond, workspace),
            Request::Upload => self.uploads.push(Upload {
                content,
                respond,
                octets: Vec::new(),
            }),
            Request::Refused(status) => refuse(status, &mut respond, workspace),
        }
    }

    /// Reads the content of POST requests, and answers the first that is complete; whether anything has come.
    fn advance_uploads(
        &mut self,
        context: &mut Context<'_>,
        workspace: &mut Workspace<'_>,
    ) -> bool {
        let before = self.uploaded;
        for place in 0..self.uploads.len() {
            let upload = &mut self.uploads[place];
            let progress = upload.poll(context, &mut self.uploaded);
            let respond = &mut upload.respond;
            match progress {
                Progress::Waiting => continue,
                Progress::Complete => answer(&upload.octets, respond, workspace),
                Progress::TooLong => refuse(StatusCode::PAYLOAD_TOO_LARGE, respond, workspace),
                Progress::NoRoom => respond.send_reset(Reason::ENHANCE_YOUR_CALM),
                Progress::Gone => {}
            }
            self.uploaded -= upload.octets.len();
            self.uploads.swap_remove(place);
            return true;
        }
        self.uploaded != before
    }
}

impl Upload {
    fn poll(&mut self, context: &mut Context<'_>, uploaded: &mut usize) -> Progress {
        loop {
            let chunk = match self.content.poll_data(context) {
                Poll::Pending => return Progress::Waiting,
                Poll::Ready(None) => return Progress::Complete,
                Poll::Ready(Some(Err(_))) => return Progress::Gone,
                Poll::Ready(Some(Ok(chunk))) => chunk,
            };
            if self.octets.len() + chunk.len() > MESSAGE_LEN {
                return Progress::TooLong;
            }
            if *uploaded + chunk.len() > UPLOADS_LIMIT {
                return Progress::NoRoom;
            }
            *uploaded += chunk.len();
            self.octets.extend_from_slice(&chunk);
            // It fails for a stream that is gone, which the next poll tells.
            let _ = self.content.flow_control().release_capacity(chunk.len());
        }
    }
}

fn answer(query: &[u8], respond: &mut SendResponse<Bytes>, workspace: &mut Workspace<'_>) {
    match workspace.answer(query, Transport::Https) {
        Reply::Message { len, .. } => {
            let message = workspace.message(len);
            send(
                respond,
                doh::answer_head(message),
                Bytes::copy_from_slice(message),
            );
        }
        // Zone transfers are not begun over HTTPS.
        Reply::Nothing | Reply::Transfer(_) => refuse(StatusCode::BAD_REQUEST, respond, workspace),
    }
}

fn refuse(status: StatusCode, respond: &mut SendResponse<Bytes>, workspace: &mut Workspace<'_>) {
    workspace.tally.counts.http_errors += 1;
    send(respond, doh::refusal_head(status), Bytes::new());
}

/// Sends a response; one that the client no longer wants is dropped by h2.
fn send(respond: &mut SendResponse<Bytes>, head: Response<()>, content: Bytes) {
    let is_empty = content.is_empty();
    if let Ok(mut stream) = respond.send_response(head, is_empty)
        && !is_empty
    {
        let _ = stream.send_data(content, true);
    }
}

/// Octets between the connection and h2.
#[derive(Default)]
struct Pipe {
    /// What the client has sent; what is before `read` h2 has.
    incoming: Vec<u8>,
    read: usize,
    ended: bool,
    /// What h2 has written.
    outgoing: Vec<u8>,
}

/// h2's end of the pipe.
struct PipeEnd(Rc<RefCell<Pipe>>);

impl AsyncRead for PipeEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut pipe = self.0.borrow_mut();
        let waiting = &pipe.incoming[pipe.read..];
        if waiting.is_empty() && !pipe.ended {
            return Poll::Pending;
        }
        let len = waiting.len().min(to.remaining());
        to.put_slice(&waiting[..len]);
        pipe.read += len;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for PipeEnd {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut pipe = self.0.borrow_mut();
        if pipe.outgoing.len() >= WRITTEN_LIMIT {
            return Poll::Pending;
        }
        pipe.outgoing.extend_from_slice(octets);
        Poll::Ready(Ok(octets.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

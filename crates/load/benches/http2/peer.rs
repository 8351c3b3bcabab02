//! The same with the crate `h2`, driven by hand over memory.

use super::server::{self, Server};
use super::{Client, QUERY_LEN, WINDOW};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use dnsrig_load::HttpMethod;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Request, Uri};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

#[derive(Default)]
struct Pipe {
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    read: usize,
}

#[derive(Clone, Default)]
struct End(Rc<RefCell<Pipe>>);

impl AsyncRead for End {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut pipe = self.0.borrow_mut();
        let rest = &pipe.incoming[pipe.read..];
        let count = rest.len().min(buffer.remaining());
        if count == 0 {
            return Poll::Pending;
        }
        buffer.put_slice(&rest[..count]);
        pipe.read += count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for End {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        octets: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().outgoing.extend_from_slice(octets);
        Poll::Ready(Ok(octets.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A client by the crate `h2`, used as sparingly as its interface permits: no executor, nothing woken.
pub struct Peer {
    method: HttpMethod,
    pipe: End,
    send: SendRequest<Bytes>,
    connection: Connection<End, Bytes>,
    uri: Uri,
    query: Bytes,
    media_type: HeaderValue,
    waiting: VecDeque<ResponseFuture>,
}

impl Peer {
    pub fn new(method: HttpMethod) -> Self {
        let pipe = End::default();
        let mut builder = Builder::new();
        builder.initial_connection_window_size(0x7fff_ffff);
        let mut handshake = Box::pin(builder.handshake(pipe.clone()));
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(Ok((send, connection))) = handshake.as_mut().poll(&mut context) else {
            panic!("the handshake needs no answer");
        };
        Self {
            method,
            pipe,
            send,
            connection,
            uri: Uri::from_static("https://127.0.0.1/dns-query"),
            query: Bytes::from_static(&[7; QUERY_LEN]),
            media_type: HeaderValue::from_static("application/dns-message"),
            waiting: VecDeque::new(),
        }
    }

    fn request(&self) -> Request<()> {
        let mut request = Request::new(());
        *request.uri_mut() = self.uri.clone();
        let headers = request.headers_mut();
        headers.insert(http::header::ACCEPT, self.media_type.clone());
        match self.method {
            HttpMethod::Post => {
                headers.insert(http::header::CONTENT_TYPE, self.media_type.clone());
                headers.insert(http::header::CONTENT_LENGTH, HeaderValue::from(QUERY_LEN));
                *request.method_mut() = Method::POST;
            }
            HttpMethod::Get => {
                let mut path = String::from("/dns-query?dns=");
                URL_SAFE_NO_PAD.encode_string(&self.query, &mut path);
                let mut parts = self.uri.clone().into_parts();
                parts.path_and_query = PathAndQuery::from_maybe_shared(path).ok();
                *request.uri_mut() = Uri::from_parts(parts).expect("its parts are right");
            }
        }
        request
    }

    fn poll(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        let polled = Pin::new(&mut self.connection).poll(&mut context);
        assert!(polled.is_pending(), "the connection goes on");
    }
}

impl Client for Peer {
    fn send(&mut self) {
        for _ in 0..WINDOW {
            let is_get = self.method == HttpMethod::Get;
            let request = self.request();
            let (answer, mut content) =
                self.send.send_request(request, is_get).expect("it is sent");
            if !is_get {
                content
                    .send_data(self.query.clone(), true)
                    .expect("it is sent");
            }
            self.waiting.push_back(answer);
        }
        self.poll();
    }

    fn exchange(&mut self, server: &mut Server) {
        let pipe = &mut *self.pipe.0.borrow_mut();
        pipe.incoming.clear();
        pipe.read = 0;
        server.take(&pipe.outgoing, &mut pipe.incoming);
        pipe.outgoing.clear();
    }

    fn receive(&mut self) -> usize {
        self.poll();
        let mut context = Context::from_waker(Waker::noop());
        let mut count = 0;
        while let Some(mut answer) = self.waiting.pop_front() {
            let Poll::Ready(Ok(answer)) = Pin::new(&mut answer).poll(&mut context) else {
                panic!("the answer is there");
            };
            let mut content = answer.into_body();
            let Poll::Ready(Some(Ok(message))) = content.poll_data(&mut context) else {
                panic!("its content is there");
            };
            count += usize::from(message.len() == server::ANSWER_LEN);
            let flow = content.flow_control();
            flow.release_capacity(message.len())
                .expect("it was received");
        }
        count
    }
}

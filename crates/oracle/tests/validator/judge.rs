//! The validator, which asks the Internet without sockets.

use crate::internet::Name;
use crate::message::Response;
use crate::resolver::{Anchor, Resolved, Resolver};
use bytes::Bytes;
use domain::base::Message;
use domain::base::iana::Rtype;
use domain::base::name::ToName;
use domain::dnssec::validator::anchor::TrustAnchors;
use domain::dnssec::validator::context::{Config, ValidationContext, ValidationState};
use domain::net::client::request::{
    ComposeRequest, Error, GetResponse, RequestMessage, SendRequest,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::Pin;
use std::rc::Rc;

/// How the validator's own questions, for DS and DNSKEY records, are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// By the servers of the zones that have them.
    Asked,
    /// DS records and their denial as referrals bring them along.
    Referred,
    /// With a bit flipped in each signature of this type.
    Spoilt(Rtype),
}

/// Flips a bit in all signatures of a type.
pub fn spoil(response: &mut Response, rtype: Rtype) {
    let all = response.answer.iter_mut().chain(&mut response.authority);
    for entry in all.filter(|one| one.rtype == Rtype::RRSIG && one.covers() == rtype) {
        *entry.rdata.last_mut().unwrap() ^= 1;
    }
}

struct Transport {
    resolver: Rc<RefCell<Resolver>>,
    upstream: Upstream,
}

impl SendRequest<RequestMessage<Vec<u8>>> for Transport {
    fn send_request(&self, request: RequestMessage<Vec<u8>>) -> Box<dyn GetResponse + Send + Sync> {
        assert!(request.dnssec_ok());
        let message = request.to_message().unwrap();
        let question = message.sole_question().unwrap();
        let (name, rtype): (Name, Rtype) = (question.qname().to_name(), question.qtype());
        let mut resolver = self.resolver.borrow_mut();
        let referral = match (self.upstream, rtype) {
            (Upstream::Referred, Rtype::DS) => resolver.referral(&name),
            _ => None,
        };
        let octets = match referral {
            Some(response) => response.compose(),
            None => {
                let mut resolved = resolver.resolve(&name, rtype);
                match self.upstream {
                    Upstream::Spoilt(rtype) => {
                        spoil(&mut resolved.response, rtype);
                        resolved.response.compose()
                    }
                    _ => resolved.octets,
                }
            }
        };
        Box::new(Ready(octets))
    }
}

#[derive(Debug)]
struct Ready(Bytes);

impl GetResponse for Ready {
    fn get_response(
        &mut self,
    ) -> Pin<Box<dyn Future<Output = Result<Message<Bytes>, Error>> + Send + Sync + '_>> {
        let message = Message::from_octets(self.0.clone()).map_err(Error::from);
        Box::pin(std::future::ready(message))
    }
}

type Context = ValidationContext<Transport>;

/// Validators of one Internet.
pub struct Judge {
    pub resolver: Rc<RefCell<Resolver>>,
    upstream: Upstream,
    runtime: tokio::runtime::Runtime,
    /// By the trust anchors that they begin from.
    contexts: HashMap<Vec<Anchor>, Context>,
}

impl Judge {
    pub fn new(resolver: &Rc<RefCell<Resolver>>, upstream: Upstream) -> Self {
        // Nothing waits; the validator's functions are asynchronous all the same.
        let runtime = tokio::runtime::Builder::new_current_thread();
        Self {
            resolver: resolver.clone(),
            upstream,
            runtime: { runtime }.build().unwrap(),
            contexts: HashMap::new(),
        }
    }

    fn context(&self, anchors: &[Anchor]) -> Context {
        let texts: String = anchors.iter().map(|anchor| &*anchor.text).collect();
        let mut config = Config::new();
        config.set_max_node_cache(100_000);
        // The Internet has iterations of real zones, also those that resolvers refuse (RFC 9276).
        config.set_nsec3_iter_insecure(500);
        let transport = Transport {
            resolver: self.resolver.clone(),
            upstream: self.upstream,
        };
        let anchors = TrustAnchors::from_u8(texts.as_bytes()).expect("anchors are readable");
        ValidationContext::with_config(anchors, transport, config)
    }

    /// What the validator says of a message, and why.
    fn judge(&mut self, octets: Bytes, anchors: &[Anchor]) -> (ValidationState, String) {
        if !self.contexts.contains_key(anchors) {
            // Each anchor but the root's stands for DS records that are valid themselves.
            for anchor in &anchors[1..] {
                let ds = self.resolver.borrow_mut().resolve(&anchor.apex, Rtype::DS);
                let (state, reason) = self.judge(ds.octets, &ds.anchors);
                assert_eq!(
                    state,
                    ValidationState::Secure,
                    "DS of {}: {reason}",
                    anchor.apex
                );
            }
            self.contexts
                .insert(anchors.to_vec(), self.context(anchors));
        }
        let context = &self.contexts[anchors];
        let mut message = Message::from_octets(octets).unwrap();
        let validated = context.validate_msg::<Bytes, Vec<u8>>(&mut message);
        let (state, reason) = self
            .runtime
            .block_on(validated)
            .expect("the validator takes it");
        let reason = reason.and_then(|error| Some(error.text()?.ok()?.to_string()));
        (state, reason.unwrap_or_default())
    }

    /// What the validator says of what was resolved, and why.
    pub fn of(&mut self, resolved: &Resolved) -> (ValidationState, String) {
        self.judge(resolved.octets.clone(), &resolved.anchors)
    }

    /// What it says if only the root is trusted.
    pub fn by_root_alone(&mut self, resolved: &Resolved) -> (ValidationState, String) {
        self.judge(resolved.octets.clone(), &resolved.anchors[..1])
    }

    /// What it says of a changed response.
    pub fn of_changed(
        &mut self,
        response: &Response,
        anchors: &[Anchor],
    ) -> (ValidationState, String) {
        self.judge(response.compose(), anchors)
    }
}

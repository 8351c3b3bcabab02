//! Answers queries from zones in memory.

use crate::AnswerError;
use crate::answering::Answering;
use crate::message::{Flags, KnownNames, MessageWriter, OPT_LEN};
use crate::query::Query;
use crate::transfer::Transfer;
use crate::wire::ZoneWire;
use dnsrig_zone::Zone;
use dnsrig_zone::lookup::{LookupName, RrsetId};
use domain::base::iana::{Class, Opcode, OptRcode, Rtype};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

/// Longest response over UDP to a query without EDNS (RFC 1035 section 4.2.1).
const UDP_LIMIT_WITHOUT_EDNS: usize = 512;
/// Longest message over TCP (RFC 1035 section 4.2.2).
const TCP_LIMIT: usize = 65_535;

/// How a query came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A datagram: responses have a size limit.
    Udp,
    /// A stream.
    Tcp,
    /// DNS over TLS (RFC 7858).
    Tls,
    /// DNS over HTTPS (RFC 8484): one response to a query, so no zone transfers.
    Https,
    /// DNS over QUIC (RFC 9250).
    Quic,
}

impl Transport {
    /// Whether others on the path cannot read messages; only then padding has a purpose (RFC 7830 section 6).
    pub fn is_encrypted(self) -> bool {
        matches!(self, Self::Tls | Self::Https | Self::Quic)
    }
}

/// How much a response says beyond what was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// No more than needed: NS records and addresses in referrals only.
    #[default]
    Minimal,
    /// With positive answers also the zone's NS RRset, and the addresses of hosts that NS, MX and SRV records name, like
    /// BIND's `minimal-responses no`.
    Full,
}

/// Settings of a [`Responder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How much a response says beyond what was asked.
    pub answers: Answers,
    /// Octets of the longest response over UDP, at least 512; also what the responder's OPT record announces.
    pub udp_payload: u16,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            answers: Answers::default(),
            udp_payload: 1232,
        }
    }
}

/// What is to be done with a query.
#[derive(Debug)]
pub enum Reply {
    /// Nothing: it is no query.
    Nothing,
    /// Send the first `len` octets of the buffer.
    Message {
        /// The response's length in octets.
        len: usize,
        /// Its response code.
        rcode: OptRcode,
    },
    /// Send the messages of a zone transfer.
    Transfer(Transfer),
}

/// Memory that answering a query needs, to be used again for the next; one for each thread.
#[derive(Default)]
pub struct Scratch {
    pub(crate) name: LookupName,
    pub(crate) known: KnownNames,
    pub(crate) proof: Vec<RrsetId>,
    pub(crate) written: Vec<RrsetId>,
}

/// Answers queries from a set of zones as an authoritative server does (RFC 1034 section 4.3.2, RFC 4035 section 3.1, RFC 5155
/// section 7.2).
///
/// - It is not a resolver: aliases are followed inside their zone only, names outside its zones are REFUSED.
/// - QTYPE ANY gets one RRset over UDP and all of them over the other transports (RFC 8482 section 4.1).
/// - AXFR is answered over TCP, TLS and QUIC and REFUSED over UDP and HTTPS; other opcodes than QUERY get NOTIMP.
/// - Over encrypted transports a padded query gets a padded response (RFC 8467 section 4.1).
#[derive(Debug)]
pub struct Responder {
    zones: Vec<ZoneWire>,
    /// Places in `zones` by lower-cased wire name.
    by_name: HashMap<Box<[u8]>, usize, RandomState>,
    /// How many labels zone names have, each number once, the greatest first.
    depths: Vec<usize>,
    options: Options,
}

impl Responder {
    /// Prepares zones for answering.
    ///
    /// # Errors
    /// [`AnswerError::NoSoa`], [`AnswerError::DuplicateZone`].
    pub fn new(
        zones: impl IntoIterator<Item = Arc<Zone>>,
        options: Options,
    ) -> Result<Self, AnswerError> {
        let mut this = Self {
            zones: Vec::new(),
            by_name: HashMap::default(),
            depths: Vec::new(),
            options,
        };
        for zone in zones {
            let apex = LookupName::from(zone.origin());
            if this
                .by_name
                .insert(apex.wire().into(), this.zones.len())
                .is_some()
            {
                let zone = zone.origin().fmt_with_dot().to_string();
                return Err(AnswerError::DuplicateZone { zone });
            }
            this.depths.push(apex.labels());
            this.zones.push(ZoneWire::new(zone)?);
        }
        this.depths.sort_unstable_by(|a, b| b.cmp(a));
        this.depths.dedup();
        Ok(this)
    }

    /// The settings.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Answers a query, writing the response to `out`; 65,535 octets are always enough, over UDP `udp_payload` are.
    ///
    /// Nothing is allocated, except for a zone transfer and while `scratch` is new.
    pub fn answer(
        &self,
        message: &[u8],
        transport: Transport,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Reply {
        let Some(mut query) = Query::parse(message, &mut scratch.name) else {
            return Reply::Nothing;
        };
        if let Some(edns) = &mut query.edns {
            edns.padding &= transport.is_encrypted();
        }
        let limit = match (transport, query.edns) {
            (Transport::Udp, None) => UDP_LIMIT_WITHOUT_EDNS,
            (Transport::Udp, Some(edns)) => {
                usize::from(edns.udp_payload.min(self.options.udp_payload))
                    .max(UDP_LIMIT_WITHOUT_EDNS)
            }
            _ => TCP_LIMIT,
        };
        let limit = limit.min(out.len())
            - if query.edns.is_some() {
                OPT_LEN.min(out.len())
            } else {
                0
            };
        let (zone, rtype) = match self.admit(&query, transport, &scratch.name) {
            Ok((zone, Rtype::AXFR)) => return Reply::Transfer(Transfer::new(zone, message, query)),
            Ok(admitted) => admitted,
            Err(rcode) => return self.refuse(message, &query, rcode, limit, scratch, out),
        };
        let Some(writer) = MessageWriter::new(out, limit, message, &query, &mut scratch.known)
        else {
            return Reply::Nothing;
        };
        scratch.proof.clear();
        scratch.written.clear();
        let mut answering = Answering {
            zone: &self.zones[zone],
            answers: self.options.answers,
            transport,
            rtype,
            dnssec_ok: query.edns.is_some_and(|edns| edns.dnssec_ok),
            name: &mut scratch.name,
            proof: &mut scratch.proof,
            written: &mut scratch.written,
            writer,
            authoritative: true,
            rcode: OptRcode::NOERROR,
        };
        let truncated = answering.run().is_err();
        let flags = Flags {
            authoritative: answering.authoritative,
            truncated,
            rcode: answering.rcode,
        };
        let len = answering
            .writer
            .finish(&query, flags, self.options.udp_payload);
        Reply::Message {
            len,
            rcode: flags.rcode,
        }
    }

    /// Decides whether a query is to be answered, and from which zone.
    fn admit(
        &self,
        query: &Query,
        transport: Transport,
        name: &LookupName,
    ) -> Result<(usize, Rtype), OptRcode> {
        if query.opcode != Opcode::QUERY {
            return Err(OptRcode::NOTIMP);
        }
        let Some(question) = query.question.filter(|_| query.well_formed) else {
            return Err(OptRcode::FORMERR);
        };
        if query.edns.is_some_and(|edns| edns.version > 0) {
            return Err(OptRcode::BADVERS);
        }
        if question.class != Class::IN {
            return Err(OptRcode::REFUSED);
        }
        let rtype = question.rtype;
        match rtype {
            Rtype::OPT | Rtype::TSIG | Rtype::TKEY => return Err(OptRcode::FORMERR),
            Rtype::IXFR | Rtype::MAILA | Rtype::MAILB => return Err(OptRcode::NOTIMP),
            Rtype::AXFR if matches!(transport, Transport::Udp | Transport::Https) => {
                return Err(OptRcode::REFUSED);
            }
            _ => {}
        }
        let zone = self.find_zone(name, rtype).ok_or(OptRcode::REFUSED)?;
        if rtype == Rtype::AXFR && !self.is_apex(zone, name) {
            return Err(OptRcode::NOTAUTH);
        }
        Ok((zone, rtype))
    }

    /// The zone that answers for a name and type: the nearest, but for DS the one above the zone cut (RFC 4035 section 3.1.4.1).
    fn find_zone(&self, name: &LookupName, rtype: Rtype) -> Option<usize> {
        let nearest = self.nearest_zone(name, name.labels())?;
        if rtype == Rtype::DS && name.labels() > 0 && self.is_apex(nearest, name) {
            let delegates_name = |&zone: &usize| {
                let index = &self.zones[zone].index;
                index
                    .find(name)
                    .is_some_and(|node| index.zone_cut(node) == Some(node))
            };
            let parent = self
                .nearest_zone(name, name.labels() - 1)
                .filter(delegates_name);
            return parent.or(Some(nearest));
        }
        Some(nearest)
    }

    fn nearest_zone(&self, name: &LookupName, max_labels: usize) -> Option<usize> {
        let depths = self.depths.iter().filter(|&&depth| depth <= max_labels);
        depths
            .filter_map(|&depth| self.by_name.get(name.suffix(depth)))
            .copied()
            .next()
    }

    fn is_apex(&self, zone: usize, name: &LookupName) -> bool {
        let index = &self.zones[zone].index;
        index.labels(index.apex()) == name.labels()
    }

    pub(crate) fn zone(&self, place: usize) -> &ZoneWire {
        &self.zones[place]
    }

    /// Answers with nothing but a response code.
    fn refuse(
        &self,
        message: &[u8],
        query: &Query,
        rcode: OptRcode,
        limit: usize,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Reply {
        let Some(writer) = MessageWriter::new(out, limit, message, query, &mut scratch.known)
        else {
            return Reply::Nothing;
        };
        let flags = Flags {
            authoritative: false,
            truncated: false,
            rcode,
        };
        let len = writer.finish(query, flags, self.options.udp_payload);
        Reply::Message { len, rcode }
    }
}

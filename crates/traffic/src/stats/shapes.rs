//! How often each combination of what is counted of a message came.
//!
//! A dozen counts of every message would cost more than reading it. In any traffic a few hundred combinations are nearly all
//! messages, so that one count is enough for most of them, and the dozen is made of it when it has to leave, or at the end.

use crate::message::Message;
use crate::wire::{Header, Opt, Question};

/// Combinations that are kept; a power of two, and few enough for the fastest cache.
const SLOTS: usize = 512;
/// Odd, without a pattern: the fractional part of the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// What is counted of a message, but for its size, its time and its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Flags and RCODE of the header, QTYPE, QCLASS, and the size of UDP payload: 16 bits each.
    fixed: u64,
    /// The upper bits of the RCODE and the version, 8 bits each; above them the transport's number, and above that the bits below.
    varied: u32,
}

const TRANSPORT_SHIFT: u32 = 16;
const QUESTION: u32 = 1 << 24;
const OPT: u32 = 1 << 25;
const DNSSEC_OK: u32 = 1 << 26;
const IPV6: u32 = 1 << 27;

impl Shape {
    /// The shape of a message.
    #[inline]
    pub fn of(
        message: &Message<'_>,
        header: Header,
        question: Option<&Question<'_>>,
        opt: Option<&Opt<'_>>,
    ) -> Self {
        let mut fixed = u64::from(header.flags) << 48;
        let mut varied = (message.transport as u32) << TRANSPORT_SHIFT;
        if message.source.address.is_ipv6() {
            varied |= IPV6;
        }
        if let Some(question) = question {
            fixed |= u64::from(question.qtype) << 32 | u64::from(question.qclass) << 16;
            varied |= QUESTION;
        }
        if let Some(opt) = opt {
            fixed |= u64::from(opt.udp_size);
            varied |= OPT | u32::from(opt.extended_rcode) << 8 | u32::from(opt.version);
            varied |= u32::from(opt.dnssec_ok) * DNSSEC_OK;
        }
        Self { fixed, varied }
    }

    /// The header; all of it but the flags and the RCODE is zero.
    pub fn header(self) -> Header {
        Header {
            flags: (self.fixed >> 48) as u16,
            ..Header::default()
        }
    }

    /// QCLASS and QTYPE, if there is a question.
    pub fn question(self) -> Option<(u16, u16)> {
        let pair = ((self.fixed >> 16) as u16, (self.fixed >> 32) as u16);
        (self.varied & QUESTION != 0).then_some(pair)
    }

    /// The OPT record without its options, if there is one.
    pub fn opt(self) -> Option<Opt<'static>> {
        let [version, extended_rcode, ..] = self.varied.to_le_bytes();
        (self.varied & OPT != 0).then_some(Opt {
            udp_size: self.fixed as u16,
            extended_rcode,
            version,
            dnssec_ok: self.varied & DNSSEC_OK != 0,
            data: &[],
        })
    }

    /// The whole RCODE (RFC 6891 section 6.1.3).
    pub fn rcode(self) -> u16 {
        u16::from(self.varied.to_le_bytes()[1]) << 4 | u16::from(self.header().rcode())
    }

    /// The transport's place in [`crate::message::Transport::ALL`].
    pub fn transport(self) -> usize {
        self.varied.to_le_bytes()[2].into()
    }

    /// Whether it came over IPv6.
    pub fn is_ipv6(self) -> bool {
        self.varied & IPV6 != 0
    }

    #[inline]
    fn slot(self) -> usize {
        let mixed = (self.fixed ^ u64::from(self.varied).rotate_left(40)).wrapping_mul(FACTOR);
        (mixed >> (u64::BITS - SLOTS.ilog2())) as usize
    }
}

/// Shapes, each with how often it came since it was last taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shapes {
    /// Empty before the first message.
    slots: Vec<(Shape, u64)>,
}

impl Shapes {
    /// Counts a message; gives the shape that it has to count in place of, if any, and how often that came.
    #[inline]
    pub fn add(&mut self, shape: Shape) -> Option<(Shape, u64)> {
        match self.slots.get_mut(shape.slot()) {
            Some((own, count)) if *own == shape => {
                *count += 1;
                None
            }
            _ => self.replace(shape),
        }
    }

    #[cold]
    fn replace(&mut self, shape: Shape) -> Option<(Shape, u64)> {
        if self.slots.is_empty() {
            let nothing = Shape {
                fixed: 0,
                varied: 0,
            };
            self.slots.resize(SLOTS, (nothing, 0));
        }
        let before = std::mem::replace(&mut self.slots[shape.slot()], (shape, 1));
        (before.1 > 0).then_some(before)
    }

    /// Takes all that is counted.
    pub fn take(&mut self) -> impl Iterator<Item = (Shape, u64)> + use<> {
        let slots = std::mem::take(&mut self.slots);
        slots.into_iter().filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Endpoint, SentLen, Transport};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn shape(
        flags: u16,
        question: Option<(u16, u16)>,
        opt: Option<Opt<'_>>,
        ipv6: bool,
        transport: Transport,
    ) -> Shape {
        let source = match ipv6 {
            true => Endpoint::new(std::net::Ipv6Addr::LOCALHOST, 53),
            false => Endpoint::new([192, 0, 2, 1], 53),
        };
        let message = Message {
            time_ns: 0,
            source,
            destination: source,
            transport,
            octets: &[],
            is_cut: false,
            sent_len: SentLen::Own,
            number: 1,
        };
        let header = Header {
            id: 4711,
            flags,
            ..Header::default()
        };
        let question = question.map(|(qclass, qtype)| Question {
            name: b"\0",
            qtype,
            qclass,
            end: 17,
        });
        Shape::of(&message, header, question.as_ref(), opt.as_ref())
    }

    fn opt() -> impl Strategy<Value = Opt<'static>> {
        (any::<u16>(), any::<u8>(), any::<u8>(), any::<bool>()).prop_map(
            |(udp_size, extended_rcode, version, dnssec_ok)| Opt {
                udp_size,
                extended_rcode,
                version,
                dnssec_ok,
                data: &[],
            },
        )
    }

    proptest! {
        #[test]
        fn a_shape_tells_all_that_it_was_made_of(
            flags: u16,
            question: Option<(u16, u16)>,
            opt in proptest::option::of(opt()),
            ipv6: bool,
            transport in proptest::sample::select(&Transport::ALL[..]),
        ) {
            let shape = shape(flags, question, opt, ipv6, transport);
            prop_assert_eq!(shape.header().flags, flags);
            prop_assert_eq!(shape.question(), question);
            prop_assert_eq!(shape.opt(), opt);
            prop_assert_eq!(shape.is_ipv6(), ipv6);
            prop_assert_eq!(Transport::ALL[shape.transport()], transport);
            let upper = opt.map_or(0, |opt| u16::from(opt.extended_rcode));
            prop_assert_eq!(shape.rcode(), upper << 4 | flags & 0xF);
        }

        #[test]
        fn nothing_is_lost_however_many_shapes_there_are(
            all in proptest::collection::vec((0..40_u16, 0..60_u16), 0..3000),
        ) {
            let (mut shapes, mut counts, mut expected) = (Shapes::default(), BTreeMap::new(), BTreeMap::new());
            for (flags, qtype) in all {
                *expected.entry((flags, qtype)).or_insert(0) += 1;
                let replaced = shapes.add(shape(flags, Some((1, qtype)), None, false, Transport::Udp));
                note(&mut counts, replaced);
            }
            let rest: Vec<_> = shapes.take().collect();
            note(&mut counts, rest);
            prop_assert_eq!(shapes.take().count(), 0);
            prop_assert_eq!(counts, expected);
        }
    }

    fn note(counts: &mut BTreeMap<(u16, u16), u64>, found: impl IntoIterator<Item = (Shape, u64)>) {
        for (shape, count) in found {
            let (_, qtype) = shape.question().unwrap_or_default();
            *counts.entry((shape.header().flags, qtype)).or_insert(0) += count;
        }
    }
}

//! dnstap files: Frame Streams (<https://farsightsec.github.io/fstrm/>) of Protocol Buffers
//! (<https://github.com/dnstap/dnstap.pb>).
//!
//! Files have the frames of one direction; what a socket got of a bidirectional stream is read, too.

mod protobuf;

use super::ChunkBuffer;
use super::source::{Fault, Source};
use crate::message::{Endpoint, Message, SentLen, Transport};
use protobuf::{Fields, Value};
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest frame that is taken; a message of DNS has at most 65535 octets, and a frame one or two of them.
const MAX_FRAME_LEN: usize = 1 << 20;
/// The longest control frame, as fstrm has it.
const MAX_CONTROL_LEN: usize = 512;
const CONTENT_TYPE: &[u8] = b"protobuf:dnstap.Dnstap";

const ACCEPT: u32 = 1;
const START: u32 = 2;
const STOP: u32 = 3;
const READY: u32 = 4;
const FINISH: u32 = 5;
/// The number of a control frame's field with a content type.
const FIELD_CONTENT_TYPE: u32 = 1;
const DNS_PORT: u16 = 53;

/// Whether a file that begins with `octets` (twelve or more of them) is a Frame Stream.
pub fn is_dnstap(octets: &[u8]) -> bool {
    let Some(&[0, 0, 0, 0, a, b, c, d, e, f, g, h]) = octets.first_chunk::<12>() else {
        return false;
    };
    let len = u32::from_be_bytes([a, b, c, d]) as usize;
    let kind = u32::from_be_bytes([e, f, g, h]);
    (4..=MAX_CONTROL_LEN).contains(&len) && matches!(kind, START | READY)
}

/// Reads a dnstap file.
pub struct Dnstap<R> {
    input: R,
    frame: Vec<u8>,
    /// Data frames that have been read.
    frames: u64,
    /// The time of the last one that had any.
    last_time_ns: i64,
    is_at_end: bool,
}

impl<R: Read> Dnstap<R> {
    /// Reads the control frames at the beginning of `input`, which should be buffered.
    ///
    /// # Errors
    /// [`Fault::NotACapture`] for frames of other contents, or another [`Fault`].
    pub fn new(input: R) -> Result<Self, Fault> {
        let mut made = Self {
            input,
            frame: Vec::new(),
            frames: 0,
            last_time_ns: 0,
            is_at_end: false,
        };
        loop {
            match made.next_frame()? {
                Some(Frame::Control(START)) => return Ok(made),
                Some(Frame::Control(READY | ACCEPT)) => {}
                _ => {
                    let why = "is a Frame Stream without a frame that starts it".to_owned();
                    return Err(Fault::NotACapture(why));
                }
            }
        }
    }

    /// Reads a frame; the contents of a data frame are in `self.frame`. `None` at the end of the file.
    fn next_frame(&mut self) -> Result<Option<Frame>, Fault> {
        let Some(len) = self.number()? else {
            return Ok(None);
        };
        if len > 0 {
            self.take(len, MAX_FRAME_LEN)?;
            return Ok(Some(Frame::Data));
        }
        let len = self.number()?.ok_or(Fault::CutOff)?;
        self.take(len, MAX_CONTROL_LEN)?;
        let (kind, mut rest) = self
            .frame
            .split_first_chunk::<4>()
            .ok_or_else(|| Fault::Damaged("a control frame without a type".to_owned()))?;
        let kind = u32::from_be_bytes(*kind);
        // Fields of a number, a length and so many octets; READY may name several contents.
        let (mut has_type, mut is_dnstap) = (false, false);
        while let Some(([a, b, c, d, e, f, g, h], after)) = rest.split_first_chunk::<8>() {
            let field = u32::from_be_bytes([*a, *b, *c, *d]);
            let len = u32::from_be_bytes([*e, *f, *g, *h]) as usize;
            let Some((value, after)) = after.split_at_checked(len) else {
                return Err(Fault::Damaged(
                    "a control frame that is not whole".to_owned(),
                ));
            };
            has_type |= field == FIELD_CONTENT_TYPE;
            is_dnstap |= field == FIELD_CONTENT_TYPE && value == CONTENT_TYPE;
            rest = after;
        }
        if has_type && !is_dnstap {
            let why = "is a Frame Stream, but its frames are not dnstap's".to_owned();
            return Err(Fault::NotACapture(why));
        }
        Ok(Some(Frame::Control(kind)))
    }

    /// Reads a number of four octets; `None` at the end of the file.
    fn number(&mut self) -> Result<Option<u32>, Fault> {
        let mut octets = [0; 4];
        match read_up_to(&mut self.input, &mut octets)? {
            0 => Ok(None),
            4 => Ok(Some(u32::from_be_bytes(octets))),
            _ => Err(Fault::CutOff),
        }
    }

    /// Reads `len` octets, which must be at most `max`, into `self.frame`.
    fn take(&mut self, len: u32, max: usize) -> Result<(), Fault> {
        let len = len as usize;
        if len > max {
            let why = format!("a frame of {len} octets, where {max} are the most");
            return Err(Fault::Damaged(why));
        }
        self.frame.resize(len, 0);
        match read_up_to(&mut self.input, &mut self.frame)? == len {
            true => Ok(()),
            false => Err(Fault::CutOff),
        }
    }
}

/// A frame.
enum Frame {
    Data,
    /// With its type.
    Control(u32),
}

/// Fills `octets` as far as `input` goes; gives how far that was.
fn read_up_to(input: &mut impl Read, octets: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < octets.len() {
        match input.read(&mut octets[len..]) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

impl<R: Read + Send> Source for Dnstap<R> {
    fn format(&self) -> &'static str {
        "dnstap"
    }

    fn fill(&mut self, chunk: &mut ChunkBuffer) -> Result<(), Fault> {
        while !self.is_at_end && !chunk.is_full() {
            match self.next_frame()? {
                None | Some(Frame::Control(STOP | FINISH)) => self.is_at_end = true,
                Some(Frame::Control(_)) => {}
                Some(Frame::Data) => {
                    self.frames += 1;
                    let mut message = message_of(&self.frame, self.frames).unwrap_or_else(|| {
                        // It counts as a message that is malformed.
                        let nobody = Endpoint::new(Ipv4Addr::UNSPECIFIED, 0);
                        Message {
                            time_ns: 0,
                            source: nobody,
                            destination: nobody,
                            transport: Transport::Unknown,
                            octets: &[],
                            is_cut: false,
                            sent_len: SentLen::Own,
                            number: self.frames,
                        }
                    });
                    match message.time_ns {
                        0 => message.time_ns = self.last_time_ns,
                        time_ns => self.last_time_ns = time_ns,
                    }
                    chunk.push_message(&message);
                }
            }
        }
        Ok(())
    }
}

/// What a `Message` of dnstap says; of the two messages that it may hold, the one that its type names.
#[derive(Default)]
struct Tap<'a> {
    kind: u64,
    family: u64,
    protocol: u64,
    /// Addresses, ports, times in s and ns and messages: the query's or its sender's first, the response's then.
    addresses: [&'a [u8]; 2],
    ports: [Option<u64>; 2],
    seconds: [u64; 2],
    nanoseconds: [u64; 2],
    messages: [Option<&'a [u8]>; 2],
}

impl<'a> Tap<'a> {
    fn parse(octets: &'a [u8]) -> Option<Self> {
        let mut tap = Self::default();
        for field in Fields::of(octets) {
            match field? {
                (1, Value::Number(kind)) => tap.kind = kind,
                (2, Value::Number(family)) => tap.family = family,
                (3, Value::Number(protocol)) => tap.protocol = protocol,
                (field @ (4 | 5), Value::Octets(address)) => {
                    tap.addresses[usize::from(field == 5)] = address;
                }
                (field @ (6 | 7), Value::Number(port)) => {
                    tap.ports[usize::from(field == 7)] = Some(port);
                }
                (field @ (8 | 12), Value::Number(seconds)) => {
                    tap.seconds[usize::from(field == 12)] = seconds;
                }
                (field @ (9 | 13), Value::Number(nanoseconds)) => {
                    tap.nanoseconds[usize::from(field == 13)] = nanoseconds;
                }
                (field @ (10 | 14), Value::Octets(message)) => {
                    tap.messages[usize::from(field == 14)] = Some(message);
                }
                _ => {}
            }
        }
        Some(tap)
    }

    /// Whether its type is one of responses, which have the even numbers.
    fn is_response(&self) -> bool {
        self.kind.is_multiple_of(2)
    }

    fn end(&self, which: usize, default_port: u16) -> Endpoint {
        let octets = self.addresses[which];
        let address = <[u8; 4]>::try_from(octets)
            .map(IpAddr::from)
            .or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from))
            .unwrap_or(match self.family {
                2 => Ipv6Addr::UNSPECIFIED.into(),
                _ => Ipv4Addr::UNSPECIFIED.into(),
            });
        let port = self.ports[which].and_then(|port| port.try_into().ok());
        Endpoint::new(address, port.unwrap_or(default_port))
    }

    fn transport(&self) -> Transport {
        match self.protocol {
            1 => Transport::Udp,
            2 => Transport::Tcp,
            3 => Transport::Tls,
            4 => Transport::Https,
            7 => Transport::Quic,
            // Among them DNSCrypt.
            _ => Transport::Unknown,
        }
    }

    fn time_ns(&self, which: usize) -> i64 {
        let seconds = i64::try_from(self.seconds[which]).unwrap_or(0);
        let nanoseconds = self.nanoseconds[which].min(999_999_999) as i64;
        seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(nanoseconds)
    }
}

/// The message in a data frame.
fn message_of(frame: &[u8], number: u64) -> Option<Message<'_>> {
    let mut tap = None;
    for field in Fields::of(frame) {
        if let (14, Value::Octets(octets)) = field? {
            tap = Some(Tap::parse(octets)?);
        }
    }
    let tap = tap?;
    let is_response = tap.is_response();
    let which = usize::from(is_response);
    let (client, server) = (tap.end(0, 0), tap.end(1, DNS_PORT));
    let (source, destination) = match is_response {
        true => (server, client),
        false => (client, server),
    };
    Some(Message {
        time_ns: tap.time_ns(which),
        source,
        destination,
        transport: tap.transport(),
        octets: tap.messages[which]?,
        is_cut: false,
        sent_len: SentLen::Own,
        number,
    })
}

#[cfg(test)]
mod tests;

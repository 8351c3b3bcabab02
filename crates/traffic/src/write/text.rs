//! Lines of query files: `name type [class] [key=value ...]`, which `dnsrig load` reads back to the same octets.
//!
//! What all queries of a file have, options of the load can change; a line says what differs from a query with RD and
//! without EDNS. Every EDNS option is written as `option=CODE:HEX`, in its place.

use crate::wire::{Header, Malformed, TYPE_OPT, View};
use dnsrig_zone::text::push_name;
use domain::base::iana::{Class, Rtype};
use std::io::Write;
use std::net::IpAddr;

/// The longest line that is read.
const MAX_LINE: usize = 65_536;
/// The most octets that options of a line may take together.
const MAX_OPTIONS_LEN: usize = 32_768;
/// RD, AD and CD: the flags that a line can say.
const SAID_FLAGS: u16 = 0x0130;
const CLASS_IN: u16 = 1;
const CLASS_ANY: u16 = 255;

/// Why a message cannot be written as a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoLine {
    /// It is an answer.
    Answer,
    /// Its opcode is not QUERY.
    Opcode,
    /// It has flags beside RD, AD and CD.
    Flags,
    /// It has not one question, or has records beside an OPT record.
    Records,
    /// It is not whole, or has octets after its end.
    Malformed,
    /// Its OPT record is of another version than 0, has flags beside DO, or options that are too long or broken.
    Edns,
    /// It is from before 1970.
    Time,
}

impl From<Malformed> for NoLine {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

/// Appends the line of `message`, with its time in ns since 1970 and its client if they are known.
///
/// # Errors
/// A [`NoLine`]; then nothing is appended.
pub fn push_line(
    message: &[u8],
    time_ns: Option<i64>,
    client: Option<IpAddr>,
    target: &mut Vec<u8>,
) -> Result<(), NoLine> {
    let start = target.len();
    let pushed = push(message, time_ns, client, target);
    let is_long = target.len() - start > MAX_LINE;
    if pushed.is_err() || is_long {
        target.truncate(start);
    }
    match is_long {
        true => Err(NoLine::Edns),
        false => pushed,
    }
}

fn push(
    message: &[u8],
    time_ns: Option<i64>,
    client: Option<IpAddr>,
    target: &mut Vec<u8>,
) -> Result<(), NoLine> {
    let view = View::parse(message)?;
    check_header(view.header)?;
    let question = view.question.ok_or(NoLine::Records)?;
    let name = target.len();
    push_name(question.name, target);
    if target[name] == b'#' {
        // Unescaped, it would begin a comment.
        target.insert(name, b'\\');
    }
    let rtype = Rtype::from_int(question.qtype);
    // Writing to memory does not fail.
    let _ = write!(target, " {rtype}");
    match question.qclass {
        CLASS_IN => {}
        CLASS_ANY => target.extend_from_slice(b" ANY"),
        class => drop(write!(target, " {}", Class::from_int(class))),
    }
    let flags = [
        (!view.header.recursion_desired(), "rd=0"),
        (view.header.authentic_data(), "ad=1"),
        (view.header.checking_disabled(), "cd=1"),
    ];
    for (_, text) in flags.iter().filter(|(is_said, _)| *is_said) {
        target.push(b' ');
        target.extend_from_slice(text.as_bytes());
    }
    push_edns(&view, question.end, target)?;
    if let Some(time_ns) = time_ns {
        push_time(time_ns, target)?;
        // A client goes with a time only.
        if let Some(client) = client {
            let _ = write!(target, " client={client}");
        }
    }
    target.push(b'\n');
    Ok(())
}

fn check_header(header: Header) -> Result<(), NoLine> {
    if header.is_answer() {
        return Err(NoLine::Answer);
    }
    if header.opcode() != 0 {
        return Err(NoLine::Opcode);
    }
    if header.flags & !SAID_FLAGS != 0 {
        return Err(NoLine::Flags);
    }
    let counts = (header.questions, header.answers, header.authorities);
    match counts == (1, 0, 0) && header.additionals <= 1 {
        true => Ok(()),
        false => Err(NoLine::Records),
    }
}

fn push_edns(view: &View<'_>, question_end: usize, target: &mut Vec<u8>) -> Result<(), NoLine> {
    let Some(record) = view.records().next().transpose()? else {
        return match question_end == view.octets.len() {
            true => Ok(()),
            false => Err(NoLine::Malformed),
        };
    };
    if record.rtype != TYPE_OPT {
        return Err(NoLine::Records);
    }
    let is_root = record.fixed == record.owner + 1;
    if !is_root || record.rdata.end != view.octets.len() {
        return Err(NoLine::Malformed);
    }
    // Extended RCODE, version, and the flags of which the first is DO.
    if record.ttl & !0x8000 != 0 || record.rdata.len() > MAX_OPTIONS_LEN {
        return Err(NoLine::Edns);
    }
    let _ = write!(target, " edns={}", record.class);
    if record.ttl != 0 {
        target.extend_from_slice(b" do=1");
    }
    let mut rest = record.data();
    while !rest.is_empty() {
        let option = rest.split_first_chunk::<4>().and_then(|(header, after)| {
            let len = u16::from_be_bytes([header[2], header[3]]);
            Some((header, after.split_at_checked(len.into())?))
        });
        let (header, (data, after)) = option.ok_or(NoLine::Edns)?;
        let code = u16::from_be_bytes([header[0], header[1]]);
        let _ = write!(target, " option={code}:");
        for octet in data {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
            target.extend_from_slice(&[digit(octet >> 4), digit(octet & 0x0F)]);
        }
        rest = after;
    }
    Ok(())
}

/// Appends `time=` with as many decimals as it takes.
fn push_time(time_ns: i64, target: &mut Vec<u8>) -> Result<(), NoLine> {
    if time_ns < 0 {
        return Err(NoLine::Time);
    }
    let (seconds, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    let _ = write!(target, " time={seconds}.{ns:09}");
    while target.last() == Some(&b'0') {
        target.pop();
    }
    if target.last() == Some(&b'.') {
        target.pop();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dnsrig_stream::MessageOptions;
    use dnsrig_stream::text::queries;
    use proptest::prelude::*;

    fn line(message: &[u8], time_ns: Option<i64>) -> Result<String, NoLine> {
        let mut text = Vec::new();
        let client = "2001:db8::7".parse().ok();
        push_line(message, time_ns, client, &mut text)?;
        Ok(String::from_utf8(text).unwrap())
    }

    fn read_back(text: &[u8]) -> dnsrig_stream::QueryStream {
        let (stream, _, bad) = queries::parse(text, &MessageOptions::default()).unwrap();
        assert_eq!(bad.count(), 0, "{bad}: {}", String::from_utf8_lossy(text));
        stream
    }

    /// A query with ID zero.
    fn query(flags: u16, name: &[u8], qtype: u16, class: u16, opt: Option<&[u8]>) -> Vec<u8> {
        let mut message = Vec::new();
        for field in [0, flags, 1, 0, 0, u16::from(opt.is_some())] {
            message.extend_from_slice(&field.to_be_bytes());
        }
        message.extend_from_slice(name);
        message.extend_from_slice(&qtype.to_be_bytes());
        message.extend_from_slice(&class.to_be_bytes());
        message.extend_from_slice(opt.unwrap_or_default());
        message
    }

    #[test]
    fn a_line_says_what_differs() {
        let name = b"\x03www\x07example\0";
        let plain = query(0x0100, name, 1, 1, None);
        assert_eq!(line(&plain, None).unwrap(), "www.example. A\n");
        let opt = b"\0\0\x29\x04\xD0\0\0\x80\0\0\x08\0\x0A\0\x04\x01\x02\xAB\xCD";
        let dressed = query(0x0030, name, 28, 3, Some(opt));
        assert_eq!(
            line(&dressed, Some(1_700_000_000_120_000_000)).unwrap(),
            "www.example. AAAA CH rd=0 ad=1 cd=1 edns=1232 do=1 option=10:0102abcd time=1700000000.12 client=2001:db8::7\n"
        );
        assert!(line(&plain, Some(0)).unwrap().contains(" time=0 "));
        let comment = query(0x0100, b"\x02#;\0", 1, 1, None);
        assert_eq!(line(&comment, None).unwrap(), "\\#\\;. A\n");
    }

    #[test]
    fn what_no_line_can_say_is_refused_and_nothing_appended() {
        let name = b"\x03www\0";
        let opt = |ttl: [u8; 4], data: &[u8]| {
            let mut opt = b"\0\0\x29\x04\xD0".to_vec();
            opt.extend_from_slice(&ttl);
            opt.extend_from_slice(&(data.len() as u16).to_be_bytes());
            opt.extend_from_slice(data);
            opt
        };
        let whole = query(0, name, 1, 1, None);
        let with = |ttl, data: &[u8]| query(0, name, 1, 1, Some(&opt(ttl, data)));
        let soa = query(0, name, 1, 1, Some(b"\0\0\x06\0\x01\0\0\0\0\0\0"));
        for (message, expected) in [
            (query(0x8000, name, 1, 1, None), NoLine::Answer),
            (query(0x2800, name, 1, 1, None), NoLine::Opcode),
            (query(0x0200, name, 1, 1, None), NoLine::Flags),
            (query(0x0040, name, 1, 1, None), NoLine::Flags),
            (vec![0; 12], NoLine::Records),
            (soa, NoLine::Records),
            (whole[..whole.len() - 1].to_vec(), NoLine::Malformed),
            ([&whole[..], b"x"].concat(), NoLine::Malformed),
            (with([0, 1, 0, 0], b""), NoLine::Edns),
            (with([0, 0, 0x40, 0], b""), NoLine::Edns),
            (with([0, 0, 0, 0], b"\0\x0A\0\x02x"), NoLine::Edns),
        ] {
            let mut text = b"before".to_vec();
            assert_eq!(
                push_line(&message, None, None, &mut text),
                Err(expected),
                "{message:02x?}"
            );
            assert_eq!(text, b"before");
        }
        assert_eq!(line(&whole, Some(-1)), Err(NoLine::Time));
        // As many options as a message can have, and more than a line can.
        let data = [&b"\0\x0A\x7F\xFC"[..], &[7; 32_764]].concat();
        assert_eq!(line(&with([0; 4], &data), None), Err(NoLine::Edns));
    }

    #[test]
    fn every_type_and_class_is_read_back() {
        let numbers = (0..=u16::MAX).filter(|number| *number < 700 || number % 251 == 0);
        let (mut text, mut messages) = (Vec::new(), Vec::new());
        for number in numbers {
            for (qtype, class) in [(number, 1), (1, number)] {
                let message = query(0x0100, b"\x01a\0", qtype, class, None);
                push_line(&message, None, None, &mut text).unwrap();
                messages.push(message);
            }
        }
        assert!(
            read_back(&text)
                .iter()
                .eq(messages.iter().map(Vec::as_slice))
        );
    }

    fn label() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 1..20)
    }

    fn edns_option() -> impl Strategy<Value = (u16, Vec<u8>)> {
        (any::<u16>(), prop::collection::vec(any::<u8>(), 0..40))
    }

    proptest! {
        #[test]
        fn lines_are_read_back_to_the_same_octets(
            labels in prop::collection::vec(label(), 0..6), qtype: u16, class: u16, flags: u16, time_ns in 0..i64::MAX,
            edns in prop::option::of((any::<u16>(), any::<bool>(), prop::collection::vec(edns_option(), 0..5))),
        ) {
            let mut name: Vec<u8> = labels.iter().flat_map(|label| [&[label.len() as u8][..], label].concat()).collect();
            name.push(0);
            let opt = edns.map(|(size, do_bit, options)| {
                let data: Vec<u8> = options.iter().flat_map(|(code, data)| {
                    [&code.to_be_bytes()[..], &(data.len() as u16).to_be_bytes(), data].concat()
                }).collect();
                [b"\0\0\x29", &size.to_be_bytes()[..], &[0, 0, u8::from(do_bit) << 7, 0],
                 &(data.len() as u16).to_be_bytes(), &data].concat()
            });
            let message = query(flags & SAID_FLAGS, &name, qtype, class, opt.as_deref());
            let mut text = Vec::new();
            push_line(&message, Some(time_ns), None, &mut text).unwrap();
            let stream = read_back(&text);
            prop_assert_eq!(stream.message(0), &message[..]);
        }
    }
}

use super::*;
use domain::base::iana::{Class, OptRcode, Rtype};
use domain::base::message_builder::{AdditionalBuilder, MessageBuilder, TreeCompressor};
use domain::base::rdata::UnknownRecordData;
use domain::base::{Name, Ttl};
use domain::rdata::{Aaaa, Cname, Mx, Ns, Soa, Txt};
use proptest::collection::vec;
use proptest::prelude::*;

fn message(flags: [u8; 2], counts: [u16; 4], body: &[u8]) -> Vec<u8> {
    let mut message = vec![0xab, 0xcd, flags[0], flags[1]];
    for count in counts {
        message.extend(count.to_be_bytes());
    }
    message.extend(body);
    message
}

const QUESTION: &[u8] = b"\x03www\x07example\0\0\x01\0\x01";
const OPT: &[u8] = &[0, 0, 41, 4, 208, 1, 0, 0, 0, 0, 0];
/// Type and class A IN, TTL 0, four octets of data.
const A: &[u8] = &[0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2, 1];

fn with_records(counts: [u16; 4], records: &[&[u8]]) -> Vec<u8> {
    message([0x80, 0], counts, &[QUESTION, &records.concat()].concat())
}

fn malformed(octets: &[u8]) -> Malformed {
    Answer::new(octets).expect_err("it is malformed")
}

#[test]
fn reads_header_and_question() {
    let octets = message([0x82, 0x03], [1, 0, 0, 0], QUESTION);
    let answer = Answer::new(&octets).unwrap();
    assert_eq!(answer.id(), 0xabcd);
    assert!(answer.is_truncated());
    assert_eq!(answer.rcode(), 3);
    assert_eq!(answer.question(), QUESTION);
}

#[test]
fn compares_questions() {
    let compare = |answered: &[u8], count, asked: &[u8]| {
        let octets = message([0x80, 0], [1, 0, 0, 0], answered);
        Answer::new(&octets).unwrap().compare_question(count, asked)
    };
    assert_eq!(compare(QUESTION, 1, QUESTION), QuestionMatch::Same);
    let cased = b"\x03wWw\x07exampLE\0\0\x01\0\x01";
    assert_eq!(compare(cased, 1, QUESTION), QuestionMatch::OtherCase);
    assert_eq!(compare(QUESTION, 2, QUESTION), QuestionMatch::Other);
    let other = b"\x03www\x07examplf\0\0\x01\0\x01";
    assert_eq!(compare(other, 1, QUESTION), QuestionMatch::Other);
    // TYPE65 and TYPE97 differ by 0x20, as do [ and {.
    let (https, type97) = (b"\x01a\0\0\x41\0\x01", b"\x01a\0\0\x61\0\x01");
    assert_eq!(compare(https, 1, type97), QuestionMatch::Other);
    let (bracket, brace) = (b"\x01[\0\0\x01\0\x01", b"\x01{\0\0\x01\0\x01");
    assert_eq!(compare(bracket, 1, brace), QuestionMatch::Other);
}

#[test]
fn compares_each_of_several_questions() {
    let two = |first: u8, rrtype: u8, second: u8| {
        [
            &[1, first, 0, 0, rrtype, 0, 1][..],
            &[1, second, 0, 0, 1, 0, 1],
        ]
        .concat()
    };
    let octets = message([0x80, 0], [2, 0, 0, 0], &two(b'a', 65, b'b'));
    let answer = Answer::new(&octets).unwrap();
    let compare = |asked: Vec<u8>| answer.compare_question(2, &asked);
    assert_eq!(compare(two(b'a', 65, b'b')), QuestionMatch::Same);
    assert_eq!(compare(two(b'A', 65, b'B')), QuestionMatch::OtherCase);
    assert_eq!(compare(two(b'a', 97, b'b')), QuestionMatch::Other);
    assert_eq!(compare(two(b'a', 65, b'c')), QuestionMatch::Other);
}

#[test]
fn knows_an_error_without_question() {
    let compare = |flags| {
        let octets = message(flags, [0; 4], &[]);
        Answer::new(&octets).unwrap().compare_question(1, QUESTION)
    };
    assert_eq!(compare([0x80, 1]), QuestionMatch::BareError);
    assert_eq!(compare([0x80, 0]), QuestionMatch::Other);
}

#[test]
fn extends_the_rcode_from_opt_wherever_it_stands() {
    for records in [
        [OPT, b"\xc0\x0c", A].concat(),
        [b"\xc0\x0c", A, OPT].concat(),
    ] {
        let octets = message([0x80, 0x07], [1, 0, 0, 2], &[QUESTION, &records].concat());
        assert_eq!(Answer::new(&octets).unwrap().rcode(), 23, "BADCOOKIE");
    }
}

#[test]
fn refuses_what_is_no_answer() {
    assert_eq!(malformed(&[0; 11]), Malformed::Short);
    assert_eq!(malformed(&[0; 12]), Malformed::NotAResponse);
    for body in [
        &b"\x03ww"[..],
        b"\xc0\x0c\0\x01\0\x01",
        b"\0\0\x01\0",
        b"\x40",
    ] {
        let octets = message([0x80, 0], [1, 0, 0, 0], body);
        assert_eq!(malformed(&octets), Malformed::Question);
    }
    let octets = with_records([1, 1, 0, 0], &[b"\xc0\x0c", A, b"\0"]);
    assert_eq!(malformed(&octets), Malformed::Trailing);
}

#[test]
fn refuses_broken_records() {
    let long_name = [[63; 64]; 4].concat();
    let at_itself = (HEADER_LEN + QUESTION.len()) as u8;
    for owner in [
        &b"\xc0\x0b"[..],
        b"\xc0\x00",
        &[0xc0, at_itself],
        &[0xc0, at_itself + 2],
        &[1, b'a', 0xc0, at_itself],
        b"\xff\xff",
        b"\x40a\0",
        b"\x80a\0",
        &[&long_name[..], b"\0"].concat(),
    ] {
        let octets = with_records([1, 1, 0, 0], &[owner, A]);
        assert_eq!(malformed(&octets), Malformed::Records, "owner {owner:?}");
    }
    for counts in [[1, 0, 0, 2], [1, 2, 0, 0], [1, 0, 65535, 1]] {
        let octets = with_records(counts, &[b"\xc0\x0c", A]);
        assert_eq!(malformed(&octets), Malformed::Records, "counts {counts:?}");
    }
}

#[test]
fn refuses_record_data_that_its_type_does_not_have() {
    let data = |rrtype: u8, class: u8, data: &[u8]| {
        let head = [0, rrtype, 0, class, 0, 0, 0, 0, 0, data.len() as u8];
        Answer::new(&with_records([1, 1, 0, 0], &[b"\xc0\x0c", &head, data])).map(|_| ())
    };
    let soa = |tail: usize| [&b"\xc0\x0c\x01a\xc0\x0c"[..], &vec![0; tail]].concat();
    for (rrtype, good, bad) in [
        (1, &[0; 4][..], &[0; 5][..]),
        (28, &[0; 16], &[0; 4]),
        (2, b"\xc0\x0c", b"\xc0\x0c\0"),
        (5, b"\x01a\0", b"\x01a"),
        (15, b"\0\x01\xc0\x0c", b"\0\x01"),
        (15, b"\0\x01\0", b"\0"),
        (33, b"\0\0\0\0\0\x35\xc0\x0c", b"\0\0\0\0\0\x35\xc0"),
        (6, &soa(20), &soa(19)),
    ] {
        assert_eq!(data(rrtype, 1, good), Ok(()), "type {rrtype}");
        assert_eq!(
            data(rrtype, 1, bad),
            Err(Malformed::Records),
            "type {rrtype}"
        );
        assert_eq!(data(rrtype, 255, &[]), Ok(()), "type {rrtype} of class ANY");
    }
}

#[test]
fn refuses_opt_that_is_out_of_place() {
    let owned = [b"\x01a", OPT].concat();
    let options = |rdata: &[u8]| [&OPT[..10], &[rdata.len() as u8], rdata].concat();
    for (counts, records) in [
        ([1, 1, 0, 0], vec![OPT]),
        ([1, 0, 1, 0], vec![OPT]),
        ([1, 0, 0, 2], vec![OPT, OPT]),
        ([1, 0, 0, 1], vec![&owned[..]]),
        ([1, 0, 0, 1], vec![&options(&[0, 10, 0, 1])[..]]),
        ([1, 0, 0, 1], vec![&options(&[0, 10, 0])[..]]),
    ] {
        let octets = with_records(counts, &records);
        assert_eq!(malformed(&octets), Malformed::Records, "{counts:?}");
    }
    let two_options = options(&[0, 10, 0, 1, 7, 0, 3, 0, 0]);
    let octets = with_records([1, 0, 0, 1], &[&two_options]);
    let rdata = Answer::new(&octets).unwrap().opt_rdata().unwrap();
    let seen: Vec<_> = records::options(rdata).collect();
    assert_eq!(seen, [(10, &[7][..]), (3, &[])]);
}

#[test]
fn a_truncated_answer_may_have_fewer_records_than_it_counts() {
    let cut = |flags: u8, counts: [u16; 4], records: &[&[u8]]| {
        let body = [QUESTION, &records.concat()].concat();
        Answer::new(&message([flags, 0], counts, &body)).map(|answer| answer.is_truncated())
    };
    let record = &[b"\xc0\x0c", A].concat()[..];
    for records in [
        &[][..],
        &[record],
        &[record, &record[..1]],
        &[record, &record[..15]],
    ] {
        assert_eq!(cut(0x82, [1, 3, 0, 1], records), Ok(true), "{records:?}");
        assert_eq!(
            cut(0x80, [1, 3, 0, 1], records),
            Err(Malformed::Records),
            "without TC: {records:?}"
        );
    }
    let broken = &[b"\xc0\xff", A].concat()[..];
    assert_eq!(
        cut(0x82, [1, 3, 0, 1], &[broken, record]),
        Err(Malformed::Records),
        "a record before the cut is broken"
    );
    assert_eq!(
        cut(0x82, [1, 1, 0, 0], &[record, record]),
        Err(Malformed::Trailing)
    );
}

#[test]
fn pointers_to_pointers_end() {
    // A record of unknown type whose data are 200 pointers, each to the one before; the owner of the next record
    // enters the chain at some place.
    let first = HEADER_LEN + QUESTION.len() + 12;
    let chain: Vec<u8> = (0..200)
        .flat_map(|hop| {
            let target = if hop == 0 {
                HEADER_LEN
            } else {
                first + 2 * (hop - 1)
            };
            (0xc000 | target as u16).to_be_bytes()
        })
        .collect();
    let holder = [&b"\xc0\x0c\xff\0\0\x01\0\0\0\0\x01\x90"[..], &chain].concat();
    let parses = |hops: usize| {
        let owner = (0xc000 | (first + 2 * (hops - 1)) as u16).to_be_bytes();
        Answer::new(&with_records([1, 2, 0, 0], &[&holder, &owner, A])).is_ok()
    };
    assert!(parses(1) && parses(100));
    assert!(!parses(200), "more pointers than a name can have labels");
}

type Answers = Vec<(Name<Vec<u8>>, u8, Vec<u8>)>;

/// A response of `domain`'s making, with compression.
fn built(question: &Name<Vec<u8>>, records: &Answers, opt_first: bool, rcode_high: u8) -> Vec<u8> {
    let mut builder = MessageBuilder::from_target(TreeCompressor::new(Vec::new())).unwrap();
    builder.header_mut().set_qr(true);
    let mut builder = builder.question();
    builder.push((question, Rtype::A)).unwrap();
    let mut answer = builder.answer();
    let ttl = Ttl::from_secs(60);
    for (owner, kind, data) in records {
        let other = &records[usize::from(*kind) % records.len()].0;
        match kind % 7 {
            0 => answer.push((owner, ttl, Aaaa::new([1; 16].into()))),
            1 => answer.push((owner, ttl, Ns::new(other))),
            2 => answer.push((owner, ttl, Cname::new(other))),
            3 => answer.push((owner, ttl, Mx::new(10, other))),
            4 => answer.push((
                owner,
                ttl,
                Soa::new(other, owner, 1.into(), ttl, ttl, ttl, ttl),
            )),
            5 => answer.push((owner, ttl, Txt::<Vec<u8>>::build_from_slice(data).unwrap())),
            _ => answer.push((
                owner,
                Class::IN,
                ttl,
                UnknownRecordData::from_octets(Rtype::from_int(65280), data.clone()).unwrap(),
            )),
        }
        .unwrap();
    }
    let mut additional = answer.additional();
    let push_opt = |additional: &mut AdditionalBuilder<_>| {
        additional
            .opt(|opt| {
                opt.set_rcode(OptRcode::masked_from_int(u16::from(rcode_high) << 4 | 2));
                opt.padding(7)
            })
            .unwrap();
    };
    if opt_first {
        push_opt(&mut additional);
    }
    for (owner, _, _) in records {
        additional
            .push((owner, ttl, Aaaa::new([2; 16].into())))
            .unwrap();
    }
    if !opt_first {
        push_opt(&mut additional);
    }
    additional.finish().into_target()
}

fn name() -> impl Strategy<Value = Name<Vec<u8>>> {
    let label = vec(prop_oneof![Just(b'a'), Just(b'b'), any::<u8>()], 1..12);
    vec(label, 0..6).prop_map(|labels| {
        let mut wire: Vec<u8> = labels
            .iter()
            .flat_map(|label| [&[label.len() as u8][..], label].concat())
            .collect();
        wire.push(0);
        Name::from_octets(wire).unwrap()
    })
}

prop_compose! {
    fn response()(
        question in name(),
        records in vec((name(), any::<u8>(), vec(any::<u8>(), 0..40)), 1..8),
        opt_first in any::<bool>(),
        rcode_high in any::<u8>(),
    ) -> (Vec<u8>, u8) {
        (built(&question, &records, opt_first, rcode_high), rcode_high)
    }
}

proptest! {
    #[test]
    fn any_octets_are_read_without_panic(
        mut octets in vec(any::<u8>(), 0..300),
        small_counts in any::<bool>(),
    ) {
        if small_counts && octets.len() >= HEADER_LEN {
            octets[2] |= 0x80;
            for at in [4, 6, 8, 10] {
                octets[at] = 0;
                octets[at + 1] &= 1;
            }
        }
        if let Ok(answer) = Answer::new(&octets) {
            let count = u16::from_be_bytes([octets[4], octets[5]]);
            prop_assert_eq!(answer.compare_question(count, answer.question()), QuestionMatch::Same);
            prop_assert!(answer.rcode() < 4096);
            answer.opt_rdata();
        }
    }

    #[test]
    fn what_domain_builds_is_read((octets, rcode_high) in response()) {
        let answer = Answer::new(&octets).unwrap();
        prop_assert_eq!(answer.rcode(), u16::from(rcode_high) << 4 | 2);
    }

    #[test]
    fn what_is_cut_or_lengthened_is_refused((octets, _) in response(), cut in any::<prop::sample::Index>(), more in vec(any::<u8>(), 1..30)) {
        let cut = &octets[..cut.index(octets.len())];
        prop_assert!(Answer::new(cut).is_err());
        let longer = [&octets[..], &more].concat();
        prop_assert_eq!(malformed(&longer), Malformed::Trailing);
    }

    #[test]
    fn what_is_cut_with_tc_set_is_truncated((mut octets, _) in response(), cut in any::<prop::sample::Index>()) {
        octets[2] |= 0x02;
        let question_end = HEADER_LEN + question_section(&octets).unwrap().len();
        let cut = &octets[..question_end + cut.index(octets.len() - question_end)];
        let answer = Answer::new(cut).unwrap();
        prop_assert!(answer.is_truncated());
        prop_assert_eq!(answer.message().len(), cut.len());
        answer.rcode();
        answer.opt_rdata();
        answer.tsig();
    }

    #[test]
    fn damage_is_read_without_panic((mut octets, _) in response(), damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..5)) {
        for (at, octet) in damage {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        let _ = Answer::new(&octets);
    }
}

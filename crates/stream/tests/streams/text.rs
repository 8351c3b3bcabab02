//! Query files: what is read, what is refused with which line, and that writing and reading agree.

use dnsrig_stream::text::{parse, queries, updates, write, write_to};
use dnsrig_stream::{MessageOptions, QueryLog, Question, Questions, StreamError};
use domain::base::Name;
use domain::base::iana::Rtype;
use proptest::prelude::*;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

fn questions(text: &str) -> Vec<(String, Rtype)> {
    let (questions, bad) = parse(text.as_bytes()).unwrap();
    assert_eq!(bad.count(), 0, "{bad}");
    questions
        .iter()
        .map(|question| (question.name.fmt_with_dot().to_string(), question.rtype))
        .collect()
}

#[test]
fn reads_what_dnsperf_reads() {
    let text = "; a comment\n\n# another\nwww.example.test A\nexample.test.\tmx\r\n  a\\.b.test   TYPE65534\n. NS\nlast.test AAAA";
    let expected = [
        ("www.example.test.", Rtype::A),
        ("example.test.", Rtype::MX),
        ("a\\.b.test.", Rtype::from_int(65534)),
        (".", Rtype::NS),
        ("last.test.", Rtype::AAAA),
    ];
    assert_eq!(
        questions(text),
        expected.map(|(name, rtype)| (name.to_owned(), rtype))
    );
}

#[test]
fn names_every_bad_line() {
    let text = b"ok.test A\nno-type.test\nx.test NOTATYPE\nb\xffd.test A\na..b.test A\ny.test A CH\nok2.test TXT in\n";
    let (questions, bad) = parse(&text[..]).unwrap();
    assert_eq!(questions.len(), 2);
    let lines: Vec<u64> = bad.first().iter().map(|line| line.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6]);
    assert!(
        bad.first()[1]
            .reason
            .contains("'NOTATYPE' is not a record type")
    );
}

#[test]
fn a_file_of_bad_lines_is_not_read_to_its_end() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "y\n".repeat(100_001)).unwrap();
    let read = |skip_bad| {
        let error = QueryLog::read(file.path(), skip_bad, &AtomicBool::new(false)).unwrap_err();
        error.to_string()
    };
    let message = read(false);
    assert!(
        message.contains("100000 bad lines") && message.contains("was not read"),
        "{message}"
    );
    assert!(read(true).contains("holds no question"));
}

#[test]
fn a_file_with_bad_lines_is_refused_unless_they_are_skipped() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let lines: String = (0..15).map(|number| format!("broken{number}\n")).collect();
    std::fs::write(file.path(), format!("good.test A\n{lines}")).unwrap();
    let message = QueryLog::read(file.path(), false, &AtomicBool::new(false))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("15 bad lines")
            && message.contains("line 2:")
            && message.contains("and 5 more"),
        "{message}"
    );
    let log = QueryLog::read(file.path(), true, &AtomicBool::new(false)).unwrap();
    assert_eq!((log.questions.len(), log.skipped), (1, 15));
}

#[test]
fn a_file_without_a_question_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(matches!(
        QueryLog::read(file.path(), true, &AtomicBool::new(false)),
        Err(StreamError::Empty { .. })
    ));
    let missing = file.path().with_extension("missing");
    assert!(matches!(
        QueryLog::read(&missing, true, &AtomicBool::new(false)),
        Err(StreamError::Read { .. })
    ));
}

#[test]
fn a_very_long_line_is_one_bad_line() {
    let text = format!("{} A\nok.test A\n", "x".repeat(900_000));
    let (questions, bad) = parse(text.as_bytes()).unwrap();
    assert_eq!((questions.len(), bad.count()), (1, 1));
}

#[test]
fn nothing_is_left_where_writing_fails() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("folder-in-the-way");
    std::fs::create_dir(&target).unwrap();
    let mut one = Questions::default();
    one.push(Question {
        name: Name::<Vec<u8>>::from_str("a.test").unwrap().for_slice(),
        rtype: Rtype::A,
    });
    assert!(matches!(
        write(&one, &target),
        Err(StreamError::Write { .. })
    ));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

fn any_name() -> impl Strategy<Value = Name<Vec<u8>>> {
    let label = prop::collection::vec(any::<u8>(), 1..20);
    prop::collection::vec(label, 0..8).prop_map(|labels| {
        let mut wire = Vec::new();
        for label in labels {
            wire.push(label.len() as u8);
            wire.extend_from_slice(&label);
        }
        wire.push(0);
        Name::from_octets(wire).unwrap()
    })
}

proptest! {
    #[test]
    fn written_questions_are_read_back(entries in prop::collection::vec((any_name(), any::<u16>()), 0..20)) {
        let mut questions = Questions::default();
        for (name, rtype) in &entries {
            questions.push(Question { name: name.for_slice(), rtype: Rtype::from_int(*rtype) });
        }
        let mut text = Vec::new();
        write_to(&questions, &mut text).unwrap();
        let (read, bad) = parse(&text[..]).unwrap();
        prop_assert_eq!(bad.count(), 0, "{}{}", String::from_utf8_lossy(&text), bad);
        prop_assert_eq!(read, questions);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        let (questions, bad) = parse(&bytes[..]).unwrap();
        prop_assert!(questions.len() as u64 + bad.count() <= bytes.split(|&octet| octet == b'\n').count() as u64);
    }
}

#[test]
fn times_that_jump_are_refused_with_the_line() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = "; two\na.test A time=1\nb.test A time=100000000\n";
    std::fs::write(file.path(), text).unwrap();
    let options = MessageOptions::default();
    let error = queries::read(file.path(), &options, false, &AtomicBool::new(false)).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("at line 3 (counted from 1) times go on over a gap of 1157 days"),
        "{message}"
    );
}

#[test]
fn the_line_of_the_longest_message_is_known() {
    let options = MessageOptions::default();
    for text in [
        "# c\na.test A\nb.test A padding=512\nc.test A padding=512\n",
        "a.test A time=9\n\nb.test A padding=512 time=3\nc.test A time=1\n",
    ] {
        let (stream, ..) = queries::parse(text.as_bytes(), &options).unwrap();
        let longest = stream.longest_message().unwrap();
        assert_eq!(
            (longest.index, longest.octets, longest.line),
            (1, 512, Some(3))
        );
    }
    let updates = "a.test\ndelete b\nsend\na.test\ndelete longer\nsend\n";
    let (stream, _) = updates::parse(updates.as_bytes(), &options).unwrap();
    let longest = stream.longest_message().unwrap();
    assert_eq!((longest.index, longest.line), (1, Some(6)));
}

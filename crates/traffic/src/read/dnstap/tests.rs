use super::*;
use proptest::prelude::*;

fn field(number: u8, form: u8, value: &[u8]) -> Vec<u8> {
    let mut octets = vec![number << 3 | form];
    if form == 2 {
        assert!(value.len() < 128);
        octets.push(value.len() as u8);
    }
    octets.extend_from_slice(value);
    octets
}

/// A frame of `kind` from 192.0.2.1:1000 to 192.0.2.2 over TLS, with both messages.
fn data(kind: u8) -> Vec<u8> {
    let message = [
        field(1, 0, &[kind]),
        field(2, 0, &[1]),
        field(3, 0, &[3]),
        field(4, 2, &[192, 0, 2, 1]),
        field(5, 2, &[192, 0, 2, 2]),
        field(6, 0, &[0xE8, 7]),
        field(8, 0, &[10]),
        field(9, 5, &500_u32.to_le_bytes()),
        field(10, 2, b"the query"),
        field(12, 0, &[11]),
        field(13, 5, &600_u32.to_le_bytes()),
        field(14, 2, b"the response"),
    ]
    .concat();
    frame(
        &[
            field(1, 2, b"ns1"),
            field(14, 2, &message),
            field(15, 0, &[1]),
        ]
        .concat(),
    )
}

fn frame(octets: &[u8]) -> Vec<u8> {
    [&(octets.len() as u32).to_be_bytes(), octets].concat()
}

fn control(kind: u32, content: &[u8]) -> Vec<u8> {
    let mut octets = kind.to_be_bytes().to_vec();
    if !content.is_empty() {
        octets.extend_from_slice(&FIELD_CONTENT_TYPE.to_be_bytes());
        octets.extend_from_slice(&frame(content));
    }
    [&[0; 4][..], &frame(&octets)].concat()
}

/// Reads everything; gives the messages as text, and whether the file was cut off.
fn read(octets: &[u8]) -> Result<(Vec<String>, bool), Fault> {
    let mut tap = Dnstap::new(octets)?;
    let mut chunk = ChunkBuffer::default();
    let is_cut_off = match tap.fill(&mut chunk) {
        Ok(()) => false,
        Err(Fault::CutOff) => true,
        Err(fault) => return Err(fault),
    };
    let chunk = chunk.chunk();
    let texts = chunk.iter().map(|packet| {
        let message = crate::read::buffer::message_of(&packet).unwrap();
        let octets = String::from_utf8_lossy(message.octets);
        let transport = message.transport.name();
        format!(
            "{} {} {} > {} {transport} {octets}",
            message.number, message.time_ns, message.source, message.destination
        )
    });
    Ok((texts.collect(), is_cut_off))
}

#[test]
fn queries_and_responses_are_read_with_their_ends_and_times() {
    let file = [
        control(START, CONTENT_TYPE),
        data(5),
        data(6),
        frame(b"\xFF"),
        control(STOP, b""),
        data(5),
    ]
    .concat();
    assert!(is_dnstap(&file));
    let wanted = [
        "1 10000000500 192.0.2.1:1000 > 192.0.2.2:53 tls the query",
        "2 11000000600 192.0.2.2:53 > 192.0.2.1:1000 tls the response",
        "3 11000000600 0.0.0.0:0 > 0.0.0.0:0 unknown ",
    ];
    assert_eq!(
        read(&file).unwrap(),
        (wanted.map(str::to_owned).to_vec(), false)
    );
}

#[test]
fn a_bidirectional_stream_is_read() {
    let file = [
        control(READY, CONTENT_TYPE),
        control(START, CONTENT_TYPE),
        data(5),
        control(FINISH, b""),
    ]
    .concat();
    assert!(is_dnstap(&file));
    assert_eq!(read(&file).unwrap().0.len(), 1);
}

#[test]
fn files_that_are_cut_off_or_of_something_else_say_so() {
    let file = [control(START, CONTENT_TYPE), data(5), data(6)].concat();
    assert_eq!(read(&file).unwrap().0.len(), 2);
    let (messages, is_cut_off) = read(&file[..file.len() - 1]).unwrap();
    assert!(messages.len() == 1 && is_cut_off);
    let other = control(START, b"protobuf:other");
    assert!(matches!(read(&other), Err(Fault::NotACapture(why)) if why.contains("not dnstap")));
    let long = [
        control(START, CONTENT_TYPE),
        u32::MAX.to_be_bytes().to_vec(),
    ]
    .concat();
    assert!(matches!(read(&long), Err(Fault::Damaged(why)) if why.contains("4294967295")));
    assert!(!is_dnstap(b"\xA1\xB2\xC3\xD4\0\x02\0\x04\0\0\0\0"));
}

proptest! {
    #[test]
    fn any_octets_are_read_or_refused(octets: Vec<u8>) {
        let file = [control(START, CONTENT_TYPE), octets].concat();
        let _ = read(&file);
    }
}

use super::*;
use proptest::prelude::*;

fn travel() -> Travel {
    Travel {
        time_ns: 1_700_000_000_000_000_000,
        client: "192.0.2.7".parse().unwrap(),
        server: "2001:db8::53".parse().unwrap(),
        transport: Transport::Udp,
    }
}

/// A message with `flags`, the question `www.Example.com. AAAA IN`, and an OPT record that has DO and an extended RCODE.
fn message(flags: u16, with_opt: Option<u8>) -> Vec<u8> {
    let mut message = vec![0, 1];
    message.extend_from_slice(&flags.to_be_bytes());
    message.extend_from_slice(&[0, 1, 0, 0, 0, 0, 0, u8::from(with_opt.is_some())]);
    message.extend_from_slice(b"\x03www\x07Example\x03com\0\0\x1c\0\x01");
    if let Some(rcode) = with_opt {
        message.extend_from_slice(&[0, 0, 41, 4, 0xD0, rcode, 0, 0x80, 0, 0, 0]);
    }
    message
}

fn takes(expression: &str, message: &[u8]) -> bool {
    let expression = Expression::parse(expression).unwrap();
    let view = View::parse(message).ok();
    expression.takes(&travel(), view.as_ref())
}

#[test]
fn each_term_holds_where_it_should() {
    let query = message(0x0110, Some(0));
    for (expression, expected) in [
        ("query", true),
        ("answer", false),
        ("zone example.com", true),
        ("zone EXAMPLE.com.", true),
        ("zone www.example.com", true),
        ("zone .", true),
        ("zone ample.com", false),
        ("zone net,com", true),
        ("zone a.www.example.com", false),
        ("name example.com", false),
        ("name example.com,WWW.example.COM.", true),
        ("type A,AAAA", true),
        ("type TYPE28", true),
        ("type A", false),
        ("class CH", false),
        ("class ch,in", true),
        ("class ANY", false),
        ("opcode QUERY", true),
        ("opcode 5,notify", false),
        ("rcode NOERROR", false),
        ("rd", true),
        ("cd", true),
        ("tc", false),
        ("edns", true),
        ("do", true),
        ("udp", true),
        ("tcp", false),
        ("transport tls,udp", true),
        ("client 192.0.2.0/24", true),
        ("client 198.51.100.0/24,2001:db8::/32", false),
        ("server 2001:db8::/32", true),
        ("after 2023-11-14T22:13:20Z", true),
        ("before 2023-11-14T22:13:20Z", false),
        ("before 1700000000.000000001", true),
    ] {
        assert_eq!(takes(expression, &query), expected, "{expression}");
    }
}

#[test]
fn response_codes_are_those_of_answers_with_their_upper_bits() {
    let answer = message(0x8003, None);
    assert!(takes("rcode NXDOMAIN", &answer) && takes("rcode 3", &answer));
    assert!(takes("answer and not edns and not do", &answer));
    let bad_cookie = message(0x8007, Some(1));
    assert!(takes("rcode BADCOOKIE", &bad_cookie));
    assert!(!takes("rcode YXRRSET", &bad_cookie));
}

#[test]
fn not_binds_more_than_and_and_that_more_than_or() {
    let query = message(0x0100, None);
    for (expression, expected) in [
        ("rd or query and tc", true),
        ("(rd or query) and tc", false),
        ("not tc and rd", true),
        ("not (tc or rd)", false),
        ("not not rd", true),
        ("NOT tc AND (type AAAA OR ((tcp)))", true),
    ] {
        assert_eq!(takes(expression, &query), expected, "{expression}");
    }
}

#[test]
fn what_is_no_message_has_nothing_that_messages_say() {
    assert!(!takes("query or answer or zone .", b"short"));
    assert!(takes("not query", b"short") && takes("udp", b"short"));
}

#[test]
fn names_may_have_escaped_commas() {
    let query = {
        let mut query = message(0, None);
        query.truncate(12);
        query.extend_from_slice(b"\x03a,b\x01c\0\0\x01\0\x01");
        query
    };
    assert!(takes(r"name x,a\,b.c", &query));
    assert!(!takes(r"name a\,b,c", &query));
}

#[test]
fn what_ends_decide_is_known() {
    for (expression, expected) in [
        ("client ::1 and not (udp or server ::2)", true),
        ("client ::1 and after 0", false),
        ("client ::1 or query", false),
        ("not rd", false),
    ] {
        let expression = Expression::parse(expression).unwrap();
        assert_eq!(expression.is_of_ends(), expected);
    }
}

#[test]
fn mistakes_are_named() {
    for (text, expected) in [
        ("", "a term is missing; terms are zone"),
        ("qname x", "'qname' is no term"),
        ("zone", "'zone' needs a value"),
        ("type (A)", "'type' needs a value"),
        ("type A6X", "'A6X' is not a record type"),
        ("rcode NXD", "'NXD' is not a response code"),
        ("rcode 4096", "'4096' is not a response code"),
        ("opcode 16", "'16' is not an opcode"),
        ("transport sctp", "'sctp' is not one of the transports"),
        ("client 192.0.2.1/24", "has bits beyond its length"),
        ("after noon", "'noon' is not a time"),
        ("zone a..b", "'a..b' is not a domain name"),
        ("(rd", "a parenthesis is not closed"),
        ("rd tc", "'tc' where and, or or the end should be"),
        ("rd)", "')' where"),
        ("rd and", "a term is missing"),
    ] {
        let error = Expression::parse(text).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let deep = "(".repeat(100_000) + "rd";
    assert!(Expression::parse(&deep).unwrap_err().contains("more than"));
}

proptest! {
    #[test]
    fn no_text_and_no_message_are_the_end_of_it(text in "[a-z(),. 0-9:/\\\\]{0,60}", octets in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(expression) = Expression::parse(&text) {
            let view = View::parse(&octets).ok();
            let _ = expression.takes(&travel(), view.as_ref());
        }
    }

    #[test]
    fn below_a_zone_is_what_ends_in_its_labels(labels in prop::collection::vec("[a-c\\x01\\x02]{1,3}", 0..6), cut in 0_usize..6, other in prop::collection::vec("[a-c]{1,3}", 0..3)) {
        let wire = |labels: &[String]| -> Vec<u8> {
            let mut name: Vec<u8> = labels.iter().flat_map(|label| [&[label.len() as u8], label.as_bytes()].concat()).collect();
            name.push(0);
            name
        };
        let cut = cut.min(labels.len());
        prop_assert!(is_below(&wire(&labels), &wire(&labels[cut..])));
        prop_assert_eq!(is_below(&wire(&labels), &wire(&other)), labels.ends_with(&other));
    }
}

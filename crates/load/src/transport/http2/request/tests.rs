use super::*;
use crate::transport::http2::hpack::integer;
use proptest::prelude::*;

fn requests(path: &str, method: HttpMethod, name: Option<&str>, server: &str) -> HttpRequests {
    let path = path.to_owned();
    HttpRequests::new(
        &HttpSettings { path, method },
        name,
        server.parse().unwrap(),
    )
}

#[test]
fn the_authority_names_the_port_unless_it_is_that_of_https() {
    for (name, server, expected) in [
        (None, "127.0.0.1:443", "127.0.0.1"),
        (None, "127.0.0.1:8443", "127.0.0.1:8443"),
        (None, "[::1]:443", "[::1]"),
        (None, "[::1]:8443", "[::1]:8443"),
        (Some("dns.example"), "[::1]:443", "dns.example"),
        (Some("dns.example"), "[::1]:8443", "dns.example:8443"),
    ] {
        assert_eq!(authority(name, server.parse().unwrap()), expected);
    }
}

fn path_of(requests: &HttpRequests, message: &[u8]) -> String {
    let mut block = Vec::new();
    append_path(&mut block, &requests.path, message);
    let (name, mut rest) = block.split_first().unwrap();
    assert_eq!(*name, 4, "the static table's :path, not indexed");
    let len = integer(&mut rest, 7).unwrap();
    assert_eq!(len, rest.len());
    String::from_utf8(rest.to_vec()).unwrap()
}

/// RFC 8484 section 4.1.1: the example's query for www.example.com, and the one whose octets need `-` and `_`.
#[test]
fn paths_are_those_of_the_standard() {
    let query = b"\xab\xcd\x01\0\0\x01\0\0\0\0\0\0\x03www\x07example\x03com\0\0\x01\0\x01";
    let get = requests("/dns-query", HttpMethod::Get, None, "127.0.0.1:443");
    assert_eq!(
        path_of(&get, query),
        "/dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB"
    );
    let get = requests("/q?x=y", HttpMethod::Get, None, "127.0.0.1:443");
    assert!(path_of(&get, query).starts_with("/q?x=y&dns=AAABAAAB"));
}

proptest! {
    #[test]
    fn the_query_comes_back_from_the_path(message in proptest::collection::vec(any::<u8>(), 12..700)) {
        let get = requests("/", HttpMethod::Get, None, "127.0.0.1:443");
        let path = path_of(&get, &message);
        let decoded = URL_SAFE_NO_PAD.decode(path.strip_prefix("/?dns=").unwrap()).unwrap();
        prop_assert_eq!(&decoded[..2], &[0, 0]);
        prop_assert_eq!(&decoded[2..], &message[2..]);
    }

    #[test]
    fn the_length_is_decimal(len in 0usize..100_000) {
        let mut block = Vec::new();
        append_content_length(&mut block, len);
        let digits = len.to_string();
        prop_assert_eq!(block, [&[0x0f, 13, digits.len() as u8], digits.as_bytes()].concat());
    }
}

//! DNS over HTTPS (RFC 8484): what a request asks, and what a response says beside the message.

use super::workspace::MESSAGE_LEN;
use crate::query::{HEADER_LEN, skip_name};
use data_encoding::BASE64URL_NOPAD;
use domain::base::iana::Rtype;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

const PATH: &str = "/dns-query";
const MEDIA_TYPE: &str = "application/dns-message";

/// What an HTTP request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// A GET request: the query is in the buffer.
    Query,
    /// A POST request: the query is its content.
    Upload,
    /// It cannot be served.
    Refused(StatusCode),
}

/// Judges a request by its head; the query of a GET request is written to `message`.
pub(super) fn read_request(head: &Parts, message: &mut Vec<u8>) -> Request {
    if head.uri.path() != PATH {
        return Request::Refused(StatusCode::NOT_FOUND);
    }
    match head.method {
        Method::GET if read_get_query(head.uri.query().unwrap_or_default(), message) => {
            Request::Query
        }
        Method::GET => Request::Refused(StatusCode::BAD_REQUEST),
        Method::POST if !has_dns_message(head) => {
            Request::Refused(StatusCode::UNSUPPORTED_MEDIA_TYPE)
        }
        Method::POST if announced_len(head).is_some_and(|len| len > MESSAGE_LEN as u64) => {
            Request::Refused(StatusCode::PAYLOAD_TOO_LARGE)
        }
        Method::POST => Request::Upload,
        _ => Request::Refused(StatusCode::METHOD_NOT_ALLOWED),
    }
}

/// Reads the query component of a GET request's URI (RFC 8484 section 4.1.1): the message is the value of `dns`, in base64url
/// without padding (RFC 4648 section 5). Writes it to `message`; false if there is none or it cannot be read.
pub fn read_get_query(uri_query: &str, message: &mut Vec<u8>) -> bool {
    message.clear();
    let mut parameters = uri_query.split('&');
    let Some(text) = parameters.find_map(|parameter| parameter.strip_prefix("dns=")) else {
        return false;
    };
    let Ok(len) = BASE64URL_NOPAD.decode_len(text.len()) else {
        return false;
    };
    message.resize(len, 0);
    BASE64URL_NOPAD.decode_mut(text.as_bytes(), message).is_ok()
}

/// Whether the content is said to be a DNS message; parameters of the media type do not matter.
fn has_dns_message(head: &Parts) -> bool {
    let value = head.headers.get(CONTENT_TYPE);
    value
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case(MEDIA_TYPE))
}

fn announced_len(head: &Parts) -> Option<u64> {
    head.headers
        .get(CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

/// The head of a response that carries a DNS message.
pub(super) fn answer_head(message: &[u8]) -> Response<()> {
    let mut response = Response::new(());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers.insert(CONTENT_LENGTH, message.len().into());
    let lifetime = lifetime_s(message).map(|seconds| format!("max-age={seconds}"));
    if let Some(Ok(lifetime)) = lifetime.map(HeaderValue::try_from) {
        headers.insert(CACHE_CONTROL, lifetime);
    }
    response
}

/// The head of a response without content.
pub(super) fn refusal_head(status: StatusCode) -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = status;
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let allowed = HeaderValue::from_static("GET, POST");
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

/// How many seconds a response stays fresh (RFC 8484 section 5.1): the lowest TTL of its answer section or, if that is empty,
/// the TTL of the SOA record in its authority section.
fn lifetime_s(message: &[u8]) -> Option<u32> {
    let header: &[u8; HEADER_LEN] = message.first_chunk()?;
    let count = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let mut at = HEADER_LEN;
    for _ in 0..count(4) {
        at = skip_name(message, at)? + 4;
    }
    let answers = count(6);
    let mut lowest = None;
    for place in 0..u32::from(answers) + u32::from(count(8)) {
        at = skip_name(message, at)?;
        let fixed: &[u8; 10] = message.get(at..)?.first_chunk()?;
        let [type_high, type_low, _, _, ttl @ .., len_high, len_low] = *fixed;
        let ttl = u32::from_be_bytes(ttl);
        let rtype = Rtype::from_int(u16::from_be_bytes([type_high, type_low]));
        if place < u32::from(answers) || (answers == 0 && rtype == Rtype::SOA) {
            lowest = Some(lowest.map_or(ttl, |lowest: u32| lowest.min(ttl)));
        }
        at += fixed.len() + usize::from(u16::from_be_bytes([len_high, len_low]));
    }
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request as HttpRequest;
    use proptest::prelude::*;

    fn judge(request: http::request::Builder) -> Request {
        let (head, ()) = request.body(()).expect("a valid request").into_parts();
        read_request(&head, &mut Vec::new())
    }

    #[test]
    fn requests_are_judged_by_their_heads() {
        let refused = |status| Request::Refused(StatusCode::from_u16(status).expect("a status"));
        let get = |uri| judge(HttpRequest::get(uri));
        assert_eq!(get("/dns-query?dns=AAAA"), Request::Query);
        assert_eq!(get("/dns-query?ct&dns=AAAA&x=1"), Request::Query);
        for uri in [
            "/dns-query",
            "/dns-query?",
            "/dns-query?name=a",
            "/dns-query?dns=A",
            "/dns-query?dns=AAA=",
            "/dns-query?dns=AA%2D",
            "/dns-query?dns=AB+/",
        ] {
            assert_eq!(get(uri), refused(400), "{uri}");
        }
        assert_eq!(get("/"), refused(404));
        assert_eq!(get("/dns-query/?dns=AAAA"), refused(404));
        assert_eq!(judge(HttpRequest::put("/dns-query")), refused(405));
        assert_eq!(judge(HttpRequest::head("/dns-query")), refused(405));
        let post = |media_type| HttpRequest::post("/dns-query").header(CONTENT_TYPE, media_type);
        assert_eq!(judge(post("application/dns-message")), Request::Upload);
        assert_eq!(judge(post("Application/DNS-Message; q=1")), Request::Upload);
        assert_eq!(judge(post("application/json")), refused(415));
        assert_eq!(judge(HttpRequest::post("/dns-query")), refused(415));
        let with_len = |len: u64| judge(post(MEDIA_TYPE).header(CONTENT_LENGTH, len));
        assert_eq!(with_len(65_535), Request::Upload);
        assert_eq!(with_len(65_536), refused(413));
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_read(message in proptest::collection::vec(any::<u8>(), 0..600)) {
            let text = BASE64URL_NOPAD.encode(&message);
            let mut read = vec![1, 2, 3];
            let encoded = format!("dns={text}");
            prop_assert!(read_get_query(&encoded, &mut read));
            prop_assert_eq!(&read, &message);
        }

        #[test]
        fn any_uri_query_is_survived(text in ".{0,100}", from_alphabet in "dns=[A-Za-z0-9_=-]{0,40}") {
            let mut message = Vec::new();
            read_get_query(&text, &mut message);
            if read_get_query(&from_alphabet, &mut message) {
                prop_assert_eq!(format!("dns={}", BASE64URL_NOPAD.encode(&message)), from_alphabet);
            }
        }

        #[test]
        fn any_message_has_a_lifetime_or_none(message in proptest::collection::vec(any::<u8>(), 0..100)) {
            lifetime_s(&message);
        }
    }
}

//! Questions as query messages.

use crate::edns::{CLIENT_COOKIE_LEN, COOKIE, EdnsOptions, compose_opt};
use crate::error::StreamError;
use crate::halt::Halt;
use crate::prefix::Prefix;
use crate::questions::Questions;
use crate::stream::QueryStream;
use domain::base::Name;
use domain::base::iana::{Class, Rtype};
use serde::Deserialize;

/// Octets of a message's header (RFC 1035 section 4.1.1).
pub(crate) const HEADER_LEN: usize = 12;

/// What every query message of a stream has beside its question.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MessageOptions {
    /// The UDP payload size of the OPT record (RFC 6891 section 6.2.3), in octets; `None` leaves EDNS out, unless another
    /// option implies it.
    pub edns_size: Option<u16>,
    /// The DO bit (RFC 3225); it implies EDNS.
    pub do_bit: bool,
    /// The RD bit. dnsperf sets it, and so do stub resolvers.
    pub recursion_desired: bool,
    /// The CD bit (RFC 4035 section 3.2.2).
    pub checking_disabled: bool,
    /// The AD bit, which in a query asks for it in the answer (RFC 6840 section 5.7).
    pub authentic_data: bool,
    /// Asks for the server's identifier (RFC 5001); implies EDNS.
    pub nsid: bool,
    /// The client subnet (RFC 7871), with scope length zero; implies EDNS.
    pub client_subnet: Option<Prefix>,
    /// Options as they are (code and data), in this order; imply EDNS.
    pub options: EdnsOptions,
    /// Pads the message to a multiple of so many octets (RFC 7830, block length as of RFC 8467); implies EDNS.
    pub padding_block: Option<u16>,
    /// Leaves room for a client cookie (RFC 7873): see [`cookie_place`]; implies EDNS.
    pub cookie: bool,
}

/// The EDNS size that goes with what implies EDNS when none was chosen: the one of JPRS-2010.
const DEFAULT_EDNS_SIZE: u16 = 4096;

impl Default for MessageOptions {
    fn default() -> Self {
        Self {
            edns_size: None,
            do_bit: false,
            recursion_desired: true,
            checking_disabled: false,
            authentic_data: false,
            nsid: false,
            client_subnet: None,
            options: EdnsOptions::default(),
            padding_block: None,
            cookie: false,
        }
    }
}

impl MessageOptions {
    /// The payload size to put into the OPT record; `None` if there is to be none.
    fn opt_size(&self) -> Option<u16> {
        let is_implied = self.do_bit
            || self.nsid
            || self.client_subnet.is_some()
            || !self.options.is_empty()
            || self.padding_block.is_some()
            || self.cookie;
        self.edns_size.or(is_implied.then_some(DEFAULT_EDNS_SIZE))
    }

    /// The second line of the header of a query.
    fn query_flags(&self) -> u16 {
        (u16::from(self.recursion_desired) << 8)
            | (u16::from(self.authentic_data) << 5)
            | (u16::from(self.checking_disabled) << 4)
    }
}

/// Makes the query messages of `questions`, in their order.
///
/// # Errors
/// [`StreamError::NoMemory`].
pub fn messages(
    questions: &Questions,
    options: &MessageOptions,
) -> Result<QueryStream, StreamError> {
    let no_memory = |halt: Halt| halt.in_making(questions.len() as u64, "make fewer");
    let mut stream = QueryStream::default();
    let mut message = Vec::with_capacity(512);
    for question in questions.iter() {
        message.clear();
        compose_query(
            question.name,
            question.rtype,
            Class::IN,
            options,
            &mut message,
        );
        stream.try_push(&message).map_err(no_memory)?;
    }
    Ok(stream)
}

/// Appends one query (RFC 1035 section 4.1) with ID zero.
pub(crate) fn compose_query(
    name: &Name<[u8]>,
    rtype: Rtype,
    class: Class,
    options: &MessageOptions,
    message: &mut Vec<u8>,
) {
    let start = message.len();
    for field in [0, options.query_flags(), 1, 0, 0, 0] {
        message.extend_from_slice(&field.to_be_bytes());
    }
    message.extend_from_slice(name.as_slice());
    message.extend_from_slice(&rtype.to_int().to_be_bytes());
    message.extend_from_slice(&class.to_int().to_be_bytes());
    append_opt(options, message, start);
}

/// Appends the OPT record that `options` ask for to the message that begins at `start`, and counts it in ARCOUNT.
pub(crate) fn append_opt(options: &MessageOptions, message: &mut Vec<u8>, start: usize) {
    if let Some(size) = options.opt_size() {
        compose_opt(options, size, message, start);
        let count = &mut message[start + 10..start + HEADER_LEN];
        let additional = u16::from_be_bytes([count[0], count[1]]) + 1;
        count.copy_from_slice(&additional.to_be_bytes());
    }
}

/// Where a message has its place for cookies (RFC 7873 section 4), as offsets into it.
///
/// The placeholder is a COOKIE option with eight octets zero: the last option of the OPT record, which is the last record.
/// So a server cookie is appended to the message and added to both lengths. Padding, where there is any, was computed
/// with the client cookie alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookiePlace {
    /// The client cookie's first octet; it ends with the message.
    pub client_cookie: usize,
    /// The option's length field, two octets.
    pub option_len: usize,
    /// The OPT record's RDLENGTH field, two octets.
    pub rdata_len: usize,
}

/// Finds the place for cookies that [`MessageOptions::cookie`] left; `None` in a message without one, such as a message of
/// a capture, whose own cookie is not touched.
pub fn cookie_place(message: &[u8]) -> Option<CookiePlace> {
    let client_cookie = message.len().checked_sub(CLIENT_COOKIE_LEN)?;
    let option = client_cookie.checked_sub(4)?;
    let [high, low] = COOKIE.to_be_bytes();
    if message[option..]
        != [
            high,
            low,
            0,
            CLIENT_COOKIE_LEN as u8,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ]
    {
        return None;
    }
    let opt = opt_offset(message)?;
    Some(CookiePlace {
        client_cookie,
        option_len: option + 2,
        rdata_len: opt + 9,
    })
}

/// Where the OPT record begins in a message of one question and no other record.
fn opt_offset(message: &[u8]) -> Option<usize> {
    if message.get(4..HEADER_LEN)? != [0, 1, 0, 0, 0, 0, 0, 1] {
        return None;
    }
    let name = question_name(message)?;
    let opt = HEADER_LEN + name.len() + 4;
    let header = message.get(opt..opt + 11)?;
    let rdata_len = usize::from(u16::from_be_bytes([header[9], header[10]]));
    let is_opt = header[..3] == [0, 0, Rtype::OPT.to_int() as u8];
    (is_opt && opt + 11 + rdata_len == message.len()).then_some(opt)
}

/// The name of a message's first question, uncompressed as it must be there; `None` if it is not whole.
pub(crate) fn question_name(message: &[u8]) -> Option<&Name<[u8]>> {
    let mut end = HEADER_LEN;
    loop {
        let label_len = *message.get(end)?;
        end += 1 + usize::from(label_len);
        if label_len == 0 {
            break;
        }
    }
    Name::from_slice(message.get(HEADER_LEN..end)?).ok()
}

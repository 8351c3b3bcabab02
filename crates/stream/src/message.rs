//! Questions as query messages.

use crate::questions::{Question, Questions};
use crate::stream::QueryStream;
use domain::base::iana::{Class, Rtype};

/// What every query message of a stream has beside its question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageOptions {
    /// The UDP payload size of the OPT record (RFC 6891 section 6.2.3), in octets; `None` leaves EDNS out.
    pub edns_size: Option<u16>,
    /// The DO bit (RFC 3225); it implies EDNS.
    pub do_bit: bool,
    /// The RD bit. dnsperf sets it, and so do stub resolvers.
    pub recursion_desired: bool,
}

/// The EDNS size that goes with the DO bit when none was chosen: the one of JPRS-2010.
const DEFAULT_EDNS_SIZE: u16 = 4096;

impl Default for MessageOptions {
    fn default() -> Self {
        Self {
            edns_size: None,
            do_bit: false,
            recursion_desired: true,
        }
    }
}

/// Makes the query messages of `questions`, in their order.
pub fn messages(questions: &Questions, options: MessageOptions) -> QueryStream {
    let mut stream = QueryStream::default();
    let mut message = Vec::with_capacity(512);
    for question in questions.iter() {
        message.clear();
        compose(question, options, &mut message);
        stream.push(&message);
    }
    stream
}

/// Appends one query (RFC 1035 section 4.1) with ID zero.
fn compose(question: Question<'_>, options: MessageOptions, message: &mut Vec<u8>) {
    let edns_size = options
        .edns_size
        .or(options.do_bit.then_some(DEFAULT_EDNS_SIZE));
    let flags: u16 = if options.recursion_desired { 0x0100 } else { 0 };
    let additional = u16::from(edns_size.is_some());
    for field in [0, flags, 1, 0, 0, additional] {
        message.extend_from_slice(&field.to_be_bytes());
    }
    message.extend_from_slice(question.name.as_slice());
    message.extend_from_slice(&question.rtype.to_int().to_be_bytes());
    message.extend_from_slice(&Class::IN.to_int().to_be_bytes());
    if let Some(size) = edns_size {
        message.push(0);
        message.extend_from_slice(&Rtype::OPT.to_int().to_be_bytes());
        message.extend_from_slice(&size.to_be_bytes());
        // Extended RCODE and version zero, then the flags with DO first (RFC 6891 section 6.1.3), no options.
        message.extend_from_slice(&[0, 0, if options.do_bit { 0x80 } else { 0 }, 0, 0, 0]);
    }
}

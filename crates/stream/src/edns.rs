//! The OPT record of a query (RFC 6891 section 6.1) and its options.

use crate::message::MessageOptions;
use crate::prefix::Prefix;
use domain::base::iana::Rtype;
use serde::Deserialize;
use std::net::IpAddr;
use std::str::FromStr;

const NSID: u16 = 3;
const CLIENT_SUBNET: u16 = 8;
pub(crate) const COOKIE: u16 = 10;
const PADDING: u16 = 12;

/// Octets of a client cookie (RFC 7873 section 4.1).
pub(crate) const CLIENT_COOKIE_LEN: usize = 8;
/// Octets of an option's code and length.
const OPTION_HEADER_LEN: usize = 4;
/// The most octets that all options given take: far below what RDLENGTH and a message can hold.
const MAX_OPTIONS_LEN: usize = 32_768;

/// An EDNS option, sent as it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct EdnsOption {
    /// The option's code.
    pub code: u16,
    /// The option's data, without code and length.
    pub data: Vec<u8>,
}

impl FromStr for EdnsOption {
    type Err = String;

    /// Reads `CODE:HEX` as dnsperf's `-E` does; without data it is `CODE:` or `CODE`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not an EDNS option CODE:HEX such as 65001:00ff");
        let (code, hex) = text.split_once(':').unwrap_or((text, ""));
        let code = code.parse().map_err(|_| wrong())?;
        let data = octets_of_hex(hex).ok_or_else(wrong)?;
        Ok(Self { code, data })
    }
}

impl TryFrom<String> for EdnsOption {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// EDNS options in the order in which they are sent; together short enough for any query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<EdnsOption>")]
pub struct EdnsOptions {
    options: Vec<EdnsOption>,
    /// Octets of all options with their headers.
    len: usize,
}

impl EdnsOptions {
    /// Appends an option.
    ///
    /// # Errors
    /// Says so when the options take more than 32,768 octets.
    pub fn push(&mut self, option: EdnsOption) -> Result<(), String> {
        let len = self.len + OPTION_HEADER_LEN + option.data.len();
        if len > MAX_OPTIONS_LEN {
            return Err(format!(
                "with option {} the EDNS options take {len} octets, more than {MAX_OPTIONS_LEN}",
                option.code
            ));
        }
        self.len = len;
        self.options.push(option);
        Ok(())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.options.is_empty()
    }

    /// The options in order.
    pub fn iter(&self) -> impl Iterator<Item = &EdnsOption> {
        self.options.iter()
    }
}

impl TryFrom<Vec<EdnsOption>> for EdnsOptions {
    type Error = String;

    fn try_from(options: Vec<EdnsOption>) -> Result<Self, String> {
        let mut all = Self::default();
        options
            .into_iter()
            .try_for_each(|option| all.push(option))?;
        Ok(all)
    }
}

fn octets_of_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = hex
        .chars()
        .map(|digit| digit.to_digit(16).map(|value| value as u8))
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty()
        .then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

/// Appends the OPT record with the options in this order: NSID, client subnet, those given, padding, cookie.
///
/// `start` is where the message begins, which padding needs to know.
pub(crate) fn compose_opt(
    options: &MessageOptions,
    size: u16,
    message: &mut Vec<u8>,
    start: usize,
) {
    message.push(0);
    message.extend_from_slice(&Rtype::OPT.to_int().to_be_bytes());
    message.extend_from_slice(&size.to_be_bytes());
    // Extended RCODE and version zero, then the flags with DO first (RFC 6891 section 6.1.3), then RDLENGTH.
    message.extend_from_slice(&[0, 0, if options.do_bit { 0x80 } else { 0 }, 0, 0, 0]);
    let rdata = message.len();
    if options.nsid {
        append_option(NSID, &[], message);
    }
    if let Some(prefix) = options.client_subnet {
        append_client_subnet(prefix, message);
    }
    for option in options.options.iter() {
        append_option(option.code, &option.data, message);
    }
    if let Some(block) = options.padding_block.filter(|&block| block > 0) {
        let cookie_len = if options.cookie {
            OPTION_HEADER_LEN + CLIENT_COOKIE_LEN
        } else {
            0
        };
        let unpadded = message.len() - start + OPTION_HEADER_LEN + cookie_len;
        // A message ends at 65,535 octets, padded or not.
        let room = usize::from(u16::MAX).saturating_sub(unpadded);
        let padding = (unpadded.next_multiple_of(usize::from(block)) - unpadded).min(room);
        append_option(PADDING, &[], message);
        set_u16(message, |message| message.len() - 2, padding);
        message.resize(message.len() + padding, 0);
    }
    if options.cookie {
        append_option(COOKIE, &[0; CLIENT_COOKIE_LEN], message);
    }
    let rdata_len = message.len() - rdata;
    set_u16(message, |_| rdata - 2, rdata_len);
}

/// Appends the client subnet (RFC 7871 section 6): as many octets of the address as its length needs, scope length zero.
fn append_client_subnet(prefix: Prefix, message: &mut Vec<u8>) {
    let (family, octets): (u16, &[u8]) = match &prefix.address() {
        IpAddr::V4(address) => (1, &address.octets()),
        IpAddr::V6(address) => (2, &address.octets()),
    };
    let octets = &octets[..usize::from(prefix.len()).div_ceil(8)];
    append_option(CLIENT_SUBNET, &[], message);
    set_u16(
        message,
        |message| message.len() - 2,
        OPTION_HEADER_LEN + octets.len(),
    );
    message.extend_from_slice(&family.to_be_bytes());
    message.extend_from_slice(&[prefix.len(), 0]);
    message.extend_from_slice(octets);
}

fn append_option(code: u16, data: &[u8], message: &mut Vec<u8>) {
    message.extend_from_slice(&code.to_be_bytes());
    message.extend_from_slice(&(data.len() as u16).to_be_bytes());
    message.extend_from_slice(data);
}

fn set_u16(message: &mut [u8], place: impl FnOnce(&[u8]) -> usize, value: usize) {
    let place = place(message);
    message[place..place + 2].copy_from_slice(&(value as u16).to_be_bytes());
}

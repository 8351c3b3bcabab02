//! TSIG over single messages (RFC 8945).

use super::key::TsigKey;
use crate::answer::records::{ANY, FIXED_LEN, rrtype, skip_name};
use crate::answer::{Answer, HEADER_LEN};
use aws_lc_rs::{constant_time, hmac};

/// Seconds by which the clocks may differ (RFC 8945 section 10 recommends 300).
const FUDGE_S: u16 = 300;

/// TYPE TSIG, CLASS ANY, TTL 0.
const TYPE_CLASS_TTL: [u8; 8] = [0, rrtype::TSIG as u8, 0, ANY as u8, 0, 0, 0, 0];

/// Octets of record data after the algorithm name and up to the MAC: Time Signed, Fudge, MAC Size.
const BEFORE_MAC: usize = 10;

/// Octets of record data after the MAC, without Other Data: Original ID, Error, Other Len.
const AFTER_MAC: usize = 6;

/// What an answer's TSIG record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TsigCheck {
    /// Signed with the key, at a time that the fudge allows.
    Verified,
    /// The last record is no TSIG record.
    Missing,
    /// The record does not parse, is of another key or algorithm, or its MAC is not that of the answer. MACs that are
    /// truncated count as wrong.
    Wrong,
    /// Signed with the key, at a time that the fudge does not allow.
    Time,
    /// The server answers that the query's MAC was wrong (BADSIG).
    BadSig,
    /// The server answers that it does not know the key (BADKEY).
    BadKey,
    /// The server answers that the query's time was outside its fudge (BADTIME): signed, or unsigned as NSD does.
    BadTime,
    /// The server answers with another TSIG error.
    OtherError,
}

impl TsigCheck {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::Verified,
        Self::Missing,
        Self::Wrong,
        Self::Time,
        Self::BadSig,
        Self::BadKey,
        Self::BadTime,
        Self::OtherError,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Missing => "missing",
            Self::Wrong => "wrong",
            Self::Time => "time",
            Self::BadSig => "bad_sig",
            Self::BadKey => "bad_key",
            Self::BadTime => "bad_time",
            Self::OtherError => "other_error",
        }
    }

    /// Whether the answer is to be ignored, as one that anybody could have sent (RFC 8945 section 5.3).
    ///
    /// The server's unsigned complaints are none of these, although anybody could have sent them too: they
    /// tell what is wrong with the key.
    pub fn must_ignore(self) -> bool {
        matches!(self, Self::Missing | Self::Wrong | Self::Time)
    }

    /// What a record with this non-zero Error field means (RFC 8945 section 5.3).
    fn of_error(error: u16) -> Self {
        match error {
            16 => Self::BadSig,
            17 => Self::BadKey,
            18 => Self::BadTime,
            _ => Self::OtherError,
        }
    }
}

/// Signs one thread's queries and verifies their answers.
#[derive(Debug)]
pub struct Signer {
    key: hmac::Key,
    /// Wire format of the key's name, in lower case.
    key_name: Vec<u8>,
    /// Wire format of the algorithm's name, in lower case.
    algorithm_name: Vec<u8>,
    mac_len: usize,
    /// For each place for a query in flight, whether it was signed, and the MAC.
    request_macs: Vec<u8>,
}

/// A parsed TSIG record.
struct Tsig<'m> {
    /// Time Signed, in seconds since 1970.
    signed_s: u64,
    fudge_s: u16,
    mac: &'m [u8],
    original_id: [u8; 2],
    error: u16,
    /// Time Signed and Fudge as they stand in the record.
    time_octets: &'m [u8],
    /// Error, Other Len and Other Data as they stand in the record.
    tail_octets: &'m [u8],
}

impl Signer {
    /// Prepares a key for `slots` places for queries in flight.
    pub fn new(key: &TsigKey, slots: usize) -> Self {
        let hmac = hmac::Key::new(key.algorithm().hmac(), key.secret());
        let mac_len = hmac.algorithm().tag_len();
        Self {
            key: hmac,
            key_name: key.name().as_slice().to_ascii_lowercase(),
            algorithm_name: key.algorithm().wire_name(),
            mac_len,
            request_macs: vec![0; slots * (1 + mac_len)],
        }
    }

    /// Octets that signing adds to a message.
    pub fn addition(&self) -> usize {
        self.key_name.len()
            + FIXED_LEN
            + self.algorithm_name.len()
            + BEFORE_MAC
            + self.mac_len
            + AFTER_MAC
    }

    /// Notes that the query at `slot` goes unsigned.
    pub fn leave_unsigned(&mut self, slot: u32) {
        let at = self.place_of_mac(slot);
        self.request_macs[at] = 0;
    }

    /// Appends a TSIG record to `message`, the query at `slot` with `id`, with the time `unix_time_s`.
    pub fn sign(&mut self, slot: u32, id: u16, unix_time_s: u64, message: &mut Vec<u8>) {
        let time = &unix_time_s.to_be_bytes()[2..];
        let message_len = message.len();
        // The TSIG variables (RFC 8945 section 4.3.3), here only for the digest.
        message.extend_from_slice(&self.key_name);
        message.extend_from_slice(&TYPE_CLASS_TTL[2..]);
        message.extend_from_slice(&self.algorithm_name);
        message.extend_from_slice(time);
        message.extend_from_slice(&FUDGE_S.to_be_bytes());
        message.extend_from_slice(&[0; 4]);
        let mac = hmac::sign(&self.key, message);
        message.truncate(message_len);

        let rdata_len = self.addition() - self.key_name.len() - FIXED_LEN;
        message.extend_from_slice(&self.key_name);
        message.extend_from_slice(&TYPE_CLASS_TTL);
        message.extend_from_slice(&(rdata_len as u16).to_be_bytes());
        message.extend_from_slice(&self.algorithm_name);
        message.extend_from_slice(time);
        message.extend_from_slice(&FUDGE_S.to_be_bytes());
        message.extend_from_slice(&(self.mac_len as u16).to_be_bytes());
        message.extend_from_slice(mac.as_ref());
        message.extend_from_slice(&id.to_be_bytes());
        message.extend_from_slice(&[0; 4]);
        super::change_arcount(&mut message[..HEADER_LEN], 1);

        let at = self.place_of_mac(slot);
        self.request_macs[at] = 1;
        self.request_macs[at + 1..at + 1 + self.mac_len].copy_from_slice(mac.as_ref());
    }

    /// Verifies the answer to the query at `slot` at the time `unix_time_s`; `None` if that went unsigned.
    ///
    /// The order is that of RFC 8945 section 5.2: key, MAC, time.
    pub fn check(&self, slot: u32, answer: &Answer<'_>, unix_time_s: u64) -> Option<TsigCheck> {
        let at = self.place_of_mac(slot);
        if self.request_macs[at] == 0 {
            return None;
        }
        let Some(start) = answer.tsig() else {
            return Some(TsigCheck::Missing);
        };
        let Some(tsig) = self.parse(answer.message(), start) else {
            return Some(TsigCheck::Wrong);
        };
        if tsig.mac.is_empty() && tsig.error != 0 {
            return Some(TsigCheck::of_error(tsig.error));
        }
        let request_mac = &self.request_macs[at + 1..at + 1 + self.mac_len];
        let mac = self.answer_mac(request_mac, &answer.message()[..start], &tsig);
        Some(
            if constant_time::verify_slices_are_equal(mac.as_ref(), tsig.mac).is_err() {
                TsigCheck::Wrong
            } else if tsig.error != 0 {
                TsigCheck::of_error(tsig.error)
            } else if unix_time_s.abs_diff(tsig.signed_s) > u64::from(tsig.fudge_s) {
                TsigCheck::Time
            } else {
                TsigCheck::Verified
            },
        )
    }

    /// The MAC of an answer (RFC 8945 section 5.3.1): over the MAC of its query, the answer as it was before the TSIG
    /// record was added, and the TSIG variables. `message` ends before the record.
    fn answer_mac(&self, request_mac: &[u8], message: &[u8], tsig: &Tsig<'_>) -> hmac::Tag {
        let mut header = [0; HEADER_LEN];
        header.copy_from_slice(&message[..HEADER_LEN]);
        header[..2].copy_from_slice(&tsig.original_id);
        super::change_arcount(&mut header, -1);
        let mut context = hmac::Context::with_key(&self.key);
        context.update(&(request_mac.len() as u16).to_be_bytes());
        context.update(request_mac);
        context.update(&header);
        context.update(&message[HEADER_LEN..]);
        context.update(&self.key_name);
        context.update(&TYPE_CLASS_TTL[2..]);
        context.update(&self.algorithm_name);
        context.update(tsig.time_octets);
        context.update(tsig.tail_octets);
        context.sign()
    }

    /// The TSIG record that begins at `start` and is the last of `message`; `None` unless it parses and is of this key.
    fn parse<'m>(&self, message: &'m [u8], start: usize) -> Option<Tsig<'m>> {
        let name_end = skip_name(message, start)?;
        let rdata = name_end + FIXED_LEN;
        let algorithm_end = skip_name(message, rdata)?;
        let is_ours = message[name_end..].starts_with(&TYPE_CLASS_TTL)
            && name_is(message, start, &self.key_name)
            && name_is(message, rdata, &self.algorithm_name);
        if !is_ours {
            return None;
        }
        let (time_octets, rest) = message.get(algorithm_end..)?.split_at_checked(8)?;
        let (mac, rest) = split_counted(rest)?;
        let (original_id, tail_octets) = rest.split_first_chunk::<2>()?;
        let (error, other) = tail_octets.split_first_chunk::<2>()?;
        if !split_counted(other)?.1.is_empty() {
            return None;
        }
        let time = u64::from_be_bytes(*time_octets.first_chunk()?);
        Some(Tsig {
            signed_s: time >> 16,
            fudge_s: time as u16,
            mac,
            original_id: *original_id,
            error: u16::from_be_bytes(*error),
            time_octets,
            tail_octets,
        })
    }

    /// Where the entry of a place for a query in flight begins in the table of MACs.
    fn place_of_mac(&self, slot: u32) -> usize {
        slot as usize * (1 + self.mac_len)
    }
}

/// Splits octets that are preceded by their number, in two octets, from what follows them.
fn split_counted(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = octets.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*len)))
}

/// Whether the name at `at`, one that parses, is `name` but for the case of letters. The owner may be compressed.
fn name_is(message: &[u8], mut at: usize, mut name: &[u8]) -> bool {
    loop {
        let first = message[at];
        if first >= 0xc0 {
            at = usize::from(u16::from_be_bytes([first & 0x3f, message[at + 1]]));
            continue;
        }
        let len = 1 + usize::from(first);
        let Some((label, rest)) = name.split_at_checked(len) else {
            return false;
        };
        if !label.eq_ignore_ascii_case(&message[at..at + len]) {
            return false;
        }
        if rest.is_empty() {
            return true;
        }
        name = rest;
        at += len;
    }
}

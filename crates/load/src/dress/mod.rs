//! What is changed in a query at the moment of sending, and looked for in its answer: the case of letters (0x20), DNS
//! cookies, TSIG.
//!
//! Each thread has a [`Dresser`] of its own, which shares nothing with the others.

mod case;
mod cookies;
mod key;
mod mix;
#[cfg(test)]
mod tests;
mod tsig;

pub use cookies::CookieCheck;
pub use key::{TsigAlgorithm, TsigKey};
pub use tsig::TsigCheck;

use crate::answer::records::{self, rrtype};
use crate::answer::{Answer, HEADER_LEN, QuestionMatch, question_section};
use cookies::Cookies;
use tsig::Signer;

/// Most octets of a DNS message.
const LONGEST: usize = u16::MAX as usize;

/// What to change in queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DressSettings {
    /// Send a client cookie, learn the server's and send it from then on (RFC 7873).
    pub cookies: bool,
    /// Give letters of the question random case (draft-vixie-dnsext-dns0x20).
    pub randomise_case: bool,
    /// Sign with this key (RFC 8945).
    pub tsig: Option<TsigKey>,
    /// What cases and client cookies are made from; of each thread another.
    pub seed: u64,
}

/// A query in flight.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// The client that sends it.
    pub client: usize,
    /// Its place among all those for queries in flight.
    pub slot: u32,
    /// Its message ID.
    pub id: u16,
    /// Its index in the stream.
    pub query: usize,
}

/// What an answer has of what its query called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// How its question compares with the one that was sent. Where that is [`QuestionMatch::Other`], nothing else has
    /// been looked at.
    pub question: QuestionMatch,
    /// Its TSIG record, if the query was signed.
    pub tsig: Option<TsigCheck>,
    /// Its cookies, if cookies are sent. A TSIG record that is wrong leaves them unread.
    pub cookie: Option<CookieCheck>,
}

impl Inspection {
    /// Whether the query goes on waiting for another answer, as the RFCs want it: another question, a wrong client
    /// cookie, or no valid TSIG record. Case that was not kept is no reason, since honest servers do that too; nor is
    /// BADCOOKIE without a TSIG record, since Knot DNS looks at cookies first and then answers unsigned.
    pub fn must_ignore(&self) -> bool {
        let is_unsigned_bad_cookie =
            self.tsig == Some(TsigCheck::Missing) && self.cookie == Some(CookieCheck::BadCookie);
        self.question == QuestionMatch::Other
            || self.cookie.is_some_and(CookieCheck::must_ignore)
            || self.tsig.is_some_and(TsigCheck::must_ignore) && !is_unsigned_bad_cookie
    }
}

/// Changes the queries of one thread's clients, and looks at their answers.
///
/// A query whose records do not parse, or which is signed already (TSIG, SIG(0)), gets neither cookie nor TSIG record;
/// one whose OPT record is not the last gets no cookie; none grows beyond 65535 octets.
#[derive(Debug)]
pub struct Dresser {
    case_seed: Option<u64>,
    cookies: Option<Cookies>,
    signer: Option<Signer>,
    /// The message last dressed, or the question last compared with.
    buffer: Vec<u8>,
}

impl Dresser {
    /// Prepares for `clients` clients with `slots` places for queries in flight over all of them. `None` if the settings
    /// change nothing.
    ///
    /// With TSIG it holds the MAC of one query for each place, with cookies 33 octets for each client.
    pub fn new(settings: &DressSettings, clients: usize, slots: usize) -> Option<Self> {
        let changes = settings.cookies || settings.randomise_case || settings.tsig.is_some();
        changes.then(|| Self {
            case_seed: settings.randomise_case.then_some(settings.seed),
            cookies: settings
                .cookies
                .then(|| Cookies::new(settings.seed, clients)),
            signer: settings.tsig.as_ref().map(|key| Signer::new(key, slots)),
            // Room for what is in the buffer while it grows.
            buffer: Vec::with_capacity(2 * LONGEST),
        })
    }

    /// The message to be sent for `message`, a checked one of the stream, at `unix_time_s` seconds since 1970. Its ID is
    /// set, since the TSIG record holds it too.
    pub fn dress(&mut self, sending: Sending, message: &[u8], unix_time_s: u64) -> &[u8] {
        self.buffer.clear();
        self.buffer.extend_from_slice(message);
        self.buffer[..2].copy_from_slice(&sending.id.to_be_bytes());
        let Some(question) = question_section(message) else {
            return &self.buffer;
        };
        if let Some(seed) = self.case_seed {
            let count = u16::from_be_bytes([message[4], message[5]]);
            case::randomise(
                &mut self.buffer[HEADER_LEN..],
                count,
                question,
                seed,
                sending,
            );
        }
        if self.cookies.is_some() || self.signer.is_some() {
            self.add_records(sending, HEADER_LEN + question.len(), unix_time_s);
        }
        &self.buffer
    }

    fn add_records(&mut self, sending: Sending, question_end: usize, unix_time_s: u64) {
        let message = &mut self.buffer;
        let room = room_for_records(message, question_end);
        if let (Some(cookies), Some(Room { opt: Ok(opt) })) = (&self.cookies, &room)
            && message.len() + cookies::LONGEST_ADDITION <= LONGEST
        {
            cookies.append(sending.client, message, *opt);
        }
        let Some(signer) = &mut self.signer else {
            return;
        };
        if room.is_some() && message.len() + signer.addition() <= LONGEST {
            signer.sign(sending.slot, sending.id, unix_time_s, message);
        } else {
            signer.leave_unsigned(sending.slot);
        }
    }

    /// Looks at an answer with the ID of the query of `sending`, which is still in flight; `count` and `question` are
    /// QDCOUNT and question section of that query in the stream. Learns the server's cookie.
    pub fn inspect(
        &mut self,
        sending: Sending,
        (count, question): (u16, &[u8]),
        answer: &Answer<'_>,
        unix_time_s: u64,
    ) -> Inspection {
        let question = self.compare_question(sending, count, question, answer);
        let mut inspection = Inspection {
            question,
            tsig: None,
            cookie: None,
        };
        if question == QuestionMatch::Other {
            return inspection;
        }
        if let Some(signer) = &self.signer {
            inspection.tsig = signer.check(sending.slot, answer, unix_time_s);
        }
        if let Some(cookies) = &mut self.cookies
            && !matches!(inspection.tsig, Some(TsigCheck::Wrong | TsigCheck::Time))
        {
            inspection.cookie = Some(cookies.check(sending.client, answer));
        }
        inspection
    }

    /// How the question of an answer compares with the one that was sent in `sending`.
    pub fn compare_question(
        &mut self,
        sending: Sending,
        count: u16,
        question: &[u8],
        answer: &Answer<'_>,
    ) -> QuestionMatch {
        let Some(seed) = self.case_seed else {
            return answer.compare_question(count, question);
        };
        self.buffer.clear();
        self.buffer.extend_from_slice(question);
        case::randomise(&mut self.buffer, count, question, seed, sending);
        answer.compare_question(count, &self.buffer)
    }
}

/// A query that can take records.
struct Room {
    /// Where its OPT record begins, if it has one; an error if that is not the last record.
    opt: Result<Option<usize>, OptNotLast>,
}

/// Options cannot be added to an OPT record without moving those behind it, and with them what pointers lead to.
struct OptNotLast;

/// Whether records can be added to a query whose question section ends at `question_end`.
fn room_for_records(message: &[u8], question_end: usize) -> Option<Room> {
    let records = records::walk(message, question_end)?;
    let last = records.last;
    let is_signed = last.is_some_and(|last| matches!(last.rrtype, rrtype::TSIG | rrtype::SIG));
    let arcount = u16::from_be_bytes([message[10], message[11]]);
    // Up to two records are added: OPT and TSIG.
    if records.end != message.len() || is_signed || arcount > u16::MAX - 2 {
        return None;
    }
    let opt_is_last = records.opt.is_none() || records.opt == last.map(|last| last.start);
    Some(Room {
        opt: if opt_is_last {
            Ok(records.opt)
        } else {
            Err(OptNotLast)
        },
    })
}

/// Adds `difference` to the ARCOUNT of a header.
fn change_arcount(header: &mut [u8], difference: i16) {
    let arcount = u16::from_be_bytes([header[10], header[11]]).wrapping_add_signed(difference);
    header[10..12].copy_from_slice(&arcount.to_be_bytes());
}

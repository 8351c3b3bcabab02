//! DNS cookies (RFC 7873, RFC 9018): each client has a cookie of its own, learns the server's, and sends both.

use super::mix::{Mix, Purpose};
use crate::answer::records::{FIXED_LEN, options, rrtype};
use crate::answer::{Answer, HEADER_LEN};

/// Code of the COOKIE option (RFC 7873 section 4).
const COOKIE: u16 = 10;

/// BADCOOKIE (RFC 7873 section 8).
const BADCOOKIE: u16 = 23;

/// Octets of a client cookie.
const CLIENT_LEN: usize = 8;

/// Least and most octets of a server cookie.
const SERVER_LEN: std::ops::RangeInclusive<usize> = 8..=32;

/// Octets of an option's code and length.
const OPTION_HEAD: usize = 4;

/// UDP payload size of an OPT record made for the cookie: the one of DNS Flag Day 2020.
const UDP_SIZE: u16 = 1232;

/// Octets that a cookie adds to a query at most: an OPT record with a COOKIE option.
pub const LONGEST_ADDITION: usize = 1 + FIXED_LEN + OPTION_HEAD + CLIENT_LEN + *SERVER_LEN.end();

/// What an answer says of cookies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookieCheck {
    /// No COOKIE option: the server does not do cookies, or not for this answer.
    Absent,
    /// The right client cookie, and a server cookie that has been learnt.
    Learnt,
    /// The right client cookie, and the server cookie that was known already.
    Known,
    /// BADCOOKIE, with the right client cookie and a server cookie, which has been learnt: the query lacked one that the
    /// server takes.
    BadCookie,
    /// Not the client cookie that was sent: the answer is to be ignored (RFC 7873 section 5.3).
    WrongClient,
    /// The right client cookie, but no server cookie of 8 to 32 octets (RFC 7873 section 4.2): none has been learnt.
    WrongLength,
}

impl CookieCheck {
    /// All of them, in order.
    pub const ALL: [Self; 6] = [
        Self::Absent,
        Self::Learnt,
        Self::Known,
        Self::BadCookie,
        Self::WrongClient,
        Self::WrongLength,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Learnt => "learnt",
            Self::Known => "known",
            Self::BadCookie => "bad_cookie",
            Self::WrongClient => "wrong_client",
            Self::WrongLength => "wrong_length",
        }
    }

    /// Whether the answer is to be ignored.
    pub fn must_ignore(self) -> bool {
        self == Self::WrongClient
    }
}

/// A server cookie; of length 0 before one has been learnt.
#[derive(Clone, Copy, Debug)]
struct ServerCookie {
    len: u8,
    octets: [u8; *SERVER_LEN.end()],
}

impl ServerCookie {
    fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.len)]
    }
}

/// The cookies of one thread's clients.
#[derive(Debug)]
pub struct Cookies {
    seed: u64,
    learnt: Vec<ServerCookie>,
}

impl Cookies {
    /// Cookies of `clients` clients that know no server cookie.
    pub fn new(seed: u64, clients: usize) -> Self {
        let none = ServerCookie {
            len: 0,
            octets: [0; *SERVER_LEN.end()],
        };
        Self {
            seed,
            learnt: vec![none; clients],
        }
    }

    /// Appends the cookies of `client` to `message`: to its OPT record, which begins at `opt` and is the last record, or
    /// in an OPT record of their own. COOKIE options that stand there already are taken out.
    pub fn append(&self, client: usize, message: &mut Vec<u8>, opt: Option<usize>) {
        let opt = opt.unwrap_or_else(|| append_opt(message));
        let rdata = opt + 1 + FIXED_LEN;
        remove_cookies(message, rdata);
        let server = self.learnt[client].octets();
        message.extend_from_slice(&COOKIE.to_be_bytes());
        message.extend_from_slice(&((CLIENT_LEN + server.len()) as u16).to_be_bytes());
        message.extend_from_slice(&self.client_cookie(client));
        message.extend_from_slice(server);
        let rdata_len = (message.len() - rdata) as u16;
        message[rdata - 2..rdata].copy_from_slice(&rdata_len.to_be_bytes());
    }

    /// Looks at the cookies of an answer and learns the server's.
    pub fn check(&mut self, client: usize, answer: &Answer<'_>) -> CookieCheck {
        let mut options = options(answer.opt_rdata().unwrap_or_default());
        let Some((_, cookie)) = options.find(|(code, _)| *code == COOKIE) else {
            return CookieCheck::Absent;
        };
        let Some(server) = cookie.strip_prefix(&self.client_cookie(client)) else {
            return CookieCheck::WrongClient;
        };
        if !SERVER_LEN.contains(&server.len()) {
            return CookieCheck::WrongLength;
        }
        let learnt = &mut self.learnt[client];
        let is_known = learnt.octets() == server;
        learnt.len = server.len() as u8;
        learnt.octets[..server.len()].copy_from_slice(server);
        if answer.rcode() == BADCOOKIE {
            CookieCheck::BadCookie
        } else if is_known {
            CookieCheck::Known
        } else {
            CookieCheck::Learnt
        }
    }

    fn client_cookie(&self, client: usize) -> [u8; CLIENT_LEN] {
        Mix::new(self.seed, Purpose::ClientCookie, &[client as u64])
            .draw()
            .to_be_bytes()
    }
}

/// Appends an OPT record without options and says where it begins.
fn append_opt(message: &mut Vec<u8>) -> usize {
    let start = message.len();
    message.push(0);
    message.extend_from_slice(&rrtype::OPT.to_be_bytes());
    message.extend_from_slice(&UDP_SIZE.to_be_bytes());
    message.extend_from_slice(&[0; 6]);
    super::change_arcount(&mut message[..HEADER_LEN], 1);
    start
}

/// Takes the COOKIE options out of OPT's data, which are the octets of `message` from `rdata`.
fn remove_cookies(message: &mut Vec<u8>, rdata: usize) {
    let mut at = rdata;
    loop {
        let Some((code, data)) = options(&message[at..]).next() else {
            return;
        };
        let end = at + OPTION_HEAD + data.len();
        if code == COOKIE {
            message.drain(at..end);
        } else {
            at = end;
        }
    }
}

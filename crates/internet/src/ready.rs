//! Answers that were given over UDP, kept to be given again: a resolver that is started anew for every load asks the same once
//! more, and to write an answer anew takes longer than to send it.

use crate::cache::Cache;
use crate::query::{FLAG_RESPONSE, HEADER, NAME_MAX, find_opt};
use crate::servers::Alike;
use foldhash::quality::FixedState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Octets of what servers have in common, of the flags of a header, of a question with the longest name, and of what an OPT record says.
const ASKED_MAX: usize = size_of::<Alike>() + 2 + NAME_MAX + 4 + OPT_SAYS;
/// UDP payload, extended code, version and flags (RFC 6891 section 6.1.2).
const OPT_SAYS: usize = 6;
/// Octets that an entry takes beside what was asked and answered.
const ENTRY: usize = 64;
const RCODE: u8 = 0x0f;
const NOERROR: u8 = 0;
/// Questions without an answer of which it is known that they were asked, 256 kB.
const ONCE: usize = 1 << 16;

/// All that an answer over UDP depends on but the query's ID; letter case, which the answer's question repeats, aside.
pub(crate) struct Demand {
    octets: [u8; ASKED_MAX],
    len: usize,
    /// Where the question ends in the query.
    question_end: usize,
    hash: u64,
}

impl Demand {
    /// What a query whose question ends at `end` asks of a server; none if it is not one as resolvers send them: one question, an
    /// OPT record that can be read or none, and nothing else.
    pub fn of(server: Alike, message: &[u8], end: usize) -> Option<Self> {
        let opt = match find_opt(message, end) {
            Some(opt) => Some(opt.says(message)?),
            None if message[6..HEADER] == [0; 6] && message.len() == end => None,
            None => return None,
        };
        if message[2] & FLAG_RESPONSE != 0 {
            return None;
        }
        let mut this = Self {
            octets: [0; ASKED_MAX],
            len: 0,
            question_end: end,
            hash: 0,
        };
        this.push(&server.octets());
        this.push(&message[2..4]);
        let question = this.len;
        this.push(&message[HEADER..end]);
        // Lengths of labels are no letters.
        this.octets[question..this.len - 4].make_ascii_lowercase();
        this.push(opt.unwrap_or_default());
        this.hash = FixedState::with_seed(0x616e_7377).hash_one(this.octets());
        Some(this)
    }

    fn push(&mut self, octets: &[u8]) {
        self.octets[self.len..self.len + octets.len()].copy_from_slice(octets);
        self.len += octets.len();
    }

    fn octets(&self) -> &[u8] {
        &self.octets[..self.len]
    }
}

/// The answers.
#[derive(Debug)]
pub(crate) struct ReadyAnswers {
    /// By a hash of what was asked: that, and behind it the answer.
    known: Cache<u64, Arc<[u8]>>,
    /// A part of the hash of what was asked once, at a place that another part says.
    once: Box<[AtomicU32]>,
}

impl ReadyAnswers {
    /// Keeps answers of at most `octets`.
    pub fn new(octets: usize) -> Self {
        Self {
            known: Cache::new(octets),
            once: (0..ONCE).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Writes the answer to `message`, which asks for `asked`, to `out`, if it is known; returns its length.
    pub fn get(&self, asked: &Demand, message: &[u8], out: &mut [u8]) -> Option<usize> {
        let known = self.known.get(&asked.hash)?;
        let answer = known.strip_prefix(asked.octets())?;
        out.get_mut(..answer.len())?.copy_from_slice(answer);
        out[..2].copy_from_slice(&message[..2]);
        let question = HEADER..asked.question_end;
        out[question.clone()].copy_from_slice(&message[question]);
        Some(answer.len())
    }

    /// Keeps the answer to what was asked; one that is no data, as for names that do not exist, when it was asked for before: floods
    /// make up new ones each time.
    pub fn put(&self, asked: &Demand, answer: &[u8]) {
        let has_question = answer.len() >= asked.question_end && answer[4..6] == [0, 1];
        if !has_question || answer[3] & RCODE != NOERROR && !self.was_asked(asked.hash) {
            return;
        }
        let both: Arc<[u8]> = [asked.octets(), answer].concat().into();
        let octets = ENTRY + both.len();
        self.known.put(asked.hash, both, octets);
    }

    /// Octets that they take, about.
    pub fn octets(&self) -> usize {
        self.known.octets()
    }

    /// Whether it was asked before, as far as that is still known; takes it down.
    fn was_asked(&self, hash: u64) -> bool {
        let place = &self.once[hash as usize % ONCE];
        let mark = (hash >> 32) as u32;
        place.swap(mark, Ordering::Relaxed) == mark
    }
}

#[cfg(test)]
mod tests {
    use super::RCODE;
    use crate::query::question_end;
    use crate::{Arrived, Internet, InternetOptions, Profile, QueryNames, Scratch, ServerId};
    use dnsrig_answer::Transport;
    use proptest::prelude::*;
    use std::net::IpAddr;
    use std::sync::LazyLock;
    use std::time::Duration;

    fn internet(memory_octets: usize) -> Internet {
        let mut profile = Profile::load("small").unwrap();
        profile.faults.lame_share = 0.3;
        profile.faults.edns_formerr_share = 0.2;
        profile.faults.edns_ignored_share = 0.2;
        profile.faults.udp_512_share = 0.3;
        profile.faults.udp_4096_share = 0.3;
        let options = InternetOptions {
            memory_octets,
            has_distances: false,
            ..InternetOptions::new(7, 1_700_000_000)
        };
        Internet::new(&profile, options).unwrap()
    }

    /// One that keeps answers, and one that has no room for any.
    static BOTH: LazyLock<(Internet, Internet)> =
        LazyLock::new(|| (internet(256 << 20), internet(1 << 10)));

    fn ask(
        internet: &Internet,
        server: IpAddr,
        transport: Transport,
        message: &[u8],
    ) -> Option<Vec<u8>> {
        let mut out = vec![0; 65_535];
        let arrived = Arrived {
            server,
            transport,
            message,
            now: Duration::ZERO,
        };
        let answer = internet.answer(&arrived, &mut Scratch::default(), &mut out);
        answer.len.map(|len| out[..len].to_vec())
    }

    /// Octets of a query: header, question, and an OPT record with options if `edns` says its payload and flags.
    fn query(
        id: u16,
        flags: u16,
        name: &[u8],
        rtype: u16,
        edns: Option<(u16, u16, &[u8])>,
    ) -> Vec<u8> {
        let mut message = Vec::new();
        for number in [id, flags, 1, 0, 0, u16::from(edns.is_some())] {
            message.extend(number.to_be_bytes());
        }
        message.extend(name);
        message.extend(rtype.to_be_bytes());
        message.extend([0, 1]);
        if let Some((payload, flags, options)) = edns {
            message.extend([0, 0, 41]);
            message.extend(payload.to_be_bytes());
            message.extend([0, 0]);
            message.extend(flags.to_be_bytes());
            message.extend((options.len() as u16).to_be_bytes());
            message.extend(options);
        }
        message
    }

    fn in_other_case(name: &[u8], draw: u64) -> Vec<u8> {
        let octets = name.iter().enumerate();
        let other = octets.map(|(place, octet)| match draw >> (place % 64) & 1 {
            0 => octet.to_ascii_uppercase(),
            _ => *octet,
        });
        other.collect()
    }

    const A_COOKIE: [u8; 12] = [0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn an_answer_that_was_kept_is_the_one_that_is_made(
            place in 0..300usize, any_server: bool, other in 0..1000usize, flags in 0..0x0400u16, id: u16, case: u64,
            edns in proptest::option::of((0..4500u16, prop_oneof![Just(0u16), Just(0x8000)], 0..3usize)),
            rtype in proptest::option::of(prop_oneof![Just(2u16), Just(6), Just(43), Just(48), Just(255)]),
        ) {
            static QUESTIONS: LazyLock<Vec<crate::Asked>> = LazyLock::new(|| QueryNames::new(&BOTH.0, 3, 0.3).take(300).collect());
            let (keeping, making) = &*BOTH;
            let asked = &QUESTIONS[place];
            let rtype = rtype.unwrap_or(asked.rtype.to_int());
            let servers = keeping.servers().servers();
            // The root's servers, or any.
            let server = IpAddr::V4(servers[if any_server { other % servers.len() } else { other % 13 }].ipv4);
            let options: [&[u8]; 3] = [&[], &A_COOKIE, &A_COOKIE[..7]];
            let edns = edns.map(|(payload, flags, which)| (payload, flags, options[which]));
            // None but CD, AD, RD and the reserved bit.
            let flags = flags & 0x0170;
            let first = query(id, flags, asked.name.as_slice(), rtype, edns);
            let name = in_other_case(asked.name.as_slice(), case);
            let again = query(id ^ 0x5555, flags, &name, rtype, edns);
            for message in [&first, &again, &first] {
                let made = ask(making, server, Transport::Udp, message);
                prop_assert_eq!(&ask(keeping, server, Transport::Udp, message), &made);
                if let Some(made) = made.filter(|made| made[4..6] == [0, 1]) {
                    let end = question_end(message).unwrap();
                    prop_assert_eq!(&made[12..end], &message[12..end]);
                }
            }
        }
    }

    #[test]
    fn keeps_what_may_be_asked_again_within_its_memory() {
        // Its own: other tests ask those of `BOTH` at the same time.
        let keeping = internet(64 << 20);
        let servers = keeping.servers();
        let root = IpAddr::V4(servers.servers()[0].ipv4);
        assert_eq!(servers.at(root), Some(ServerId::Listed(0)));
        let before = keeping.memory().answers;
        let missing = query(1, 0, b"\x0dno-such-label\0", 1, None);
        let nxdomain = ask(&keeping, root, Transport::Udp, &missing).unwrap();
        assert_eq!(nxdomain[3] & RCODE, 3);
        let ns = query(1, 0, b"\0", 2, Some((1232, 0, &[])));
        for message in [&missing, &ns] {
            ask(&keeping, root, Transport::Tcp, message).unwrap();
        }
        assert_eq!(
            keeping.memory().answers,
            before,
            "neither missing names asked for once nor by TCP"
        );
        ask(&keeping, root, Transport::Udp, &missing).unwrap();
        let twice = keeping.memory().answers;
        assert!(twice > before);
        ask(&keeping, root, Transport::Udp, &ns).unwrap();
        let one = keeping.memory().answers;
        assert!(one > twice);
        let with_cookie = query(2, 0, b"\0", 2, Some((1232, 0, &A_COOKIE)));
        ask(&keeping, root, Transport::Udp, &with_cookie).unwrap();
        assert_eq!(
            keeping.memory().answers,
            one,
            "options do not alter answers"
        );
        let making = internet(1 << 10);
        ask(&making, root, Transport::Udp, &ns).unwrap();
        assert!(making.memory().answers <= (1 << 10) / 8);
    }
}

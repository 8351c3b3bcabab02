//! Accounts of what resolvers asked.

use crate::answer::Answer;
use crate::serve::Responding;
use crate::servers::ServerId;
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap};

/// Types beyond this are accounted for together, so that no stranger's queries fill the memory.
const TYPES_MAX: u16 = 257;
/// What they are accounted for as: a reserved type.
const OTHER_TYPES: u16 = u16::MAX;

/// Octets that the classes of answers' sizes end at: what UDP carries without EDNS, what resolvers offer, what fits into one packet
/// of 1500 octets over IPv4, what EDNS usually allows, and all that there is.
pub const SIZE_BOUNDS: [u16; 5] = [512, 1232, 1472, 4096, u16::MAX];

/// Who was asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServedBy {
    /// A server with an address of its own: its operator and its name.
    Server(String, String),
    /// One of the domains' own servers.
    OwnServers,
    /// No server has the address.
    Nobody,
}

/// What an account is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountKey {
    /// Who was asked.
    pub server: ServedBy,
    /// The type asked for; 65535 for uncommon ones.
    pub rtype: u16,
    /// Whether by TCP, otherwise by UDP.
    pub is_tcp: bool,
}

/// Queries and answers, octets without headers of transports below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Queries.
    pub queries: u64,
    /// Their octets.
    pub query_octets: u64,
    /// Answers that were given.
    pub answers: u64,
    /// Their octets.
    pub answer_octets: u64,
    /// Answers that were truncated.
    pub truncated: u64,
    /// Answers by size, in the classes of [`SIZE_BOUNDS`].
    pub sizes: [u64; SIZE_BOUNDS.len()],
}

impl Account {
    fn add_answer(&mut self, len: usize, is_truncated: bool) {
        self.answers += 1;
        self.answer_octets += len as u64;
        self.truncated += u64::from(is_truncated);
        // No message is longer than the last bound.
        let class = SIZE_BOUNDS.partition_point(|bound| usize::from(*bound) < len);
        self.sizes[class] += 1;
    }
}

type Key = (Option<ServerId>, u16, bool);

/// Accounts being kept.
#[derive(Debug, Default)]
pub(super) struct Accounts(HashMap<Key, Account, RandomState>);

impl Accounts {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a query and its answer, which begins `out`.
    pub fn add(&mut self, answer: &Answer, query_len: usize, is_tcp: bool, out: &[u8]) {
        let rtype = match answer.rtype {
            rtype @ ..=TYPES_MAX => rtype,
            _ => OTHER_TYPES,
        };
        let server = match answer.server {
            Some(ServerId::Own(_)) => Some(ServerId::Own(0)),
            server => server,
        };
        let account = self.0.entry((server, rtype, is_tcp)).or_default();
        account.queries += 1;
        account.query_octets += query_len as u64;
        if let Some(len) = answer.len {
            account.add_answer(len, out.get(2).is_some_and(|flags| flags & 2 != 0));
        }
    }

    /// Takes over what `other` has, and empties it; returns how many queries that were.
    pub fn take(&mut self, other: &mut Self) -> u64 {
        let mut queries = 0;
        for (key, more) in other.0.drain() {
            queries += more.queries;
            let account = self.0.entry(key).or_default();
            account.queries += more.queries;
            account.query_octets += more.query_octets;
            account.answers += more.answers;
            account.answer_octets += more.answer_octets;
            account.truncated += more.truncated;
            for (size, more) in account.sizes.iter_mut().zip(more.sizes) {
                *size += more;
            }
        }
        queries
    }

    /// All of them, in order.
    pub fn rows(&self, internet: &dyn Responding) -> Vec<(AccountKey, Account)> {
        let mut rows = BTreeMap::new();
        for ((server, rtype, is_tcp), account) in &self.0 {
            let served_by = match server {
                None => ServedBy::Nobody,
                Some(server) => internet.served_by(*server),
            };
            let key = AccountKey {
                server: served_by,
                rtype: *rtype,
                is_tcp: *is_tcp,
            };
            rows.insert(key, *account);
        }
        rows.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_size() {
        let mut all = Accounts::default();
        for len in [0, 512, 513, 1232, 1233, 1472, 1473, 4096, 4097, 65_535] {
            let mut some = Accounts::default();
            let answer = Answer {
                len: Some(len),
                delay: std::time::Duration::ZERO,
                server: None,
                rtype: 1,
            };
            some.add(&answer, 40, false, &[0; 12]);
            all.take(&mut some);
        }
        let found: Vec<&Account> = all.0.values().collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sizes, [2, 2, 2, 2, 2]);
    }
}

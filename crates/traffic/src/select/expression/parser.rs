//! From text to a condition: `or` binds least, then `and`, then `not`.

use super::time::parse_time;
use super::{MessageTerm, Node, TravelTerm};
use crate::message::Transport;
use dnsrig_zone::Name;
use domain::base::iana::{Class, Opcode, Rcode, Rtype};
use std::str::FromStr;

/// Parentheses in parentheses that are read: no more than a thread's stack holds by far.
const MAX_DEPTH: usize = 100;
const HINT: &str = "terms are zone, name, type, class, rcode, opcode, transport, client, server, after and before with values, \
and query, answer, aa, tc, rd, ra, ad, cd, edns, do, udp and tcp without; they are joined by and, or, not and parentheses";

pub fn parse(text: &str) -> Result<Node, String> {
    let mut parser = Parser {
        tokens: tokens(text),
        at: 0,
        depth: 0,
    };
    let node = parser.any()?;
    match parser.next() {
        None => Ok(node),
        Some(token) => Err(format!("'{token}' where and, or or the end should be")),
    }
}

/// Words, and parentheses outside them.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for mut word in text.split_ascii_whitespace() {
        while let Some(rest) = word.strip_prefix('(') {
            tokens.push("(");
            word = rest;
        }
        let bare = word.trim_end_matches(')');
        if !bare.is_empty() {
            tokens.push(bare);
        }
        tokens.extend(word[bare.len()..].bytes().map(|_| ")"));
    }
    tokens
}

struct Parser<'a> {
    tokens: Vec<&'a str>,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token
    }

    fn takes(&mut self, token: &str) -> bool {
        let is_there = self
            .tokens
            .get(self.at)
            .is_some_and(|next| next.eq_ignore_ascii_case(token));
        self.at += usize::from(is_there);
        is_there
    }

    fn any(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.all()?];
        while self.takes("or") {
            nodes.push(self.all()?);
        }
        Ok(one_or(nodes, Node::Any))
    }

    fn all(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.not()?];
        while self.takes("and") {
            nodes.push(self.not()?);
        }
        Ok(one_or(nodes, Node::All))
    }

    fn not(&mut self) -> Result<Node, String> {
        let mut is_negated = false;
        while self.takes("not") {
            is_negated = !is_negated;
        }
        let node = self.primary()?;
        Ok(match is_negated {
            true => Node::Not(Box::new(node)),
            false => node,
        })
    }

    fn primary(&mut self) -> Result<Node, String> {
        if !self.takes("(") {
            return self.term();
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} parentheses in one another"));
        }
        let node = self.any()?;
        self.depth -= 1;
        match self.takes(")") {
            true => Ok(node),
            false => Err("a parenthesis is not closed".into()),
        }
    }

    fn term(&mut self) -> Result<Node, String> {
        let token = self
            .next()
            .ok_or_else(|| format!("a term is missing; {HINT}"))?;
        let key = token.to_ascii_lowercase();
        if let Some(node) = word(&key) {
            return Ok(node);
        }
        if !is_key(&key) {
            return Err(format!("'{token}' is no term; {HINT}"));
        }
        let values = self
            .next()
            .filter(|values| !matches!(*values, "(" | ")"))
            .ok_or_else(|| format!("'{token}' needs a value"))?;
        with_values(&key, values)
    }
}

fn one_or(mut nodes: Vec<Node>, join: impl FnOnce(Vec<Node>) -> Node) -> Node {
    match nodes.len() {
        1 => nodes.swap_remove(0),
        _ => join(nodes),
    }
}

/// A term without values.
fn word(key: &str) -> Option<Node> {
    let flag = |bits| Node::Message(MessageTerm::Flag(bits));
    Some(match key {
        "query" => Node::Message(MessageTerm::Answer(false)),
        "answer" => Node::Message(MessageTerm::Answer(true)),
        "aa" => flag(0x0400),
        "tc" => flag(0x0200),
        "rd" => flag(0x0100),
        "ra" => flag(0x0080),
        "ad" => flag(0x0020),
        "cd" => flag(0x0010),
        "edns" => Node::Message(MessageTerm::Edns),
        "do" => Node::Message(MessageTerm::DnssecOk),
        "udp" => Node::Travel(TravelTerm::Transport(vec![Transport::Udp])),
        "tcp" => Node::Travel(TravelTerm::Transport(vec![Transport::Tcp])),
        _ => return None,
    })
}

fn is_key(key: &str) -> bool {
    matches!(
        key,
        "zone"
            | "name"
            | "type"
            | "class"
            | "rcode"
            | "opcode"
            | "transport"
            | "client"
            | "server"
            | "after"
            | "before"
    )
}

fn with_values(key: &str, text: &str) -> Result<Node, String> {
    let time = || {
        parse_time(text).ok_or_else(|| {
            format!("'{text}' is not a time such as 2026-11-22T18:05:00Z or 1795370700.25")
        })
    };
    Ok(match key {
        "zone" => Node::Message(MessageTerm::Zone(names(text)?)),
        "name" => Node::Message(MessageTerm::Name(names(text)?)),
        "type" => Node::Message(MessageTerm::Type(each(text, rtype)?)),
        "class" => Node::Message(MessageTerm::Class(each(text, class)?)),
        "rcode" => Node::Message(MessageTerm::Rcode(each(text, rcode)?)),
        "opcode" => Node::Message(MessageTerm::Opcode(each(text, opcode)?)),
        "transport" => Node::Travel(TravelTerm::Transport(each(text, transport)?)),
        "client" => Node::Travel(TravelTerm::Client(each(text, str::parse)?)),
        "server" => Node::Travel(TravelTerm::Server(each(text, str::parse)?)),
        "after" => Node::Travel(TravelTerm::After(time()?)),
        _ => Node::Travel(TravelTerm::Before(time()?)),
    })
}

fn each<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(read).collect()
}

/// Names, between which commas stand that are not escaped.
fn names(text: &str) -> Result<Vec<Box<[u8]>>, String> {
    let mut names = Vec::new();
    let (mut start, mut is_escaped) = (0, false);
    for (at, octet) in text.bytes().enumerate() {
        match octet {
            b',' if !is_escaped => {
                names.push(name(&text[start..at])?);
                start = at + 1;
            }
            _ => is_escaped = octet == b'\\' && !is_escaped,
        }
    }
    names.push(name(&text[start..])?);
    Ok(names)
}

fn name(text: &str) -> Result<Box<[u8]>, String> {
    let name = Name::from_str(text).map_err(|error| {
        format!("'{text}' is not a domain name: {error}; write one such as example.com")
    })?;
    Ok(name.as_slice().to_ascii_lowercase().into())
}

fn rtype(text: &str) -> Result<u16, String> {
    Rtype::from_str(text)
        .map(Rtype::to_int)
        .map_err(|_| format!("'{text}' is not a record type such as AAAA or TYPE65"))
}

fn class(text: &str) -> Result<u16, String> {
    match text.to_ascii_uppercase().as_str() {
        "ANY" => Ok(255),
        _ => Class::from_str(text)
            .map(Class::to_int)
            .map_err(|_| format!("'{text}' is not a class such as IN, CH or CLASS4")),
    }
}

/// Reads the mnemonic of a response code with up to twelve bits (RFC 6895 section 2.3), or its number.
fn rcode(text: &str) -> Result<u16, String> {
    const EXTENDED: [(&str, u16); 8] = [
        ("BADVERS", 16),
        ("BADSIG", 16),
        ("BADKEY", 17),
        ("BADTIME", 18),
        ("BADMODE", 19),
        ("BADNAME", 20),
        ("BADTRUNC", 22),
        ("BADCOOKIE", 23),
    ];
    let upper = text.to_ascii_uppercase();
    if let Some((_, code)) = EXTENDED.iter().find(|(mnemonic, _)| *mnemonic == upper) {
        return Ok(*code);
    }
    if let Some(number) = text.parse().ok().filter(|number| *number < 4096) {
        return Ok(number);
    }
    Rcode::from_str(&upper)
        .map(|code| code.to_int().into())
        .map_err(|()| format!("'{text}' is not a response code such as NXDOMAIN or 3"))
}

fn opcode(text: &str) -> Result<u8, String> {
    Opcode::from_str(&text.to_ascii_uppercase())
        .map(Opcode::to_int)
        .ok()
        .filter(|code| *code < 16)
        .ok_or_else(|| format!("'{text}' is not an opcode such as UPDATE or 5"))
}

fn transport(text: &str) -> Result<Transport, String> {
    let lower = text.to_ascii_lowercase();
    Transport::ALL
        .into_iter()
        .find(|transport| transport.name() == lower)
        .ok_or_else(|| {
            format!("'{text}' is not one of the transports udp, tcp, tls, https, quic and unknown")
        })
}

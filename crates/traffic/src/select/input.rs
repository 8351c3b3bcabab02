//! Messages of captures, query files and binary messages alike.

use super::clients::ClientHash;
use crate::error::TrafficError;
use crate::message::{Endpoint, Message, SentLen, Transport};
use crate::read::{ReadSummary, Reading, found, messages};
use crate::wire::View;
use dnsrig_stream::MessageOptions;
use dnsrig_stream::text::queries::{self, Client};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::ControlFlow;
use std::path::Path;

/// The port from which clients of query files send.
const CLIENT_PORT: u16 = 40_000;
/// Numbers of clients that an IPv4 address stands for.
const IPV4_NUMBERS: u32 = 1 << 24;

/// What a file of messages is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// pcap, pcapng, dnstap or C-DNS.
    Capture,
    /// A query file: lines of name, type and options.
    Text,
    /// Each message after its length: what `dnsrig load -B` and `dnsperf -B` read.
    Binary,
}

impl Form {
    /// What a file's name says: `.txt` and `.text` are query files, `.bin` binary messages, all else captures.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("txt" | "text") => Self::Text,
            Some("bin") => Self::Binary,
            _ => Self::Capture,
        }
    }
}

/// What stands for that which query files and binary messages do not tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StandIns {
    /// The server; by default 192.0.2.53 for clients of IPv4, 2001:db8::53 for those of IPv6.
    pub server: Option<IpAddr>,
    /// The server's port.
    pub port: u16,
    /// Queries a second where queries have no times; the first is then at 1970.
    pub rate_qps: f64,
    /// Leaves out bad lines of query files, and counts them.
    pub skip_bad: bool,
}

impl Default for StandIns {
    fn default() -> Self {
        Self {
            server: None,
            port: 53,
            rate_qps: 1000.0,
            skip_bad: false,
        }
    }
}

impl StandIns {
    /// Checks that the rate is one.
    ///
    /// # Errors
    /// [`TrafficError::Setting`].
    pub fn check(&self) -> Result<(), TrafficError> {
        if self.rate_qps.is_finite() && self.rate_qps > 0.0 {
            return Ok(());
        }
        Err(TrafficError::Setting {
            why: format!(
                "{} is no rate; give queries a second, more than 0",
                self.rate_qps
            ),
        })
    }

    fn message<'a>(&self, query: &Unplaced<'a>, number: u64) -> Message<'a> {
        let (client, server) = match (query.client, self.server) {
            (client, Some(server)) => (client, server),
            (client @ IpAddr::V4(_), None) => (client, Ipv4Addr::new(192, 0, 2, 53).into()),
            (client @ IpAddr::V6(_), None) => {
                let server = Ipv6Addr::new(0x2001, 0xDB8, 0, 0, 0, 0, 0, 0x53);
                (client, server.into())
            }
        };
        let time_ns = query
            .time_ns
            .unwrap_or_else(|| ((number - 1) as f64 * 1e9 / self.rate_qps) as i64);
        Message {
            time_ns,
            source: Endpoint::new(client, CLIENT_PORT),
            destination: Endpoint::new(server, self.port),
            transport: Transport::Udp,
            octets: query.octets,
            is_cut: false,
            sent_len: SentLen::Own,
            number,
        }
    }
}

/// A query of a file that tells little more.
struct Unplaced<'a> {
    octets: &'a [u8],
    time_ns: Option<i64>,
    client: IpAddr,
}

/// The address of a client that a query file names, the same in every file: 10.0.0.0/8 has the first 2^24 numbers,
/// fd00::/96 the others; who is not named is 192.0.2.1.
fn client_address(client: Option<Client>) -> IpAddr {
    match client {
        None => Ipv4Addr::new(192, 0, 2, 1).into(),
        Some(Client::Address(address)) => address,
        Some(Client::Number(number)) if number < IPV4_NUMBERS => {
            Ipv4Addr::from_bits(10 << 24 | number).into()
        }
        Some(Client::Number(number)) => {
            Ipv6Addr::from_bits(0xFD00 << 112 | u128::from(number)).into()
        }
    }
}

/// A message of any input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming<'a> {
    pub message: Message<'a>,
    /// Whether its time is the file's, not made up.
    pub is_timed: bool,
}

/// What was read of any input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InputSummary {
    /// Of captures.
    pub read: ReadSummary,
    /// Messages.
    pub messages: u64,
    /// Bad lines of query files that were left out.
    pub bad_lines: u64,
}

/// Gives all messages of the files, which are all of `form`, to `sink`, which ends the reading by breaking.
///
/// # Errors
/// Those of reading, and [`TrafficError::NoMessages`] for captures without any.
pub(super) fn each_message(
    reading: &Reading<'_>,
    form: Form,
    stand_ins: &StandIns,
    mut sink: impl FnMut(Incoming<'_>) -> ControlFlow<()>,
) -> Result<InputSummary, TrafficError> {
    stand_ins.check()?;
    let mut summary = InputSummary::default();
    match form {
        Form::Capture => {
            let count = &mut summary.messages;
            let (mut is_dns, mut is_over) = (false, false);
            summary.read = messages(reading, |message| {
                *count += 1;
                is_dns = is_dns || View::parse(message.octets).is_ok();
                let given = sink(Incoming {
                    message,
                    is_timed: true,
                });
                is_over = given.is_break();
                given
            })?;
            // Who breaks off knows why, and has not seen what comes after.
            if !is_dns && !is_over {
                let reasons = summary.read.left_out.reasons();
                let malformed = [(summary.messages, "with malformed messages")];
                return Err(TrafficError::NoMessages {
                    files: reading.names(),
                    found: found(&summary.read.files, reasons.into_iter().chain(malformed)),
                });
            }
        }
        Form::Text => each_line(reading, stand_ins, &mut summary, &mut sink)?,
        Form::Binary => each_binary(reading, stand_ins, &mut summary, &mut sink)?,
    }
    Ok(summary)
}

fn each_line(
    reading: &Reading<'_>,
    stand_ins: &StandIns,
    summary: &mut InputSummary,
    sink: &mut impl FnMut(Incoming<'_>) -> ControlFlow<()>,
) -> Result<(), TrafficError> {
    let mut numbered = Vec::new();
    for file in reading.files {
        let count = &mut summary.messages;
        let mut is_over = false;
        summary.bad_lines += queries::each(
            file,
            &MessageOptions::default(),
            stand_ins.skip_bad,
            reading.cancel,
            |query| {
                *count += 1;
                numbered.clear();
                numbered.extend_from_slice(query.message);
                // Lines have no ID; numbers let what matches answers by it do so.
                numbered[..2].copy_from_slice(&(*count as u16).to_be_bytes());
                let unplaced = Unplaced {
                    octets: &numbered,
                    time_ns: query.time_ns,
                    client: client_address(query.client),
                };
                let given = sink(Incoming {
                    message: stand_ins.message(&unplaced, *count),
                    is_timed: query.time_ns.is_some(),
                });
                is_over = given.is_break();
                given
            },
        )?;
        if is_over {
            break;
        }
    }
    Ok(())
}

fn each_binary(
    reading: &Reading<'_>,
    stand_ins: &StandIns,
    summary: &mut InputSummary,
    sink: &mut impl FnMut(Incoming<'_>) -> ControlFlow<()>,
) -> Result<(), TrafficError> {
    for file in reading.files {
        let count = &mut summary.messages;
        let mut is_over = false;
        dnsrig_stream::binary::each(file, reading.cancel, |octets| {
            *count += 1;
            let unplaced = Unplaced {
                octets,
                time_ns: None,
                client: client_address(None),
            };
            let given = sink(Incoming {
                message: stand_ins.message(&unplaced, *count),
                is_timed: false,
            });
            is_over = given.is_break();
            given
        })?;
        if is_over {
            break;
        }
    }
    Ok(())
}

/// Decides about things by their numbers: so many of them, at random, the same with the same key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dice {
    hash: ClientHash,
    share: f64,
}

impl Dice {
    pub fn new(key: u64, share: f64) -> Self {
        Self {
            hash: ClientHash::new(key),
            share,
        }
    }

    /// How many times what has `number` is taken: a share of 2.3 gives 2 or 3 times.
    pub fn times(&self, number: u64) -> u64 {
        let fraction =
            super::clients::Share::new(self.share.fract()).unwrap_or(super::clients::Share::ALL);
        self.share as u64 + u64::from(fraction.has(self.hash.of_number(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_that_are_numbers_have_addresses_of_their_own() {
        for (client, expected) in [
            (None, "192.0.2.1"),
            (Some(Client::Number(0)), "10.0.0.0"),
            (Some(Client::Number(0x00FF_FFFF)), "10.255.255.255"),
            (Some(Client::Number(0x0100_0000)), "fd00::100:0"),
            (Some(Client::Address(IpAddr::from([1, 2, 3, 4]))), "1.2.3.4"),
        ] {
            assert_eq!(client_address(client).to_string(), expected);
        }
    }

    #[test]
    fn dice_take_what_the_share_says() {
        for (share, least, most) in [
            (0.0, 0, 0),
            (0.25, 2_300, 2_700),
            (1.0, 10_000, 10_000),
            (2.5, 24_700, 25_300),
        ] {
            let dice = Dice::new(1, share);
            let taken: u64 = (0..10_000).map(|number| dice.times(number)).sum();
            assert!((least..=most).contains(&taken), "{share}: {taken}");
        }
    }

    #[test]
    fn names_say_what_files_are() {
        for (name, form) in [
            ("q.txt", Form::Text),
            ("q.text", Form::Text),
            ("q.bin", Form::Binary),
            ("q.pcap.zst", Form::Capture),
            ("-", Form::Capture),
        ] {
            assert_eq!(Form::of(Path::new(name)), form);
        }
    }
}

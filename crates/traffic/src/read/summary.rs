//! What was read.

use super::LeftOut;
use super::assembly::AssemblyCounts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What packets are that nothing is known of.
const UNKNOWN_LINK: &str = "of an unknown link type";

/// One file that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSummary {
    /// Its path.
    #[serde(serialize_with = "crate::paths::lossy")]
    pub file: PathBuf,
    /// Its format: `pcap`, `pcapng`, `dnstap` or `c-dns`.
    pub format: String,
    /// Packets in it, or messages of a format without packets.
    pub packets: u64,
    /// Packets without a time of their own, which got that of the packet before.
    pub without_time: u64,
    /// Packets with an earlier time than the packet before.
    #[serde(default)]
    pub back_in_time: u64,
    /// By how much the earliest of them in ns.
    #[serde(default)]
    pub furthest_back_ns: u64,
    /// Packets of which it holds the beginning only, as a snapshot length leaves it.
    #[serde(default)]
    pub cut_packets: u64,
    /// The most octets that it holds of one of these.
    #[serde(default)]
    pub cut_at: u32,
    /// The link type of its last packet (<https://www.tcpdump.org/linktypes.html>); `None` without packets.
    #[serde(default)]
    pub link_type: Option<u16>,
    /// Whether it ends inside a packet, as when it is still being written.
    pub is_cut_off: bool,
    /// What was wrong after its last packet, so that what comes then could not be read.
    pub damage: Option<String>,
}

impl FileSummary {
    /// Why it was not read to its end, and after which packet, for messages; nothing of a whole file.
    pub fn faults(&self) -> impl Iterator<Item = String> {
        let after = format!("after packet {}", self.packets);
        let name = self.file.display();
        let cut_off = self
            .is_cut_off
            .then(|| format!("{name} is cut off {after}"));
        let damage = self.damage.as_ref();
        let damaged = damage.map(|why| format!("{name} is damaged {after}: {why}"));
        cut_off.into_iter().chain(damaged)
    }
}

/// What was read of all files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSummary {
    /// The files in the order in which they were read.
    pub files: Vec<FileSummary>,
    /// Packets that hold nothing of DNS, where [`super::messages`] read them; otherwise who decodes them counts them.
    #[serde(skip)]
    pub left_out: PacketCounts,
    /// What became of fragments and TCP, as above.
    #[serde(skip)]
    pub assembly: AssemblyCounts,
}

impl ReadSummary {
    /// What the files hold instead of the messages that [`super::messages`] was to read, for an error, and what to do.
    pub fn instead(&self) -> String {
        let fragments = &self.assembly.fragments;
        let lost = [
            (
                fragments.incomplete + fragments.bad,
                "in fragments that make no packet",
            ),
            (self.assembly.tcp.packets, "of TCP without a whole message"),
        ];
        found(&self.files, self.left_out.reasons().into_iter().chain(lost))
    }

    /// Packets in all files.
    pub fn packets(&self) -> u64 {
        self.files.iter().map(|file| file.packets).sum()
    }
}

/// Adds to `text`, which says how many there are, those that are something.
pub(crate) fn of_which(
    mut text: String,
    reasons: impl IntoIterator<Item = (u64, &'static str)>,
) -> String {
    let reasons = reasons.into_iter().filter(|(count, _)| *count > 0);
    for (place, (count, what)) in reasons.enumerate() {
        let separator = if place == 0 { ", of which " } else { ", " };
        text.push_str(&format!("{separator}{count} {what}"));
    }
    text
}

/// What `files` hold instead of DNS messages, for an error, and what to do. `reasons` are packets and what they are.
pub(crate) fn found(
    files: &[FileSummary],
    reasons: impl IntoIterator<Item = (u64, &'static str)>,
) -> String {
    let packets: u64 = files.iter().map(|file| file.packets).sum();
    let reasons: Vec<_> = reasons.into_iter().collect();
    let unknown: u64 = reasons
        .iter()
        .filter(|(_, what)| *what == UNKNOWN_LINK)
        .map(|(count, _)| count)
        .sum();
    let has_unknown_links = packets > 0 && unknown == packets;
    let mut text = of_which(format!("{packets} packets"), reasons);
    for file in files {
        text.extend(file.faults().map(|fault| format!("; {fault}")));
    }
    if has_unknown_links {
        let types = files.iter().filter_map(|file| file.link_type);
        let types: BTreeSet<String> = types.map(|link_type| link_type.to_string()).collect();
        let types = types.into_iter().collect::<Vec<_>>().join(", ");
        text.push_str(&format!(
            "; read are Ethernet, Linux cooked (SLL, SLL2), raw IP and loopback, not link type {types} (tcpdump.org/linktypes.html)"
        ));
        return text;
    }
    let is_whole = !files
        .iter()
        .any(|file| file.is_cut_off || file.damage.is_some());
    text.push_str(match (packets > 0, is_whole) {
        (true, true) => {
            "; check the port (--port), the snapshot length (tcpdump -s 0) and that the capture holds DNS in clear"
        }
        (true, false) => {
            "; give the whole file, and check the port (--port), the snapshot length (tcpdump -s 0) and that the capture holds DNS in clear"
        }
        (false, true) => "; give a capture that holds packets",
        (false, false) => "; give the whole file",
    });
    text
}

/// Packets that hold nothing of DNS, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketCounts {
    /// Neither IPv4 nor IPv6.
    pub not_ip: u64,
    /// Of a link type that is not known.
    pub unknown_link: u64,
    /// Cut off by the snapshot length inside a header.
    pub cut_short: u64,
    /// With headers that contradict themselves.
    pub bad_header: u64,
    /// Neither UDP nor TCP.
    pub other_protocol: u64,
    /// Neither to nor from a DNS port.
    pub other_port: u64,
}

impl PacketCounts {
    /// The counts, and what the packets are.
    pub(crate) fn reasons(&self) -> [(u64, &'static str); 6] {
        [
            (self.not_ip, "not IP"),
            (self.unknown_link, UNKNOWN_LINK),
            (self.cut_short, "cut off inside a header"),
            (self.bad_header, "with bad headers"),
            (self.other_protocol, "neither UDP nor TCP"),
            (self.other_port, "of other ports"),
        ]
    }

    /// Counts a packet.
    #[inline]
    pub fn count(&mut self, why: LeftOut) {
        *match why {
            LeftOut::NotIp => &mut self.not_ip,
            LeftOut::UnknownLink => &mut self.unknown_link,
            LeftOut::CutShort => &mut self.cut_short,
            LeftOut::BadHeader => &mut self.bad_header,
            LeftOut::OtherProtocol => &mut self.other_protocol,
            LeftOut::OtherPort => &mut self.other_port,
        } += 1;
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.not_ip
            + self.unknown_link
            + self.cut_short
            + self.bad_header
            + self.other_protocol
            + self.other_port
    }

    /// Adds the counts of another part.
    pub fn add(&mut self, other: &Self) {
        self.not_ip += other.not_ip;
        self.unknown_link += other.unknown_link;
        self.cut_short += other.cut_short;
        self.bad_header += other.bad_header;
        self.other_protocol += other.other_protocol;
        self.other_port += other.other_port;
    }
}

//! The same questions to the responder and to real servers: response code, AA and the records of each section must agree.

use super::questions::{NAMES, TYPES, query};
use super::servers::{Kind, Server};
use super::signed::{Signing, installed, write_zone};
use dnsrig_answer::{Answers, Options, Reply, Responder, Scratch, Transport};
use dnsrig_zone::Zone;
use domain::base::iana::{OptRcode, Rtype};
use domain::base::name::ToName;
use domain::base::{Message, RecordSection};
use domain::rdata::AllRecordData;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A response, as far as two correct servers agree on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub rcode: OptRcode,
    pub authoritative: bool,
    pub truncated: bool,
    pub sections: [BTreeSet<String>; 3],
}

impl Seen {
    pub fn of(response: &[u8]) -> Self {
        let message = Message::from_octets(response).expect("a message");
        let section = |section: RecordSection<'_, &[u8]>| {
            section
                .map(|record| record.expect("a whole record"))
                .filter(|record| record.rtype() != Rtype::OPT)
                .map(|record| {
                    let record = record
                        .into_any_record::<AllRecordData<_, _>>()
                        .expect("valid data");
                    let (owner, ttl) = (record.owner().fmt_with_dot(), record.ttl().as_secs());
                    format!("{owner} {ttl} {} {}", record.rtype(), record.data())
                        .to_ascii_lowercase()
                })
                .collect()
        };
        Self {
            rcode: message.opt_rcode(),
            authoritative: message.header().aa(),
            truncated: message.header().tc(),
            sections: [
                section(message.answer().expect("an answer section")),
                section(message.authority().expect("an authority section")),
                section(message.additional().expect("an additional section")),
            ],
        }
    }

    fn answers_with(&self, rtype: &str) -> bool {
        self.sections[0]
            .iter()
            .any(|record| record.split(' ').nth(2) == Some(rtype))
    }

    fn has_delegation(&self) -> bool {
        self.sections[1]
            .iter()
            .any(|record| record.contains(".example. 3600 ns "))
    }

    fn drop_denial(&mut self) {
        let is_denial = |record: &String| record.contains(" nsec ") || record.contains(" nsec3 ");
        self.sections[1].retain(|record| !is_denial(record) && !record.contains(" rrsig soa "));
    }

    fn describe(&self) -> String {
        let mut text = format!(
            "  {} aa={} tc={}\n",
            self.rcode, self.authoritative, self.truncated
        );
        for (name, records) in ["answer", "authority", "additional"]
            .iter()
            .zip(&self.sections)
        {
            for record in records {
                let short: String = record.chars().take(110).collect();
                text.push_str(&format!("    {name:10} {short}\n"));
            }
        }
        text
    }
}

pub fn responder(zone: &Path, answers: Answers) -> Responder {
    let zone = Zone::read(zone, None).expect("the test zone is valid");
    let options = Options {
        answers,
        udp_payload: 4096,
    };
    Responder::new([Arc::new(zone)], options).expect("the test zone can be served")
}

fn answer(responder: &Responder, query: &[u8], transport: Transport) -> Vec<u8> {
    let mut out = vec![0; 65_535];
    match responder.answer(query, transport, &mut Scratch::default(), &mut out) {
        Reply::Message { len, .. } => out.truncate(len),
        other => panic!("no response: {other:?}"),
    }
    out
}

/// Brings both responses to what they must agree on, where the other server has its own way; each with its reason.
fn settle(
    kind: Kind,
    signing: Signing,
    name: &str,
    rtype: Rtype,
    ours: &mut Seen,
    theirs: &mut Seen,
) {
    // BIND and Knot DNS do not prove that a wildcard which is an empty non-terminal has no data.
    let empty_wildcard = name.ends_with("x.went.example.") && signing == Signing::Nsec;
    let mut ignore_denial = empty_wildcard && kind != Kind::Nsd;
    match kind {
        Kind::Nsd => {
            // NSD 4.6.1 does not prove denial for a name that a DNAME led to, or proves it for the wrong name.
            ignore_denial |= ours.answers_with("dname");
            // It proves more than needed when a wildcard's own name is asked for.
            ignore_denial |= name.starts_with("*.") && signing != Signing::Nsec;
            // It does not look for the closest provable encloser where opt-out left an empty non-terminal out of the chain.
            ignore_denial |= signing == Signing::Nsec3OptOut
                && (name.contains("del.") || name.contains("optout."));
            // It follows an alias when asked for NSEC.
            if rtype == Rtype::NSEC && theirs.answers_with("cname") && !ours.answers_with("cname") {
                theirs.clone_from(ours);
            }
        }
        Kind::Knot => {
            // Knot DNS sends the addresses of MX and SRV targets.
            if theirs.answers_with("mx") || theirs.answers_with("srv") {
                theirs.sections[2].clear();
            }
            // It takes an NSEC record made from a wildcard's for its own proof.
            ignore_denial |= rtype == Rtype::NSEC && ours.answers_with("nsec");
        }
        Kind::BindMinimal | Kind::BindFull => {
            // BIND answers a loop of aliases with SERVFAIL.
            if ["loop1.example.", "self.example."].contains(&name) {
                theirs.rcode = ours.rcode;
            }
            // It answers NSEC at a zone cut from the parent.
            if rtype == Rtype::NSEC && theirs.answers_with("nsec") && !ours.authoritative {
                theirs.clone_from(ours);
            }
            // In referrals it leaves out addresses that the zone is authoritative for.
            if ours.has_delegation() {
                for seen in [ours, theirs] {
                    seen.sections[2].retain(|record| !record.starts_with("ns1.example. "));
                }
                return;
            }
        }
    }
    if ignore_denial {
        ours.drop_denial();
        theirs.drop_denial();
    }
}

fn compare(kind: Kind, signing: Signing) {
    let (program, package) = kind.program_and_package();
    if !installed(program, package) || !installed("dnssec-signzone", "bind9-dnsutils") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let zone = write_zone(folder.path(), signing);
    let mut server = Server::start(kind, folder.path(), &zone);
    let answers = if kind == Kind::BindFull {
        Answers::Full
    } else {
        Answers::Minimal
    };
    let responder = responder(&zone, answers);
    let mut differences = Vec::new();
    for name in NAMES {
        for rtype in TYPES {
            for edns in [None, Some(false), Some(true)] {
                let query = query(name, rtype, edns);
                let mut ours = Seen::of(&answer(&responder, &query, Transport::Tcp));
                let mut theirs = Seen::of(&server.ask_tcp(&query));
                settle(kind, signing, name, rtype, &mut ours, &mut theirs);
                if ours != theirs {
                    differences.push(format!(
                        "{name} {rtype} DO={edns:?}\n  ours:\n{}  theirs:\n{}",
                        ours.describe(),
                        theirs.describe()
                    ));
                }
            }
        }
    }
    let shown: String = differences.iter().take(20).map(String::as_str).collect();
    assert!(
        differences.is_empty(),
        "{} differences from {kind:?}:\n{shown}",
        differences.len()
    );
}

macro_rules! comparisons {
    ($($name:ident: $kind:ident $signing:ident;)*) => {
        $(#[test]
        fn $name() {
            compare(Kind::$kind, Signing::$signing);
        })*
    };
}

comparisons! {
    unsigned_as_nsd: Nsd Unsigned;
    unsigned_as_knot: Knot Unsigned;
    unsigned_as_bind: BindMinimal Unsigned;
    unsigned_as_bind_with_full_answers: BindFull Unsigned;
    nsec_as_nsd: Nsd Nsec;
    nsec_as_knot: Knot Nsec;
    nsec_as_bind: BindMinimal Nsec;
    nsec_as_bind_with_full_answers: BindFull Nsec;
    nsec3_as_nsd: Nsd Nsec3;
    nsec3_as_knot: Knot Nsec3;
    nsec3_as_bind: BindMinimal Nsec3;
    nsec3_as_bind_with_full_answers: BindFull Nsec3;
    opt_out_as_nsd: Nsd Nsec3OptOut;
    opt_out_as_knot: Knot Nsec3OptOut;
    opt_out_as_bind: BindMinimal Nsec3OptOut;
}

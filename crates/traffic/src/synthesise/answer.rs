//! Answers as a server might have given them, of the right sizes rather than of the right content.

mod records;

use super::quotas::{Category, Outcome, Request};
use super::random::{Random, mix};
use crate::profile::{AnswerFigures, Quantiles};
use crate::wire::View;
use domain::base::iana::{Class, Rcode, Rtype};
use records::Records;

const QR: u16 = 0x8000;
const AA: u16 = 0x0400;
const TC: u16 = 0x0200;
const RD: u16 = 0x0100;
const RA: u16 = 0x0080;
const AD: u16 = 0x0020;
const CD: u16 = 0x0010;
const OPCODE: u16 = 0x7800;
/// What an answer takes over of the query.
const COPIED: u16 = OPCODE | RD | CD;
const NS_A_MS: f64 = 1e6;
/// The UDP size of a client without EDNS (RFC 1035 section 4.2.1), and of the OPT records of answers.
const CLASSIC_SIZE: u16 = 512;
const OWN_SIZE: u16 = 1232;

/// How a server answers.
#[derive(Debug)]
pub(super) struct Answering {
    figures: AnswerFigures,
    latency_ms: Quantiles,
}

/// What is answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub category: &'a Category,
    pub request: &'a Request,
    /// The query.
    pub query: &'a [u8],
    /// Bits that are always the same for a name.
    pub name_bits: u64,
    pub ttl_s: u32,
}

impl Answering {
    /// As `figures` say.
    pub fn new(figures: &AnswerFigures) -> Self {
        Self {
            latency_ms: Quantiles::new(&figures.latency_ms).expect("checked with the profile"),
            figures: figures.clone(),
        }
    }

    /// Makes the answer and gives the time that it takes; `None` if there is none.
    pub fn compose(
        &self,
        asked: &Asked<'_>,
        random: &mut Random,
        message: &mut Vec<u8>,
    ) -> Option<u64> {
        message.clear();
        let latency_ns = (self.latency_ms.at(random.unit()) * NS_A_MS) as u64;
        let is_truncated = random.chance(self.figures.truncated) && !asked.request.is_tcp;
        let has_ra = random.chance(self.figures.ra);
        let has_ad = random.chance(self.figures.ad);
        if random.chance(self.figures.unanswered) {
            return None;
        }
        let view = View::parse(asked.query).ok()?;
        let question = view.question?;
        let opt = view.opt().ok()?;
        let rcode = match asked.category.outcome {
            Outcome::Failed(rcode) => rcode,
            Outcome::Data | Outcome::NoData => Rcode::NOERROR,
        };
        let chosen = [
            (asked.request.is_authoritative, AA),
            (is_truncated, TC),
            (has_ra, RA),
            (has_ad && rcode == Rcode::NOERROR, AD),
        ];
        let chosen: u16 = chosen
            .iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, flag)| flag)
            .sum();
        message.extend_from_slice(&asked.query[..question.end]);
        let flags = view.header.flags & COPIED | QR | chosen | u16::from(rcode.to_int());
        message[2..4].copy_from_slice(&flags.to_be_bytes());
        message[6..12].fill(0);
        // Room that records may take; an OPT record is 11 octets.
        let size = opt.map_or(CLASSIC_SIZE, |opt| {
            opt.udp_size.clamp(CLASSIC_SIZE, OWN_SIZE)
        });
        let room = usize::from(size) - 11 * usize::from(opt.is_some());
        if asked.category.is_query() && !is_truncated {
            let mut records = Records::new(message, asked.ttl_s, asked.name_bits, room);
            self.push_records(asked, rcode, &mut records);
            if message.len() > room && !asked.request.is_tcp {
                // As servers do with what the client does not take (RFC 2181 section 9).
                message.truncate(question.end);
                message[2] |= (TC >> 8) as u8;
                message[6..12].fill(0);
            }
        }
        if let Some(opt) = opt {
            push_opt(opt.dnssec_ok, message);
        }
        Some(latency_ns)
    }

    fn push_records(&self, asked: &Asked<'_>, rcode: Rcode, records: &mut Records<'_>) {
        let of_internet = asked.category.class == Class::IN;
        let refers = self.figures.referrals && !asked.request.is_authoritative;
        match (asked.category.outcome, rcode) {
            (Outcome::Data, _) if refers && of_internet => records.push_referral(),
            (Outcome::Data, _) => {
                let is_address = matches!(asked.category.rtype, Rtype::A | Rtype::AAAA);
                let draw = super::random::unit(mix(asked.name_bits ^ 0xA11A5));
                if is_address && draw < self.figures.aliases {
                    records.push_alias();
                }
                records.push_data(asked.category.class, asked.category.rtype);
            }
            (Outcome::NoData, _) | (_, Rcode::NXDOMAIN) if of_internet => {
                records.push_start_of_authority(self.figures.referrals);
            }
            _ => {}
        }
    }
}

/// Appends an OPT record (RFC 6891) and counts it.
fn push_opt(dnssec_ok: bool, message: &mut Vec<u8>) {
    message[11] += 1;
    message.push(0);
    message.extend_from_slice(&Rtype::OPT.to_int().to_be_bytes());
    message.extend_from_slice(&OWN_SIZE.to_be_bytes());
    message.extend_from_slice(&[0, 0, u8::from(dnssec_ok) << 7, 0, 0, 0]);
}

#[cfg(test)]
mod tests {
    use super::super::names::{Kind, NameId, Names};
    use super::super::query::Dress;
    use super::super::random::Purpose;
    use super::*;
    use crate::profile::Profile;
    use crate::wire::Section;
    use domain::base::Message;
    use domain::base::iana::Opcode;
    use domain::rdata::AllRecordData;

    /// An answer, checked by `domain` record by record.
    fn answer(
        profile: &Profile,
        rtype: Rtype,
        outcome: Outcome,
        is_authoritative: bool,
        number: u64,
    ) -> Vec<u8> {
        let names = Names::new(profile, 1);
        let category = Category {
            opcode: Opcode::QUERY,
            class: Class::IN,
            rtype,
            outcome,
        };
        let request = Request {
            category: 0,
            recursion_desired: true,
            is_authoritative,
            is_tcp: false,
            has_abandoned_session: false,
        };
        let name = NameId {
            kind: Kind::Existing,
            number,
        };
        let (mut wire, mut query, mut message) = (Vec::new(), Vec::new(), Vec::new());
        names.push(name, rtype, &mut wire);
        let mut random = Random::new(number, Purpose::Messages);
        Dress::new(&profile.queries).compose(&category, &request, &wire, &mut random, &mut query);
        let asked = Asked {
            category: &category,
            request: &request,
            query: &query,
            name_bits: name.hash(),
            ttl_s: 300,
        };
        let latency = Answering::new(&profile.answers).compose(&asked, &mut random, &mut message);
        assert!(latency.is_some());
        let parsed = Message::from_octets(&message[..]).unwrap();
        for record in parsed.answer().unwrap().chain(parsed.authority().unwrap()) {
            let record = record.unwrap();
            record.to_record::<AllRecordData<_, _>>().unwrap().unwrap();
        }
        message
    }

    fn sections(message: &[u8]) -> [usize; 3] {
        let view = View::parse(message).unwrap();
        let mut counts = [0; 3];
        for record in view.records() {
            counts[record.unwrap().section as usize] += 1;
        }
        assert_eq!(
            view.records()
                .last()
                .map_or(view.questions_end, |record| record.unwrap().rdata.end),
            message.len()
        );
        counts
    }

    fn profile(name: &str) -> Profile {
        let mut profile = Profile::open(name).unwrap();
        (profile.answers.unanswered, profile.answers.truncated) = (0.0, 0.0);
        profile
    }

    #[test]
    fn every_type_has_data_that_can_be_read() {
        let profile = profile("resolver-2022");
        for rtype in [
            Rtype::A,
            Rtype::AAAA,
            Rtype::NS,
            Rtype::SOA,
            Rtype::PTR,
            Rtype::MX,
            Rtype::TXT,
            Rtype::SRV,
            Rtype::HTTPS,
            Rtype::SVCB,
            Rtype::DS,
            Rtype::DNSKEY,
            Rtype::CNAME,
            Rtype::CAA,
            Rtype::NAPTR,
            Rtype::ANY,
            Rtype::from_int(65_000),
        ] {
            for number in 0..50 {
                let message = answer(&profile, rtype, Outcome::Data, false, number);
                assert!(
                    sections(&message)[0] >= 1 || rtype == Rtype::from_int(65_000),
                    "{rtype}"
                );
                assert!(message.len() <= 1232);
            }
        }
    }

    #[test]
    fn flags_and_sections_are_those_of_the_outcome() {
        let profile = profile("root-2006");
        for number in 0..50 {
            let referral = answer(&profile, Rtype::A, Outcome::Data, false, number);
            let view = View::parse(&referral).unwrap();
            assert!(
                view.header.is_answer()
                    && view.header.recursion_desired()
                    && !view.header.is_authoritative()
            );
            let is_ns = view.records().filter(|record| {
                let record = record.as_ref().unwrap();
                (record.section, record.rtype) == (Section::Authority, Rtype::NS.to_int())
            });
            assert!(is_ns.count() >= 2);
            let missing = answer(
                &profile,
                Rtype::A,
                Outcome::Failed(Rcode::NXDOMAIN),
                true,
                number,
            );
            let header = View::parse(&missing).unwrap().header;
            assert!(header.is_authoritative() && header.rcode() == 3);
            assert_eq!(sections(&missing)[..2], [0, 1]);
            let refused = answer(
                &profile,
                Rtype::A,
                Outcome::Failed(Rcode::REFUSED),
                false,
                number,
            );
            assert_eq!(sections(&refused)[..2], [0, 0]);
            let no_data = answer(&profile, Rtype::A, Outcome::NoData, true, number);
            assert_eq!(
                (
                    sections(&no_data)[..2].to_vec(),
                    View::parse(&no_data).unwrap().header.rcode()
                ),
                (vec![0, 1], 0)
            );
        }
    }

    #[test]
    fn answers_fit_into_what_the_client_takes() {
        let mut profile = profile("root-2006");
        profile.queries.edns = 0.0;
        for number in 0..500 {
            assert!(answer(&profile, Rtype::A, Outcome::Data, false, number).len() <= 512);
        }
    }

    #[test]
    fn truncated_answers_hold_no_records() {
        let mut profile = profile("resolver-2022");
        (profile.answers.truncated, profile.queries.edns) = (1.0, 0.0);
        let message = answer(&profile, Rtype::A, Outcome::Data, false, 1);
        assert!(View::parse(&message).unwrap().header.is_truncated());
        assert_eq!(sections(&message), [0; 3]);
    }
}

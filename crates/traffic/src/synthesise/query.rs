//! Query messages (RFC 1035 section 4.1, RFC 6891, RFC 2136).

use super::quotas::{Category, Request};
use super::random::Random;
use super::ranks::Shares;
use crate::profile::QueryFigures;
use domain::base::iana::{Class, Opcode, Rtype};

const HEADER_LEN: usize = 12;
const AA: u16 = 0x0400;
const RD: u16 = 0x0100;
const AD: u16 = 0x0020;
const CD: u16 = 0x0010;
const DNSSEC_OK: u8 = 0x80;
/// The cookie option (RFC 7873), with the eight octets of a client cookie.
const COOKIE_OPTION: [u8; 4] = [0, 10, 0, 8];

/// What queries have beside their question.
#[derive(Debug)]
pub(super) struct Dress {
    figures: QueryFigures,
    sizes: Shares<u32>,
}

impl Dress {
    /// As `figures` say.
    pub fn new(figures: &QueryFigures) -> Self {
        Self {
            figures: figures.clone(),
            sizes: Shares::of_points(&figures.edns_sizes),
        }
    }

    /// Makes the message of `request` for `name`, which is in wire format.
    pub fn compose(
        &self,
        category: &Category,
        request: &Request,
        name: &[u8],
        random: &mut Random,
        message: &mut Vec<u8>,
    ) {
        message.clear();
        let bits = random.bits();
        let mut flags = u16::from(category.opcode.to_int()) << 11;
        let is_query = category.is_query();
        if is_query {
            let chosen = [
                (request.recursion_desired, RD),
                (random.chance(self.figures.ad), AD),
                (random.chance(self.figures.cd), CD),
            ];
            flags |= chosen
                .iter()
                .filter(|(is_set, _)| *is_set)
                .map(|(_, flag)| flag)
                .sum::<u16>();
        } else if category.opcode == Opcode::NOTIFY {
            flags |= AA;
        }
        let records = u16::from(category.opcode == Opcode::UPDATE);
        for field in [bits as u16, flags, 1, 0, records, 0] {
            message.extend_from_slice(&field.to_be_bytes());
        }
        message.extend_from_slice(name);
        message.extend_from_slice(&category.rtype.to_int().to_be_bytes());
        message.extend_from_slice(&category.class.to_int().to_be_bytes());
        if records > 0 {
            push_updated_address(name, bits, message);
        }
        if is_query && random.chance(self.figures.edns) {
            self.push_opt(random, message);
        }
    }

    /// Appends an OPT record and counts it.
    fn push_opt(&self, random: &mut Random, message: &mut Vec<u8>) {
        message[HEADER_LEN - 1] += 1;
        let size = *self.sizes.of(random.bits()) as u16;
        message.push(0);
        message.extend_from_slice(&Rtype::OPT.to_int().to_be_bytes());
        message.extend_from_slice(&size.to_be_bytes());
        let dnssec_ok = match random.chance(self.figures.dnssec_ok) {
            true => DNSSEC_OK,
            false => 0,
        };
        message.extend_from_slice(&[0, 0, dnssec_ok, 0]);
        if random.chance(self.figures.cookies) {
            message.extend_from_slice(&12_u16.to_be_bytes());
            message.extend_from_slice(&COOKIE_OPTION);
            message.extend_from_slice(&random.bits().to_be_bytes());
        } else {
            message.extend_from_slice(&[0, 0]);
        }
    }
}

/// Appends the record that an update adds: the address of a host below the zone, in the update section that stands where
/// authorities do.
fn push_updated_address(zone: &[u8], bits: u64, message: &mut Vec<u8>) {
    if zone.len() <= 250 {
        message.extend_from_slice(b"\x04host");
    }
    // The zone's name is the first of the message.
    message.extend_from_slice(&[0xC0, HEADER_LEN as u8]);
    message.extend_from_slice(&Rtype::A.to_int().to_be_bytes());
    message.extend_from_slice(&Class::IN.to_int().to_be_bytes());
    message.extend_from_slice(&1200_u32.to_be_bytes());
    message.extend_from_slice(&[
        0,
        4,
        10,
        (bits >> 16) as u8,
        (bits >> 24) as u8,
        (bits >> 32) as u8,
    ]);
}

#[cfg(test)]
mod tests {
    use super::super::quotas::Outcome;
    use super::super::random::Purpose;
    use super::*;
    use crate::profile::Profile;
    use crate::wire::View;
    use domain::base::iana::Rcode;

    fn composed(opcode: Opcode, figures: &QueryFigures, seed: u64) -> Vec<u8> {
        let category = Category {
            opcode,
            class: Class::IN,
            rtype: Rtype::AAAA,
            outcome: Outcome::Failed(Rcode::REFUSED),
        };
        let request = Request {
            category: 0,
            recursion_desired: true,
            is_authoritative: false,
            is_tcp: false,
            has_abandoned_session: false,
        };
        let mut message = b"before".to_vec();
        let mut random = Random::new(seed, Purpose::Messages);
        Dress::new(figures).compose(&category, &request, b"\x03www\0", &mut random, &mut message);
        message
    }

    #[test]
    fn queries_have_what_the_profile_says() {
        let mut figures = Profile::open("resolver-2022").unwrap().queries;
        for (share, is_so) in [(0.0, false), (1.0, true)] {
            (figures.ad, figures.cd, figures.edns) = (share, share, share);
            (figures.dnssec_ok, figures.cookies) = (share, share);
            let message = composed(Opcode::QUERY, &figures, 1);
            let view = View::parse(&message).unwrap();
            let header = view.header;
            assert!(header.recursion_desired() && !header.is_answer());
            assert_eq!(
                (header.authentic_data(), header.checking_disabled()),
                (is_so, is_so)
            );
            let question = view.question.unwrap();
            assert_eq!((question.name, question.qtype), (&b"\x03www\0"[..], 28));
            let opt = view.opt().unwrap();
            assert_eq!(opt.is_some(), is_so);
            if let Some(opt) = opt {
                assert!(opt.dnssec_ok && [512, 1232, 1472, 4096].contains(&opt.udp_size));
                let options: Vec<_> = opt
                    .options()
                    .map(|option| (option.code, option.data.len()))
                    .collect();
                assert_eq!(options, [(10, 8)]);
            }
            assert_eq!(
                view.records()
                    .last()
                    .map(|record| record.unwrap().rdata.end),
                is_so.then_some(message.len())
            );
        }
    }

    #[test]
    fn requests_of_other_opcodes_are_whole() {
        let figures = Profile::open("root-2006").unwrap().queries;
        for (opcode, records) in [(Opcode::UPDATE, 1), (Opcode::NOTIFY, 0)] {
            let message = composed(opcode, &figures, 2);
            let view = View::parse(&message).unwrap();
            assert_eq!(
                (view.header.opcode(), view.header.authorities),
                (opcode.to_int(), records)
            );
            assert!(!view.header.recursion_desired());
            assert_eq!(
                view.records().filter(Result::is_ok).count(),
                usize::from(records)
            );
        }
    }
}

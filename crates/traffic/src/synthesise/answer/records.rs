//! Records of answers. Owners are compressed (RFC 1035 section 4.1.4): the name of the question is at the same place in every
//! message.

use super::super::random::{mix, scale};
use domain::base::iana::{Class, Rtype};

const QUESTION: u16 = 12;
const POINTER: u16 = 0xC000;
/// The most name servers of a referral, as those of com.
const MOST_SERVERS: u64 = 13;
/// Octets that a name server with its address takes at most.
const SERVER_LEN: usize = 40;

/// A message that gets records.
pub(super) struct Records<'a> {
    message: &'a mut Vec<u8>,
    ttl_s: u32,
    bits: u64,
    /// How long the message may become.
    room: usize,
    /// Where the owner of the next data is.
    owner: u16,
}

/// The sections, by the place of their counts in the header.
#[derive(Clone, Copy)]
enum Section {
    Answer = 6,
    Authority = 8,
    Additional = 10,
}

impl<'a> Records<'a> {
    /// Records for `message`, which has a header and a question, decided by `bits`, as far as there is `room`.
    pub fn new(message: &'a mut Vec<u8>, ttl_s: u32, bits: u64, room: usize) -> Self {
        Self {
            message,
            ttl_s,
            bits,
            room,
            owner: QUESTION,
        }
    }

    /// The next random bits.
    fn next(&mut self) -> u64 {
        self.bits = mix(self.bits.wrapping_add(1));
        self.bits
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + scale(self.next(), most - least + 1)
    }

    /// Appends a record whose owner is at `owner`, and counts it.
    fn push(&mut self, section: Section, owner: u16, rtype: Rtype, data: impl FnOnce(&mut Self)) {
        let count = section as usize;
        let counted = u16::from_be_bytes([self.message[count], self.message[count + 1]]) + 1;
        self.message[count..count + 2].copy_from_slice(&counted.to_be_bytes());
        self.pointer(owner);
        self.number(rtype.to_int());
        self.number(Class::IN.to_int());
        self.message.extend_from_slice(&self.ttl_s.to_be_bytes());
        let len = self.message.len();
        self.number(0);
        data(self);
        let data_len = (self.message.len() - len - 2) as u16;
        self.message[len..len + 2].copy_from_slice(&data_len.to_be_bytes());
    }

    fn pointer(&mut self, place: u16) {
        match place {
            0 => self.message.push(0),
            place => self.number(POINTER | place),
        }
    }

    fn number(&mut self, number: u16) {
        self.message.extend_from_slice(&number.to_be_bytes());
    }

    /// Appends a character string or a label.
    fn text(&mut self, text: &str) {
        self.message.push(text.len() as u8);
        self.message.extend_from_slice(text.as_bytes());
    }

    fn letters(&mut self, count: u64) {
        self.message.push(count as u8);
        for _ in 0..count {
            let letter = self.between(0, 25) as u8;
            self.message.push(b'a' + letter);
        }
    }

    fn random_octets(&mut self, count: usize) {
        for _ in 0..count {
            let octet = self.next() as u8;
            self.message.push(octet);
        }
    }

    /// Where the last `labels` labels of the question's name begin; 0 for the root.
    fn suffix(&self, labels: usize) -> u16 {
        let label_len = |at: u16| u16::from(self.message[usize::from(at)]);
        let next = |at: &u16| Some(at + 1 + label_len(*at)).filter(|_| label_len(*at) > 0);
        let count = std::iter::successors(Some(QUESTION), next).count() - 1;
        let mut starts = std::iter::successors(Some(QUESTION), next);
        match starts.nth(count.saturating_sub(labels)) {
            Some(at) if label_len(at) > 0 => at,
            _ => 0,
        }
    }

    /// Appends an address of a block that belongs to nobody (RFC 2544, RFC 3849).
    fn address(&mut self, rtype: Rtype) {
        let bits = self.next();
        match rtype {
            Rtype::AAAA => {
                self.message.extend_from_slice(&[0x20, 0x01, 0x0D, 0xB8]);
                self.random_octets(12);
            }
            _ => self.message.extend_from_slice(&[
                198,
                18 + (bits >> 63) as u8,
                (bits >> 8) as u8,
                bits as u8,
            ]),
        }
    }

    /// Appends an SOA record, of the root zone or of the question's domain.
    pub fn push_start_of_authority(&mut self, of_root: bool) {
        let owner = if of_root { 0 } else { self.suffix(2) };
        self.push(Section::Authority, owner, Rtype::SOA, |records| {
            records.start_of_authority(owner)
        });
    }

    fn start_of_authority(&mut self, owner: u16) {
        for server in ["ns1", "hostmaster"] {
            self.text(server);
            self.pointer(owner);
        }
        for number in [2_026_010_100_u32, 10_800, 3600, 1_209_600, 3600] {
            self.message.extend_from_slice(&number.to_be_bytes());
        }
    }

    /// Appends the name servers of the question's last label, and their addresses.
    pub fn push_referral(&mut self) {
        let owner = self.suffix(1);
        let wanted = self.between(2, MOST_SERVERS);
        let fitting = self.room.saturating_sub(self.message.len()) / SERVER_LEN;
        let servers = wanted.min(fitting as u64).max(2);
        let mut names = Vec::with_capacity(servers as usize);
        let mut domain = 0;
        for number in 0..servers {
            self.push(Section::Authority, owner, Rtype::NS, |records| {
                names.push(records.message.len() as u16);
                records.message.extend_from_slice(&[1, b'a' + number as u8]);
                if domain == 0 {
                    domain = records.message.len() as u16;
                    records.text("ns");
                    records.pointer(owner);
                } else {
                    records.pointer(domain);
                }
            });
        }
        for name in names {
            self.push(Section::Additional, name, Rtype::A, |records| {
                records.address(Rtype::A)
            });
        }
    }

    /// Appends a CNAME record, whose target then owns the data.
    pub fn push_alias(&mut self) {
        let suffix = self.suffix(1);
        let len = self.between(8, 20);
        let mut target = QUESTION;
        self.push(Section::Answer, QUESTION, Rtype::CNAME, |records| {
            target = records.message.len() as u16;
            records.letters(len);
            records.text("edge");
            records.pointer(suffix);
        });
        self.owner = target;
    }

    /// Appends data of `rtype` for the question's name, or for its alias.
    pub fn push_data(&mut self, class: Class, rtype: Rtype) {
        let owner = self.owner;
        if class != Class::IN {
            let class_at = self.message.len() + 4;
            self.push(Section::Answer, owner, Rtype::TXT, |records| {
                records.text("server")
            });
            self.message[class_at..class_at + 2].copy_from_slice(&class.to_int().to_be_bytes());
            return;
        }
        let types: &[Rtype] = match rtype {
            Rtype::ANY => &[Rtype::A, Rtype::NS, Rtype::MX],
            _ => &[rtype],
        };
        for &rtype in types {
            let most = match rtype {
                Rtype::A | Rtype::AAAA | Rtype::NS => 4,
                Rtype::MX | Rtype::TXT | Rtype::SRV | Rtype::DS | Rtype::DNSKEY => 2,
                _ => 1,
            };
            for number in 0..self.between(1, most) {
                self.push(Section::Answer, owner, rtype, |records| {
                    records.data(rtype, number)
                });
            }
        }
    }

    /// Appends the data of one record.
    fn data(&mut self, rtype: Rtype, number: u64) {
        let domain = self.suffix(2);
        let server = ["a", "b", "c", "d"][number as usize % 4];
        match rtype {
            Rtype::A | Rtype::AAAA => self.address(rtype),
            Rtype::A6 => {
                // No prefix, so all of an address (RFC 2874 section 3.1).
                self.message.push(0);
                self.address(Rtype::AAAA);
            }
            Rtype::NS | Rtype::CNAME => {
                self.text(server);
                self.text("ns");
                self.pointer(domain);
            }
            Rtype::PTR => {
                let len = self.between(4, 15);
                self.letters(len);
                self.text("example");
                self.message.push(0);
            }
            Rtype::SOA => self.start_of_authority(domain),
            Rtype::MX | Rtype::SRV => {
                let numbers: &[u16] = if rtype == Rtype::MX {
                    &[10]
                } else {
                    &[0, 1, 389]
                };
                numbers.iter().for_each(|&number| self.number(number));
                self.text(server);
                self.pointer(domain);
            }
            Rtype::TXT => {
                let len = self.between(20, 120);
                self.letters(len);
            }
            Rtype::HTTPS | Rtype::SVCB => {
                // Priority 1, the owner itself, ALPN h2 and h3 (RFC 9460 section 7.1).
                self.message
                    .extend_from_slice(b"\0\x01\0\0\x01\0\x06\x02h2\x02h3");
            }
            Rtype::DS => {
                self.message.extend_from_slice(&[0x30, 0x39, 13, 2]);
                self.random_octets(32);
            }
            Rtype::DNSKEY => {
                self.message
                    .extend_from_slice(&[1, u8::from(number > 0), 3, 13]);
                self.random_octets(64);
            }
            Rtype::CAA => {
                self.message.push(0);
                self.text("issue");
                self.message.extend_from_slice(b"ca.example");
            }
            Rtype::NAPTR => {
                self.message
                    .extend_from_slice(b"\0\x0A\0\x0A\x01u\x07E2U+sip\0\0");
            }
            _ => self.random_octets(16),
        }
    }
}

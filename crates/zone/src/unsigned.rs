//! A signed zone as it was before.

use crate::{Record, Zone};
use domain::base::iana::Rtype;

impl Zone {
    /// The zone without what DNSSEC signing adds to it: RRSIG, NSEC, NSEC3 and NSEC3PARAM records, and at the apex the
    /// DNSKEY, CDS, CDNSKEY (RFC 7344) and ZONEMD (RFC 8976) records, which are of the keys and the signed form.
    ///
    /// DS records stay: they are data of the parent zone about its delegations.
    pub fn without_dnssec(&self) -> Self {
        let is_data = |record: &&Record| match record.rtype {
            Rtype::RRSIG | Rtype::NSEC | Rtype::NSEC3 | Rtype::NSEC3PARAM => false,
            Rtype::DNSKEY | Rtype::CDS | Rtype::CDNSKEY | Rtype::ZONEMD => {
                record.owner != *self.origin()
            }
            _ => true,
        };
        let records = self.records().iter().filter(is_data).cloned().collect();
        Self::new(self.origin().clone(), records)
    }
}

#[cfg(test)]
mod tests {
    use crate::Zone;
    use domain::base::iana::Rtype;

    #[test]
    fn only_data_is_left() {
        let text = "$ORIGIN z.test.\n$TTL 60\n@ SOA ns host 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\n\
            @ DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=\n@ NSEC ns A NS SOA RRSIG NSEC DNSKEY\n\
            ns NSEC z.test. A RRSIG NSEC\nsub NS ns.sub\nns.sub A 192.0.2.2\n\
            sub DS 3613 15 2 3AA5AB37EFCE57F737FC1627013FEE07BDF241BD10F3B1964AB55C78E79A304B\n";
        let zone = Zone::parse(text.as_bytes(), None).unwrap().without_dnssec();
        let types: Vec<Rtype> = zone.records().iter().map(|record| record.rtype).collect();
        let data = [
            Rtype::NS,
            Rtype::SOA,
            Rtype::A,
            Rtype::NS,
            Rtype::DS,
            Rtype::A,
        ];
        assert_eq!(types, data);
    }
}

//! What is looked for in a zone, one variant a rule.

use crate::error::Position;
use std::fmt;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The zone breaks a rule that servers or resolvers stand on: something does not work, or servers refuse the zone.
    Error,
    /// It works, but hardly as meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

macro_rules! rules {
    ($($(#[doc = $doc:expr])+ $variant:ident $name:literal $severity:ident;)+) => {
        /// A rule for zones.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $($(#[doc = $doc])+ $variant,)+ }

        impl Rule {
            /// All rules, in the order of their descriptions.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name that findings carry.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// How bad it is to break it.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// What it says.
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii_start(),)+ }
            }
        }
    };
}

rules! {
    /// All owners are at or below the apex.
    OutOfZone "out-of-zone" Error;
    /// No other data stand beside a CNAME (RFC 2181 section 10.1).
    BesideCname "cname-and-other-data" Error;
    /// There is one SOA record, at the apex (RFC 1035 section 5.2).
    Soa "soa" Error;
    /// The apex has NS records (RFC 1035 section 5.2).
    NoNs "no-ns" Error;
    /// A zone has two name servers or more (RFC 1034 section 4.1).
    SingleNs "single-ns" Warning;
    /// Retry is shorter than refresh, expire is longer than both, the negative TTL is at most a day (RFC 1912 section 2.2, RFC 2308 section 5).
    SoaTimers "soa-timers" Warning;
    /// MNAME and RNAME of the SOA record are a server and a mailbox.
    SoaNames "soa-names" Warning;
    /// The records of an RRset have one TTL (RFC 2181 section 5.2), and each record has one.
    Ttl "ttl" Warning;
    /// DS records are the parent's (RFC 4035 section 2.4).
    DsAtApex "ds-at-apex" Error;
    /// DS records stand at delegations (RFC 4035 section 2.4).
    DsWithoutNs "ds-without-ns" Error;
    /// The digest of a DS or CDS record has the length of its type.
    DsDigestLength "ds-digest-length" Error;
    /// The digest type of a DS or CDS record is known.
    DsDigestType "ds-digest-type" Warning;
    /// A delegation has a DS record with a digest other than SHA-1 (RFC 8624 section 3.3).
    DsSha1Only "ds-sha1-only" Warning;
    /// A name has one DNAME record (RFC 6672 section 2.4).
    SeveralDnames "several-dnames" Error;
    /// A delegation has no DNAME record (RFC 6672 section 2.3).
    DnameBesideNs "dname-beside-ns" Error;
    /// No names are below a DNAME (RFC 6672 section 2.4).
    BelowDname "below-dname" Error;
    /// No delegation has a wildcard's name (RFC 4592 section 4.2).
    WildcardNs "wildcard-ns" Error;
    /// No DNAME has a wildcard's name (RFC 4592 section 4.4).
    WildcardDname "wildcard-dname" Warning;
    /// A delegation has only NS, DS and glue, for all else is the child's (RFC 2181 section 6).
    DataAtCut "data-at-cut" Warning;
    /// Below a delegation there is only glue (RFC 1034 section 4.2.1).
    DataBelowCut "data-below-cut" Warning;
    /// Glue is the address of a name server of some delegation, or of the zone.
    UnneededGlue "unneeded-glue" Warning;
    /// What the zone is not authoritative for is not signed (RFC 4035 section 2.2).
    SignedGlue "signed-glue" Warning;
    /// A signature covers an RRset that exists.
    OrphanedSignature "orphaned-signature" Warning;
    /// NS, MX and SRV records name no alias (RFC 2181 section 10.3, RFC 2782).
    TargetAlias "target-alias" Error;
    /// NS, MX and SRV records name hosts with addresses, as far as these are in the zone.
    TargetWithoutAddress "target-without-address" Error;
    /// NS, MX and SRV records name hosts and not addresses.
    TargetIsAddress "target-is-address" Warning;
    /// A name server below its own delegation has glue (RFC 1034 section 4.2.1, RFC 9471).
    MissingGlue "missing-glue" Error;
    /// A name server below another delegation of the zone has glue (RFC 9471 section 2.2).
    MissingSiblingGlue "missing-sibling-glue" Warning;
    /// An alias is of another name.
    AliasToItself "alias-to-itself" Error;
    /// An alias is of a name that has records, if it is in the zone.
    DanglingAlias "dangling-alias" Warning;
    /// Names with addresses, and the targets of NS and MX records, are host names (RFC 1123 section 2.1).
    HostName "host-name" Warning;
    /// An RRset fits in a DNS message of 65,535 octets.
    RrsetTooLarge "rrset-too-large" Error;
    /// An RRset fits in 4,096 octets, the largest answer over UDP that resolvers commonly accept.
    RrsetLarge "rrset-large" Warning;
    /// The protocol field of DNSKEY records is 3 (RFC 4034 section 2.1.2).
    DnskeyProtocol "dnskey-protocol" Error;
    /// DNSKEY records have algorithms that are to be used for signing (RFC 8624 section 3.1, RFC 9905).
    DnskeyAlgorithm "dnskey-algorithm" Warning;
    /// CDS and CDNSKEY records stand at the apex (RFC 7344 section 4).
    CdsBelowApex "cds-below-apex" Error;
    /// CDS and CDNSKEY records go with each other and with a DNSKEY record (RFC 7344 section 4.1).
    CdsMismatch "cds-mismatch" Error;
    /// NSEC3 has no additional iterations and no salt (RFC 9276 section 3.1).
    Nsec3Parameters "nsec3-parameters" Warning;
    /// The owner of an NSEC3 record is a hash in base32 directly below the apex (RFC 5155 section 3).
    Nsec3Owner "nsec3-owner" Error;
    /// The ZONEMD record has the digest of the zone (RFC 8976 section 4).
    ZonemdDigest "zonemd-digest" Error;
    /// The ZONEMD record has the serial of the SOA record (RFC 8976 section 2.2.1).
    ZonemdSerial "zonemd-serial" Error;
    /// ZONEMD records stand at the apex, for elsewhere they mean nothing (RFC 8976 section 2).
    ZonemdBelowApex "zonemd-below-apex" Warning;
    /// Scheme and hash algorithm of the ZONEMD record are known, so that it can be verified.
    ZonemdUnknown "zonemd-unknown" Warning;
}

/// What breaks a rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The record; none for the zone as a whole.
    pub at: Option<Position>,
    /// What was found, and what to do.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        write!(
            f,
            "{}: {} [{}]",
            self.rule.severity(),
            self.what,
            self.rule.name()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Rule;
    use std::collections::BTreeSet;

    #[test]
    fn rules_have_names_of_their_own() {
        let names: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(names.len(), Rule::ALL.len());
        assert!(
            Rule::ALL
                .iter()
                .all(|rule| rule.description().ends_with('.'))
        );
    }
}

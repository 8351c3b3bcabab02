"""A-ttl-zero: what every resolver needs can be cached."""

from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NS import NS
from dns.rdtypes.ANY.SOA import SOA

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ADDRESSES = (RdataType.A, RdataType.AAAA)
NEEDED = (RdataType.NS, RdataType.DS, RdataType.DNSKEY, RdataType.MX)
ITEM = Item(
    id="A-ttl-zero",
    role="authoritative",
    group="Zone data",
    requirement=(
        "NS, DS, DNSKEY and MX records, addresses of the zone's servers, and denials have a TTL that is not 0."
    ),
    references=("RFC 2181 section 8", "RFC 1912 section 2.2", "RFC 2308 section 5"),
    severity=Severity.NOTICE,
    consequence="Nobody caches them: each query of a resolver's clients takes more queries, and fails sooner.",
    procedure=(
        "The TTLs of the zone's RRsets of these types, as far as they are known, are looked at, those of the addresses"
        " of names that NS records name among them; so are the SOA record's TTL and MINIMUM, the lower of which denials"
        " have."
    ),
    dig=("dig @{server} -p {port} {zone} NS +norec", "dig @{server} -p {port} {zone} SOA +norec"),
    needs=("zone",),
    faults=("ns-ttl-zero", "address-ttl-zero", "minimum-zero"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the TTLs."""
    known = contents(subject)
    judged = list(known.of(*NEEDED))
    servers = {record.target for one in judged for record in one.records if isinstance(record, NS)}
    judged += [one for one in known.of(*ADDRESSES) if one.name in servers]
    flaws = [Flaw(f"The TTL of {one.title} is 0.", (one,)) for one in judged if one.ttl_s == 0]
    for soa in known.of(RdataType.SOA):
        judged.append(soa)
        if soa.ttl_s == 0 or any(isinstance(record, SOA) and record.minimum == 0 for record in soa.records):
            what = "TTL" if soa.ttl_s == 0 else "MINIMUM"
            flaws.append(Flaw(f"Denials are not to be cached: the {what} of {soa.title} is 0.", (soa,)))
    return judge_data(subject, flaws, judged, "such RRset", "The TTLs of {count} RRsets are not 0.")

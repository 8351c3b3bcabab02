"""A-ttl-zero: what every resolver needs can be cached."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

NEEDED = (RdataType.NS, RdataType.DS, RdataType.DNSKEY, RdataType.MX)
ITEM = Item(
    id="A-ttl-zero",
    role="authoritative",
    group="Zone data",
    requirement="NS, DS, DNSKEY and MX records have a TTL that is not 0.",
    references=("RFC 2181 section 8", "RFC 1912 section 2.2"),
    severity=Severity.NOTICE,
    consequence="Nobody caches them: each query of a resolver's clients takes more queries, and fails sooner.",
    procedure="The TTLs of the zone's RRsets of these types, as far as they are known, are looked at.",
    dig=("dig @{server} -p {port} {zone} NS +norec",),
    needs=("zone",),
    faults=("ns-ttl-zero",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the TTLs."""
    judged = list(contents(subject).of(*NEEDED))
    flaws = [Flaw(f"The TTL of {one.title} is 0.", (one,)) for one in judged if one.ttl_s == 0]
    return judge_data(subject, flaws, judged, "such RRset", "The TTLs of {count} RRsets are not 0.")

"""A-cname-alone: nothing beside a CNAME record."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

BESIDE = {RdataType.CNAME, RdataType.KEY}
"""What may be at the name of an alias, besides RRSIG and NSEC (RFC 4034 section 3, RFC 3007 section 4.3)."""
ONE_ONLY = (RdataType.CNAME, RdataType.DNAME)
ITEM = Item(
    id="A-cname-alone",
    role="authoritative",
    group="Zone data",
    requirement="A name with a CNAME record has no other data, and no name has two CNAME or two DNAME records.",
    references=("RFC 1034 section 3.6.2", "RFC 2181 section 10.1", "RFC 6672 section 2.4"),
    severity=Severity.ERROR,
    consequence="What resolvers find depends on what they asked for first: mail or addresses of the name come and go.",
    procedure="The zone's data, as far as they are known, are looked at.",
    dig=("dig @{server} -p {port} {alias} CNAME +norec", "dig @{server} -p {port} {alias} TXT +norec"),
    needs=("zone",),
    faults=("two-cnames",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the names of aliases."""
    known = contents(subject)
    judged, flaws = [], []
    for one in known.of(*ONE_ONLY):
        judged.append(one)
        if len(one.records) > 1:
            flaws.append(Flaw(f"{one.title} has {len(one.records)} records.", (one,)))
        elif one.rtype == RdataType.CNAME and one.name != subject.origin:
            # The CNAME record of the apex is another item's concern: A-apex-cname.
            beside = [other for other in known.at(one.name) if other.rtype not in BESIDE]
            if beside:
                flaws.append(Flaw(f"{one.name} has {beside[0].rtype.name} records beside its CNAME.", (one, beside[0])))
    return judge_data(subject, flaws, judged, "CNAME or DNAME record", "{count} CNAME and DNAME records stand alone.")

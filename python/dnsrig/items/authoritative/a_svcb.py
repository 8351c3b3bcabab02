"""A-svcb: SVCB and HTTPS records that clients can use."""

from dns.rdatatype import RdataType
from dns.rdtypes.svcbbase import SVCBBase

from dnsrig.items.authoritative._contents import Flaw, Published, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-svcb",
    role="authoritative",
    group="Zone data",
    requirement="SVCB and HTTPS RRsets are of one mode, and those of alias mode lead elsewhere.",
    references=("RFC 9460 section 2.4.1", "RFC 9460 section 2.4.2", "RFC 9460 section 9"),
    severity=Severity.WARNING,
    consequence="Clients ignore the records: they connect without what these offer, or not at all.",
    procedure=(
        "The zone's SVCB and HTTPS records, as far as they are known, are looked at: those with priority 0 (alias mode)"
        " have none of service mode beside them and do not lead to their own name."
    ),
    dig=("dig @{server} -p {port} {zone} HTTPS +norec",),
    needs=("zone",),
    faults=("https-alias-beside-service", "https-alias-to-itself"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the RRsets."""
    judged = list(contents(subject).of(RdataType.SVCB, RdataType.HTTPS))
    flaws = [Flaw(f"{one.title} {said}.", (one,)) for one in judged if (said := _trouble(one))]
    return judge_data(subject, flaws, judged, "SVCB or HTTPS record", "{count} RRsets can be used.")


def _trouble(one: Published) -> str:
    records = [record for record in one.records if isinstance(record, SVCBBase)]
    aliases = [record for record in records if record.priority == 0]
    if aliases and len(records) > len(aliases):
        return "has records of alias mode beside those of service mode"
    if any(record.target == one.name for record in aliases):
        return "leads to itself in alias mode"
    return ""

"""A-csync: the CSYNC record."""

from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CSYNC import CSYNC

from dnsrig.items.authoritative._contents import Flaw, Published, contents, judge_data
from dnsrig.verification.denial import types_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

KNOWN_FLAGS = 0x0003
SYNCHRONISED = {RdataType.NS, RdataType.A, RdataType.AAAA}
ITEM = Item(
    id="A-csync",
    role="authoritative",
    group="Zone data",
    requirement="The zone has at most one CSYNC record, at its apex, with known flags, for NS, A and AAAA records.",
    references=("RFC 7477 section 2.1.1", "RFC 7477 section 2.1.2", "RFC 7477 section 2.1.3"),
    severity=Severity.WARNING,
    consequence="The parent zone ignores the record: servers that come and go are not taken over.",
    procedure="The zone's CSYNC records, as far as they are known, are looked at.",
    dig=("dig @{server} -p {port} {zone} CSYNC +norec +dnssec",),
    needs=("zone",),
    faults=("csync-of-mx", "csync-flags", "csync-below-apex"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the records."""
    judged = list(contents(subject).of(RdataType.CSYNC))
    flaws = [Flaw(f"{one.title} {said}.", (one,)) for one in judged if (said := _trouble(subject, one))]
    return judge_data(subject, flaws, judged, "CSYNC record", "The CSYNC record is right.")


def _trouble(subject: AuthoritativeSubject, one: Published) -> str:
    if one.name != subject.origin:
        return "is not at the apex"
    if len(one.records) > 1:
        return f"has {len(one.records)} records"
    record = one.records[0]
    if not isinstance(record, CSYNC):
        return ""
    if record.flags & ~KNOWN_FLAGS:
        return f"has flags {record.flags:#x}, of which some are not defined"
    others = sorted(types_of(record) - SYNCHRONISED)
    return f"asks for {RdataType.make(others[0]).name} records to be taken over" if others else ""

"""A-nsec3param-one: one set of parameters."""

from dnsrig.items.authoritative._chain import parameters_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-nsec3param-one",
    role="authoritative",
    group="DNSSEC: chain",
    requirement="The zone has one NSEC3PARAM record.",
    references=("RFC 5155 section 4", "RFC 5155 section 7.3", "RFC 9276 section 3.1"),
    severity=Severity.NOTICE,
    consequence=(
        "Servers choose a chain each for itself, and one that was not kept up with the zone proves what is not so."
    ),
    procedure="NSEC3PARAM is asked for at the apex; a zone that changes its parameters has two for some time.",
    dig=("dig @{server} -p {port} {zone} NSEC3PARAM +norec +dnssec",),
    needs=("nsec3",),
    faults=("two-nsec3params",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Count the records."""
    found = parameters_of(subject.nsec3param, subject.origin)
    if len(found) > 1:
        return failed(f"There are {len(found)} NSEC3PARAM records.", subject.nsec3param)
    return passed("There is one NSEC3PARAM record.", subject.nsec3param)

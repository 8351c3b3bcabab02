"""A-229: NSEC3PARAM at the apex."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import nothing_seen
from dnsrig.items.authoritative._chain import links, nsec3_links, parameters_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-229",
    role="authoritative",
    group="DNSSEC: chain",
    requirement="A zone that denies by NSEC3 records has an NSEC3PARAM record with flags 0 at its apex.",
    references=("RFC 5155 section 4", "RFC 5155 section 7.1", "RFC 5155 section 4.1.2", "JPRS-2010 F-229"),
    severity=Severity.ERROR,
    consequence="Secondaries do not know how to hash names: they cannot prove that a name does not exist.",
    procedure="NSEC3PARAM is asked for at the apex with DO, where denials of the sample have NSEC3 records.",
    dig=("dig @{server} -p {port} {zone} NSEC3PARAM +norec +dnssec",),
    needs=("signatures",),
    faults=("hides-nsec3param",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the parameters."""
    seen = nsec3_links(subject)
    if not seen:
        return not_applicable("The zone denies by NSEC records.") if links(subject) else nothing_seen("a denial")
    exchange = subject.answers.get(subject.origin, RdataType.NSEC3PARAM)
    found = parameters_of(exchange, subject.origin)
    if not found:
        return failed("Denials have NSEC3 records, yet there is no NSEC3PARAM record.", exchange, seen[0][0].exchange)
    usable = [record for record in found if record.flags == 0]
    if not usable:
        return failed(f"The NSEC3PARAM record has flags {found[0].flags}, so secondaries must ignore it.", exchange)
    return passed(f"The record is {usable[0]}.", exchange)

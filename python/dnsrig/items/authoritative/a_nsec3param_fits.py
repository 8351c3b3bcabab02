"""A-nsec3param-fits: NSEC3 records are of the chain that NSEC3PARAM names."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._chain import nsec3_links, parameters_of, salt_text
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-nsec3param-fits",
    role="authoritative",
    group="DNSSEC: chain",
    requirement="NSEC3 records have hash algorithm, iterations and salt of an NSEC3PARAM record at the apex.",
    references=("RFC 5155 section 7.1", "RFC 5155 section 7.2", "RFC 5155 section 8.2"),
    severity=Severity.ERROR,
    consequence="Secondaries hash names otherwise than the chain does, and deny names by records that prove nothing.",
    procedure="The NSEC3 records of the sample's denials are compared with the NSEC3PARAM records.",
    dig=(
        "dig @{server} -p {port} {zone} NSEC3PARAM +norec +dnssec",
        "dig @{server} -p {port} absent.{zone} A +norec +dnssec",
    ),
    needs=("signatures",),
    faults=("wrong-nsec3param",),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare parameters."""
    seen = nsec3_links(subject)
    if not seen:
        return not_applicable("No denial of the sample has NSEC3 records.")
    exchange = subject.answers.get(subject.origin, RdataType.NSEC3PARAM)
    named = {(one.algorithm, one.iterations, one.salt) for one in parameters_of(exchange, subject.origin)}
    if not named:
        return not_applicable("The zone has no NSEC3PARAM record; A-229 is about that.", exchange)
    for link, record in seen:
        if (record.algorithm, record.iterations, record.salt) not in named:
            said = f"algorithm {record.algorithm}, {record.iterations} iterations, salt {salt_text(record.salt)}"
            return failed(f"{link.title} has {said}, of which no NSEC3PARAM record is.", exchange, link.exchange)
    return passed(f"{len({link.owner for link, _ in seen})} NSEC3 records fit.", exchange)

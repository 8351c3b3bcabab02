"""A-nsec3param-fits: NSEC3 records are of the chain that NSEC3PARAM names."""

from collections.abc import Set

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import absent_type, denied_name
from dnsrig.items.authoritative._chain import extent, links, nsec3_links, parameters_of, salt_text
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-nsec3param-fits",
    role="authoritative",
    group="DNSSEC: chain",
    requirement=(
        "NSEC3 records have hash algorithm, iterations and salt of an NSEC3PARAM record at the apex; where there is"
        " such a record, denials have NSEC3 records of it."
    ),
    references=("RFC 5155 section 7.1", "RFC 5155 section 7.2", "RFC 5155 section 8.2"),
    severity=Severity.ERROR,
    consequence=(
        "Servers hash names otherwise than the chain does: they deny names by records that prove nothing, or by none at"
        " all, and validators give SERVFAIL."
    ),
    procedure=(
        "The NSEC3 records of the sample's denials are compared with the NSEC3PARAM records. Where denials of a name"
        " and of a type have none, those of the zone's data are, if these are known: servers that find no chain of the"
        " record leave out what there is, or deny by NSEC records."
    ),
    dig=(
        "dig @{server} -p {port} {zone} NSEC3PARAM +norec +dnssec",
        "dig @{server} -p {port} absent.{zone} A +norec +dnssec",
    ),
    needs=("signatures",),
    faults=("wrong-nsec3param", "nsec3param-of-no-chain", "nsec3param-beside-nsec", "strips-denial"),
)


Parameters = tuple[int, int, bytes]


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare parameters."""
    seen = nsec3_links(subject)
    exchange = subject.answers.get(subject.origin, RdataType.NSEC3PARAM)
    # Those with flags are to be ignored (RFC 5155 section 4.1.2).
    found_there = [one for one in parameters_of(exchange, subject.origin) if not one.flags]
    named = {(one.algorithm, one.iterations, one.salt) for one in found_there}
    if not seen:
        return _without_records(subject, exchange, named)
    if not named:
        return not_applicable("The zone has no NSEC3PARAM record; A-229 is about that.", exchange)
    for link, record in seen:
        if (record.algorithm, record.iterations, record.salt) not in named:
            said = _words((record.algorithm, record.iterations, record.salt))
            return failed(f"{link.title} has {said}, of which no NSEC3PARAM record is.", exchange, link.exchange)
    found = [link for link, _ in seen]
    return passed(f"{len({link.owner for link in found})} NSEC3 records fit; {extent(found)}.", exchange)


def _without_records(subject: AuthoritativeSubject, exchange: Exchange, named: Set[Parameters]) -> Outcome:
    """Judge a zone none of whose responses has NSEC3 records."""
    asked = (
        subject.answers.get(denied_name(subject), RdataType.A),
        absent_type(subject, subject.origin)[1],
    )
    if not named or not all(_is_denial(one) for one in asked):
        return not_applicable("No denial of the sample has NSEC3 records.")
    others = sorted(subject.known_data.nsec3_parameters - named)
    if others:
        said = f"The zone's NSEC3 records have {_words(others[0])}, of which no NSEC3PARAM record is"
        return failed(f"{said}; denials have none of them.", exchange, *asked)
    said = f"though there is an NSEC3PARAM record with {_words(min(named))}"
    if links(subject):
        if subject.known_data.nsec3_parameters:
            # A zone on its way from one chain to the other has both.
            return not_applicable(
                "Denials have NSEC records; the zone has an NSEC3 chain of the record, too.", exchange
            )
        return failed(f"Denials have NSEC records, {said}: there is no such chain.", exchange, *asked)
    why = "the server has no such chain, or its records are taken out"
    return failed(f"Denials have neither NSEC3 nor NSEC records, {said}: {why}.", exchange, *asked)


def _is_denial(exchange: Exchange) -> bool:
    message = exchange.message
    is_clear = exchange.rcode in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN} and not exchange.is_truncated
    return message is not None and is_clear and not message.answer


def _words(parameters: Parameters) -> str:
    algorithm, iterations, salt = parameters
    return f"algorithm {algorithm}, {iterations} iterations, salt {salt_text(salt)}"

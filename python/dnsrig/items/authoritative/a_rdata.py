"""A-rdata: records are formed as their types say."""

from dnsrig.items.authoritative._answers import nothing_seen
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.malformed import MalformedRecord, malformed_records
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, passed

ITEM = Item(
    id="A-rdata",
    role="authoritative",
    group="Zone data",
    requirement="The data of every record are formed as its type says.",
    references=(
        "RFC 1035 section 3.3",
        "RFC 9460 section 2.2",
        "RFC 9460 section 8",
        "RFC 8659 section 4.1",
        "RFC 4034 section 5.1.4",
    ),
    severity=Severity.ERROR,
    consequence="Those who parse the records reject them, or the whole response: the RRset is as good as not there.",
    procedure=(
        "The zone's RRsets, as transferred and as far as they are known, are parsed: fields have their lengths, SVCB"
        " and HTTPS parameters their order and all that are mandatory, digests the length of their type, and so on."
    ),
    dig=("dig @{server} -p {port} {zone} HTTPS +norec", "dig @{server} -p {port} {zone} CAA +norec"),
    needs=("zone",),
    faults=("half-addresses", "compresses-signer"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for records that cannot be parsed."""
    if subject.transfer.malformed:
        return failed(_reason(subject.transfer.malformed), _evidence(subject.transfer.malformed))
    asked = 0
    for name, rtype in subject.survey.questions:
        exchange: Exchange | None = subject.survey.given.get((name, rtype))
        asked += exchange is not None
        wrong = [] if exchange is None or exchange.message is not None else malformed_records(exchange.response or b"")
        if exchange is not None and wrong:
            return failed(_reason(wrong), _evidence(wrong), exchange)
    if not asked and not subject.transfer.rrsets:
        return nothing_seen("an RRset of the zone")
    return passed(
        f"The records of {asked} responses and {len(subject.transfer.rrsets)} records of a transfer are right."
    )


def _reason(wrong: list[MalformedRecord] | tuple[MalformedRecord, ...]) -> str:
    first, others = wrong[0], len(wrong) - 1
    more = f" {others} more {'are' if others > 1 else 'is'} malformed." if others else ""
    return f"A record of {first.name} {first.rtype.name} is malformed: {first.why}.{more}"


def _evidence(wrong: list[MalformedRecord] | tuple[MalformedRecord, ...]) -> Evidence:
    lines = [f"{one.name} IN {one.rtype.name} \\# {len(one.octets)} {one.octets.hex()} ; {one.why}" for one in wrong]
    return Evidence("Malformed records", "\n".join(lines))

"""A-two-opts: queries with two OPT records."""

import dataclasses

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items._two_opts import query_with_two_opts
from dnsrig.items.authoritative._probes import rcode_text
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-two-opts",
    role="authoritative",
    group="EDNS and size",
    requirement="A query with two OPT records is not answered as if it had one.",
    references=("RFC 6891 section 6.1.1",),
    severity=Severity.WARNING,
    consequence=(
        "Which of the two the server follows, no middlebox knows: what it looks at, such as sizes and options, may be "
        "another record than the one that counts."
    ),
    procedure=(
        "The SOA record is asked for with two OPT records that are the same; the response is FORMERR or has no answer, "
        "or there is none, as some servers drop what is malformed."
    ),
    dig=("# dig sends no such messages",),
    needs=("zone", "edns"),
    faults=("takes-first-opt",),
    is_rough=True,
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send it; silence is right too, as long as queries are answered."""
    asker = dataclasses.replace(subject.asker, udp_waits_s=subject.asker.udp_waits_s[:2])
    exchange = asker.udp(query_with_two_opts(subject.origin, RdataType.SOA, rd=False))
    if exchange.message is not None and exchange.message.answer:
        return failed("A query with two OPT records gets an answer.", exchange)
    if exchange.rcode == dns.rcode.FORMERR:
        return passed("The response code is FORMERR.", exchange)
    silence = subject.silence()
    if silence:
        return inconclusive(f"The server does not answer queries either: {silence}.", exchange)
    code = "" if exchange.message is None else f" The response code is {rcode_text(exchange)}."
    return passed(f"It gets no answer.{code}", exchange)

"""P-unchanged: whole messages, whatever of them."""

import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import changed, differences, no_difference
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import (
    SECTIONS,
    question_differences,
    raised_ttls,
    rcode_differences,
    section_differences,
)
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive, passed

QUESTIONS = (
    (names.PLAIN, RdataType.A),
    (names.PLAIN, RdataType.MX),
    (names.PLAIN, RdataType.DS),
    (names.ALIAS, RdataType.AAAA),
    (names.SECTIONS, RdataType.A),
    (names.ABSENT, RdataType.MX),
    (names.ABSENT, RdataType.AAAA),
    (names.EMPTY, RdataType.AAAA),
)

ITEM = Item(
    id="P-unchanged",
    role="proxy",
    group="Integrity",
    requirement="Responses pass the proxy as the upstream sent them, by UDP and TCP, with EDNS and without.",
    references=("RFC 5625 section 3", "RFC 5625 section 4"),
    severity=Severity.ERROR,
    consequence="What one of the clients gets is not what another gets: faults that show with some queries alone.",
    procedure=(
        "Records and denials are asked for without EDNS, with EDNS, and with DO, by UDP and TCP. Where the octets "
        "behind the ID differ from what the upstream sent, question, response code, records and TTLs are compared; "
        "flags, OPT, order of records and compression are left to other items, or free."
    ),
    dig=(
        "dig @{server} -p {port} x.sections.rig.example A +tcp +noedns",
        "dig @{server} -p {port} x.plain.rig.example DS +tcp +dnssec",
    ),
    needs=("upstream",),
    faults=(
        "proxy-rewrites-addresses",
        "proxy-rewrites-nxdomain",
        "proxy-rewrites-nxdomain-by-ipv6",
        "proxy-denies-names-without-aaaa",
        "proxy-hides-nxdomain",
        "proxy-removes-aliases",
        "proxy-drops-authority",
        "proxy-drops-authority-without-do",
        "proxy-drops-additional",
        "proxy-drops-additional-without-do",
        "proxy-raises-ttl",
        "proxy-other-question",
        "proxy-strips-rrsig-by-tcp",
        "proxy-strips-proofs",
        "proxy-strips-nsec",
        "proxy-strips-rrsig-of-ds",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask in every way; what is not answered is another item's matter, as long as something is."""
    compared: list[Exchange] = []
    alike = 0
    for transport in subject.transports:
        for query in _queries(subject):
            through = subject.ask(query, transport)
            if through.client.message is None or through.client.is_truncated or through.upstream is None:
                continue
            compared.append(through.client)
            if (through.client.response or b"")[2:] == through.upstream.response[2:]:
                alike += 1
                continue
            found = differences(through, no_difference, _response_differences)
            if found:
                return changed(through, found)
    if not compared:
        return inconclusive(subject.silence() or "No query came to the upstream.")
    return passed(f"{len(compared)} responses pass, {alike} of them octet by octet.", compared[-1])


def _queries(subject: ProxySubject) -> list[Query]:
    ways: list[tuple[int | None, bool]] = [(None, False)]
    if subject.lacks("edns") is None:
        ways += [(1232, False), (1232, True)]
    return [
        Query(name=names.fresh(what), rtype=rtype, rd=True, payload=payload, do=do)
        for payload, do in ways
        for what, rtype in QUESTIONS
    ]


def _response_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    found = question_differences(went_in, came_out) + rcode_differences(went_in, came_out)
    for section in SECTIONS:
        found += section_differences(went_in, came_out, section)
    return found + raised_ttls(went_in, came_out)

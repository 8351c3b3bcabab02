"""A-same: the same data however they are asked for."""

import random
from collections.abc import Sequence

import dns.name
import dns.rcode
import dns.rdata
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text, type_text
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.landmarks import Place
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

TIMES = 10
"""So often each way is taken, in any order with the plainest. Where a server gives one of two answers each time, that
all of either are alike, and the two not, comes about once in a hundred thousand."""
PLACES_MAX = 4
TYPES_MAX = 16
"""RRsets, each of another type, that are asked for without EDNS and with DO alone."""
Way = tuple[str, bool, Query]
"""In words, whether by TCP, and what is asked."""
Asked = tuple[dns.name.Name, RdataType, Sequence[Way]]
Said = tuple[dns.rcode.Rcode | None, int, frozenset[dns.rdata.Rdata]]
ITEM = Item(
    id="A-same",
    role="authoritative",
    group="Answers",
    requirement="A question gets the same code, data and TTL by UDP and TCP, with EDNS and without, in any case.",
    references=("RFC 7766 section 5", "RFC 6891 section 6.2.1", "RFC 4343 section 3", "RFC 3225 section 3"),
    severity=Severity.ERROR,
    consequence="Clients reach one host or another, or none, depending on how their resolver asks.",
    procedure=(
        "NS, SOA and DNSKEY records and some RRsets that are known are asked for by UDP without EDNS, and in turn by "
        "TCP, with EDNS, with DO, and in upper case; an RRset of each other type that is known with DO. What differs "
        f"is asked for {TIMES} times each: it fails where each way gives the same each time, but another than the "
        "first."
    ),
    dig=(
        "dig @{server} -p {port} {host} {type} +norec +noedns",
        "dig @{server} -p {port} {host} {type} +norec +noedns +tcp",
        "dig @{server} -p {port} {host} {type} +norec +dnssec",
    ),
    needs=("zone",),
    faults=(
        "other-address-by-tcp",
        "other-address-in-upper-case",
        "other-address-with-edns",
        "other-ttl-with-do",
        "ttl-of-32-bits",
        "case-sensitive",
        "ttls-differ",
        "changes-data",
        "other-address",
        "raised-ttl",
        "old-serial-by-tcp",
        "keys-missing-without-do",
        "joins-strings-without-do",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask each way for some RRsets."""
    compared = 0
    for name, rtype, ways in (*_places(subject), *_one_of_each_type(subject)):
        plainest = Query(name=name, rtype=rtype, payload=None)
        first = subject.asker.ask(plainest)
        if first.message is None:
            continue
        for words, by_tcp, query in ways:
            other = _ask(subject, query, by_tcp)
            if other.message is None or other.rcode == dns.rcode.FORMERR:
                # Items about TCP, EDNS, DO and case say so.
                continue
            compared += 1
            if _said(first) != _said(other) and _is_steadily_other(subject, plainest, query, by_tcp):
                what = f"the response code {rcode_text(other)}" if other.rcode != first.rcode else "other data or TTL"
                return failed(f"{name} {type_text(rtype)} asked for {words} gets {what}.", first, other)
    if not compared:
        return inconclusive("There are no two responses to compare.")
    return passed(f"{compared} responses are the same as those to the plainest queries.", first)


def _places(subject: AuthoritativeSubject) -> list[Asked]:
    """Give what is asked for in every way."""
    marks = subject.landmarks
    apex = [(subject.origin, RdataType.SOA), *([(subject.origin, RdataType.DNSKEY)] if subject.is_signed else [])]
    known = [(place.name, place.rtype) for place in (marks.host, marks.wildcard) if place is not None]
    addresses = [(one.name, one.rtype) for one in subject.survey.places if one.rtype in {RdataType.A, RdataType.AAAA}]
    places = list(dict.fromkeys([(subject.origin, RdataType.NS), *known, *addresses]))[:PLACES_MAX]
    return [(name, rtype, _ways(name, rtype)) for name, rtype in (*places, *apex)]


def _one_of_each_type(subject: AuthoritativeSubject) -> list[Asked]:
    """Give an RRset of each type, the one with most strings in a record, to be asked for with DO as well."""
    chosen: dict[RdataType, Place] = {}
    for one in subject.survey.places:
        if one.rtype not in chosen or _strings(one) > _strings(chosen[one.rtype]):
            chosen[one.rtype] = one
    return [(one.name, one.rtype, [_with_do(one.name, one.rtype)]) for one in list(chosen.values())[:TYPES_MAX]]


def _strings(place: Place) -> int:
    """Give how many strings a record of an RRset has at most: servers that join them are seen by those with several."""
    return max((len(getattr(record, "strings", ())) for record in place.data), default=0)


def _with_do(name: dns.name.Name, rtype: RdataType) -> Way:
    return "with DO", False, Query(name=name, rtype=rtype, do=True, payload=USUAL_PAYLOAD)


def _ways(name: dns.name.Name, rtype: RdataType) -> Sequence[Way]:
    """Give how else to ask: in words, whether by TCP, and what."""
    upper = dns.name.Name([label.upper() for label in name.labels])
    return (
        ("by TCP", True, Query(name=name, rtype=rtype, payload=None)),
        ("with EDNS", False, Query(name=name, rtype=rtype)),
        _with_do(name, rtype),
        ("in upper case", False, Query(name=upper, rtype=rtype, payload=None)),
    )


def _ask(subject: AuthoritativeSubject, query: Query, by_tcp: bool) -> Exchange:
    return subject.asker.tcp(query) if by_tcp else subject.asker.ask(query)


def _said(exchange: Exchange) -> Said:
    """Give what matters of a response: its code, and the TTL and data of what was asked for."""
    rrset = rrset_of(exchange, "answer", exchange.query.name, exchange.query.rtype)
    return exchange.rcode, 0 if rrset is None else rrset.ttl, frozenset(rrset or ())


def _is_steadily_other(subject: AuthoritativeSubject, first: Query, other: Query, by_tcp: bool) -> bool:
    """Ask both many times: a zone that is changed meanwhile, or data given by turns, differ from themselves too.

    In no regular order, as a server may give two answers by turns.
    """
    said: dict[bool, set[Said]] = {False: set(), True: set()}
    order = [False, True] * TIMES
    random.SystemRandom().shuffle(order)
    for is_other in order:
        exchange = _ask(subject, other, by_tcp) if is_other else subject.asker.ask(first)
        if exchange.message is None:
            return False
        said[is_other].add(_said(exchange))
    return len(said[False]) == len(said[True]) == 1 and said[False] != said[True]

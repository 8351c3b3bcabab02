"""P-cache-key: what tells questions in the cache apart."""

from dataclasses import replace

import dns.name
import dns.rcode
from dns.rdataclass import RdataClass
from dns.rdatatype import RdataType

from dnsrig.items.proxy._cache import ask_twice
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="P-cache-key",
    role="proxy",
    group="Cache",
    requirement=(
        "A response from the cache is to the question that was asked: its type, its spelling, with OPT or without."
    ),
    references=("RFC 1035 section 7.4", "RFC 6891 section 6.1.1", "RFC 4343 section 4.1", "RFC 5625 section 3"),
    severity=Severity.ERROR,
    consequence=(
        "What a client gets depends on what others have asked for before, and may be no answer to its question."
    ),
    procedure=(
        "A name is asked for with type A, then TXT; one that has A alone with type AAAA, then A; with class IN, then "
        "another; in mixed case, then in lower case; with EDNS, then without, and the other way round. Where the "
        "second response is from the cache, its records, question and OPT are looked at."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example A; dig @{server} -p {port} x.plain.rig.example TXT",
        "dig @{server} -p {port} X.plain.rig.example A; dig @{server} -p {port} x.plain.rig.example A",
        "dig @{server} -p {port} x.plain.rig.example A; dig @{server} -p {port} x.plain.rig.example A +noedns",
    ),
    needs=("upstream",),
    faults=(
        "proxy-cache-ignores-do",
        "proxy-cache-ignores-type",
        "proxy-denials-ignore-type",
        "proxy-cache-ignores-class",
        "proxy-cache-ignores-case",
        "proxy-cache-adds-opt",
        "proxy-cache-ignores-edns",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask twice, with something else the second time."""
    for way in (_types, _absent_types, _classes, _spelling, _opt):
        found = way(subject)
        if found is not None:
            return found
    return passed("The second response, from cache or not, is to the second question.")


def _plain(name: dns.name.Name, rtype: RdataType = RdataType.A, payload: int | None = None) -> Query:
    return Query(name=name, rtype=rtype, rd=True, payload=payload)


def _types(subject: ProxySubject) -> Outcome | None:
    name = names.fresh(names.PLAIN)
    twice = ask_twice(subject, _plain(name), _plain(name, RdataType.TXT))
    if isinstance(twice, Outcome):
        return twice
    message = twice.second.client.message
    # Errors are the proxy's own, not from its cache.
    if message is None or not twice.from_cache or message.rcode() != dns.rcode.NOERROR:
        return None
    if any(one.rdtype == RdataType.TXT for one in message.answer):
        return None
    found = ", ".join(one.rdtype.name for one in message.answer) or "nothing"
    return failed(f"After type A, type TXT is answered with {found} from the proxy's cache.", twice.second.client)


def _absent_types(subject: ProxySubject) -> Outcome | None:
    name = names.fresh(names.ADDRESS)
    twice = ask_twice(subject, _plain(name, RdataType.AAAA), _plain(name))
    if isinstance(twice, Outcome):
        return twice
    message = twice.second.client.message
    if message is None or not twice.from_cache or message.rcode() not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        return None
    if any(one.rdtype == RdataType.A for one in message.answer):
        return None
    reason = "After type AAAA, which the name has not, type A, which it has, is denied from the proxy's cache."
    return failed(reason, twice.first.client, twice.second.client)


def _classes(subject: ProxySubject) -> Outcome | None:
    rtype, rdclass = RdataType.make(65_281), RdataClass.make(65_280)
    query = _plain(names.fresh(names.PLAIN), rtype)
    twice = ask_twice(subject, query, replace(query, rdclass=rdclass))
    if isinstance(twice, Outcome):
        return None
    message = twice.second.client.message
    # Some serve class IN alone and refuse others: P-unknown-class says so.
    if message is None or not twice.from_cache or all(one.rdclass == rdclass for one in message.answer):
        return None
    return failed("After class IN, CLASS65280 is answered with records of IN from the cache.", twice.second.client)


def _spelling(subject: ProxySubject) -> Outcome | None:
    lower = names.fresh(names.PLAIN)
    mixed = dns.name.Name([label.title() for label in lower.labels])
    twice = ask_twice(subject, _plain(mixed), _plain(lower))
    if isinstance(twice, Outcome):
        return twice
    first, second = twice.first.client.message, twice.second.client.message
    if first is None or second is None or not first.question or not second.question or not twice.from_cache:
        return None
    # One that always lower-cases is P-case's matter.
    if first.question[0].name.labels != mixed.labels or second.question[0].name.labels == lower.labels:
        return None
    came = second.question[0].name
    return failed(f"After {mixed}, {lower} is answered as {came} from the proxy's cache.", twice.second.client)


def _opt(subject: ProxySubject) -> Outcome | None:
    if subject.lacks("edns") is not None:
        return None
    plain = subject.plain.client.message
    adds_opt = plain is not None and plain.edns >= 0
    for first, second in ((1232, None), (None, None), (None, 1232)):
        name = names.fresh(names.PLAIN)
        twice = ask_twice(subject, _plain(name, payload=first), _plain(name, payload=second))
        if isinstance(twice, Outcome):
            return twice
        message = twice.second.client.message
        if message is None or not twice.from_cache or (adds_opt and second is None):
            continue
        if (message.edns >= 0) != (second is not None):
            said = "lacks OPT for a client with EDNS" if second else "has OPT for a client without EDNS"
            return failed(f"The response from the proxy's cache {said}.", twice.first.client, twice.second.client)
    return None

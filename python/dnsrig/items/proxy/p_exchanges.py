"""P-exchanges: every exchange of the run, whatever it was about."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream
from dnsrig.items.proxy._whole import changes
from dnsrig.items.proxy.p_types import TYPES
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

USUAL = (names.PLAIN, names.SECTIONS, names.ABSENT, names.EMPTY, names.EXPLAINED, names.REFUSED, names.BOGUS)
"""What is asked for by type A alone: what is changed there is P-1's matter, and that of others about single things."""
MORE = (
    tuple((names.PLAIN, rtype) for rtype in TYPES)
    + tuple(itertools.product((names.ABSENT, names.EMPTY), (RdataType.AAAA, RdataType.DS, RdataType.TXT)))
    + (
        (names.ALIAS, RdataType.AAAA),
        (names.SECTIONS, RdataType.AAAA),
        (names.EXPLAINED, RdataType.AAAA),
    )
)
Way = tuple[bool, bool, bool, bool]
WAYS: tuple[Way, ...] = (
    (False, False, False, False),
    (False, False, True, False),
    (True, False, False, False),
    (True, True, False, False),
    (True, True, True, True),
)
"""Of EDNS, DO, AD and CD."""
SHOWN = 4

ITEM = Item(
    id="P-exchanges",
    role="proxy",
    group="Integrity",
    requirement="What passes the proxy for the simplest questions passes it for all others.",
    references=("RFC 5625 section 3", "RFC 5625 section 4"),
    severity=Severity.ERROR,
    consequence="Some names or types fail, or do not validate, behind the proxy, where nobody looks for the reason.",
    procedure=(
        "Every usual type, and denials of several, are asked for without EDNS, with EDNS, DO, AD and CD, by UDP and "
        "TCP. In these exchanges, and in those of the items before, each query is compared with what came to the "
        "upstream, and each response with what it sent, flags and OPT included. What is changed with addresses, their "
        "denials and errors too is left to P-1, P-ad, P-additional and others. Free are the order of records, "
        "compression, lower TTLs, options of OPT, TC, AD, what a proxy that validates asks for more than its client, "
        "and what a client without DO or EDNS does not get; SERVFAIL of the proxy's own is no verdict."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example TLSA +dnssec",
        "dig @{server} -p {port} x.empty.rig.example TXT +dnssec +tcp",
    ),
    needs=("upstream",),
    runs_alone=True,
    faults=(
        "blocks-foreign-names",
        "lower-cases",
        "notimp-to-unknown-types",
        "proxy-clears-do-of-types",
        "proxy-clears-ra-of-types",
        "proxy-cuts-chains",
        "proxy-denies-names-without-aaaa",
        "proxy-drops-private",
        "proxy-hides-servfail-by-ipv6",
        "proxy-keeps-eight-records",
        "proxy-keeps-first-strings",
        "proxy-raises-ttl-zero",
        "proxy-removes-aliases",
        "proxy-rewrites-nxdomain-by-ipv6",
        "proxy-rewrites-nxdomain-of-www",
        "proxy-strips-rrsig-of-ds",
        "proxy-strips-rrsig-of-types",
        "proxy-strips-svcb-parameters",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare all that was asked."""
    before = list(subject.passed)
    usual = {
        change for through in _ask(subject, [(what, RdataType.A) for what in USUAL]) for change in changes(through)
    }
    found: dict[str, list[Through]] = {}
    compared = 0
    has_edns = subject.lacks("edns") is None
    for through in itertools.chain(before, _ask(subject, MORE)):
        if through.client.message is None or not through.forwarded:
            continue
        if through.client.query.payload is not None and not has_edns:
            continue
        compared += 1
        for change in changes(through) - usual:
            found.setdefault(change, []).append(through)
    if found:
        return _changed(found, compared)
    if not compared:
        return inconclusive(subject.silence() or "No query came to the upstream.")
    left = f", but for what passes never: {'; '.join(sorted(usual))}" if usual else ""
    return passed(f"{compared} queries and their responses pass{left}.")


def _ask(subject: ProxySubject, questions: Iterable[tuple[str, RdataType]]) -> Iterator[Through]:
    """Ask in every way; what is not answered is another item's matter."""
    ways = WAYS if subject.lacks("edns") is None else WAYS[:2]
    for transport, (what, rtype), (edns, do, ad, cd) in itertools.product(subject.transports, questions, ways):
        payload = USUAL_PAYLOAD if edns else None
        query = Query(name=names.fresh(what), rtype=rtype, rd=True, payload=payload, do=do, ad=ad, cd=cd)
        yield subject.ask(query, transport)


def _changed(found: Mapping[str, Sequence[Through]], compared: int) -> Outcome:
    """Say what is changed, and in which exchange that was seen."""
    said = []
    for change, seen in list(found.items())[:SHOWN]:
        often = f", as in {len(seen)} of {compared} exchanges" if len(seen) > 1 else ""
        said.append(f"{change} ({seen[0].client.title}{often})")
    more = f"; {len(found) - SHOWN} changes more" if len(found) > SHOWN else ""
    first = next(iter(found.values()))[0]
    reason = f"Other than with simple questions, {'; '.join(said)}{more}."
    return failed(reason, first.client, *at_upstream(first.upstream))

"""P-exchanges: every exchange of the run, whatever it was about."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream
from dnsrig.items.proxy._whole import OF_QUERIES, changes, kind_of
from dnsrig.items.proxy.p_types import TYPES
from dnsrig.verification.exchange import Transport
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
SILENCES = 4
"""With so many types that are not answered by a transport, no more are asked for by it: each takes seconds."""

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
        "denials and errors too is left to P-1, P-ad, P-additional and others; private addresses, mixed case and TTLs "
        "of 0 have items of their own. Free are the order of records, compression, lower TTLs, what is added to the "
        "additional section, options of OPT, TC, AD, what a proxy that validates asks for more than its client, and "
        "what a client without DO or EDNS does not get; SERVFAIL of the proxy's own is no verdict."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example TLSA +dnssec",
        "dig @{server} -p {port} x.empty.rig.example TXT +dnssec +tcp",
    ),
    needs=("upstream",),
    runs_alone=True,
    faults=(
        "blocks-foreign-names",
        "notimp-to-unknown-types",
        "proxy-clears-do-of-types",
        "proxy-clears-ra-of-types",
        "proxy-cuts-chains",
        "proxy-denies-names-without-aaaa",
        "proxy-hides-servfail-by-ipv6",
        "proxy-keeps-eight-records",
        "proxy-keeps-first-strings",
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
    usual = _Usual()
    for through in _ask(subject, [(what, RdataType.A) for what in USUAL]):
        usual.add(through)
    found: dict[str, list[Through]] = {}
    compared = 0
    has_edns = subject.lacks("edns") is None
    for through in itertools.chain(before, _ask(subject, MORE)):
        seen = changes(through)
        if seen is None or (through.client.query.payload is not None and not has_edns):
            continue
        compared += 1
        for change in usual.others(through, seen):
            found.setdefault(change, []).append(through)
    if found:
        return _changed(found, compared)
    if not compared:
        return inconclusive(subject.silence() or "No query came to the upstream whose response could be compared.")
    left = f", but for what is changed with addresses too: {'; '.join(usual.said)}" if usual.said else ""
    return passed(f"{compared} queries and their responses pass{left}.")


class _Usual:
    """What is changed with the simplest questions: of queries, and of answers, denials and errors each."""

    def __init__(self) -> None:
        self._of: dict[str, set[str]] = {}

    def add(self, through: Through) -> None:
        """Take down what was changed in an exchange."""
        for change in changes(through) or ():
            self._of.setdefault(_part(through, change), set()).add(change)

    def others(self, through: Through, seen: Iterable[str]) -> list[str]:
        """Give what was changed in an exchange and is not changed with simple questions."""
        return [change for change in sorted(seen) if change not in self._of.get(_part(through, change), ())]

    @property
    def said(self) -> list[str]:
        """All of it, for readers."""
        return sorted(set().union(*self._of.values()))


def _part(through: Through, change: str) -> str:
    return "query" if change.startswith(OF_QUERIES) else kind_of(through)


def _ask(subject: ProxySubject, questions: Iterable[tuple[str, RdataType]]) -> Iterator[Through]:
    """Ask in every way; what is not answered is another item's matter, and not asked again otherwise."""
    ways = WAYS if subject.lacks("edns") is None else WAYS[:2]
    silent: Counter[tuple[Transport, RdataType]] = Counter()
    for transport, (what, rtype), (edns, do, ad, cd) in itertools.product(subject.transports, questions, ways):
        if silent[transport, rtype] or sum(silent[transport, other] for other in TYPES) >= SILENCES:
            continue
        payload = USUAL_PAYLOAD if edns else None
        query = Query(name=names.fresh(what), rtype=rtype, rd=True, payload=payload, do=do, ad=ad, cd=cd)
        through = subject.ask(query, transport)
        silent[transport, rtype] += through.client.message is None
        yield through


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

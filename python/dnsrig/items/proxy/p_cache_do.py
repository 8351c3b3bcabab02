"""P-cache-do: the cache and DO."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._cache import ask_twice, signatures
from dnsrig.items.proxy._through import changed
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-cache-do",
    role="proxy",
    group="Cache",
    requirement=(
        "Signatures, those of denials too, come to clients with DO and to no others, whatever is in the proxy's cache."
    ),
    references=("RFC 4035 section 3.2.1", "RFC 5625 section 3"),
    severity=Severity.ERROR,
    consequence="One client that does not validate spoils a name for those that do, until its TTL runs out.",
    procedure=(
        "A name is asked for without EDNS and then with DO; another one with DO and then without EDNS; so are names "
        "and types that do not exist, and names with EDNS that has DO once."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example A +noedns",
        "dig @{server} -p {port} x.plain.rig.example A +dnssec",
        "dig @{server} -p {port} x.absent.rig.example A +noedns",
        "dig @{server} -p {port} x.absent.rig.example A +dnssec",
    ),
    needs=("dnssec",),
    faults=("proxy-cache-ignores-do", "proxy-cache-minds-edns-only", "proxy-denials-ignore-do"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for what is there, and what is not."""
    for what in (names.PLAIN, names.ABSENT, names.EMPTY):
        for with_first in (False, True):
            wrong = _mixed(subject, what, with_first=with_first)
            if wrong is not None:
                return wrong
    # A cache may tell EDNS from none, and not mind what is in it.
    for with_first in (False, True):
        wrong = _mixed(subject, names.PLAIN, with_first=with_first, payload=USUAL_PAYLOAD)
        if wrong is not None:
            return wrong
    return passed("Signatures come to those who ask with DO and to nobody else, whoever asked before.")


def _mixed(subject: ProxySubject, what: str, *, with_first: bool, payload: int | None = None) -> Outcome | None:
    """Ask twice, with DO once; the other time with EDNS if there is a payload size."""
    name = names.fresh(what)
    bare = Query(name=name, rtype=RdataType.A, rd=True, payload=payload)
    with_do = Query(name=name, rtype=RdataType.A, rd=True, do=True)
    twice = ask_twice(subject, with_do, bare) if with_first else ask_twice(subject, bare, with_do)
    if isinstance(twice, Outcome):
        return twice
    # Where a denial's signatures are, its NSEC records are P-unchanged's matter; so is all that no cache has lost.
    is_lost_elsewhere = what != names.PLAIN and not with_first and not twice.from_cache
    if bool(signatures(twice.second)) != with_first or is_lost_elsewhere:
        return None
    said = (
        "has signatures, which a client without DO did not ask for"
        if with_first
        else "lacks the signatures that a client with DO asked for"
    )
    kind = "response" if what == names.PLAIN else "denial"
    return changed(twice.second, [f"the second {kind}, {twice.how}, {said}"])

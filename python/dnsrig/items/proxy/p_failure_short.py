"""P-failure-short: failures that are over."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import lost
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

SHORT_S = 6.0
"""A little more than the five seconds that RFC 9520 section 3.2 gives as an example of a first time."""

ITEM = Item(
    id="P-failure-short",
    role="proxy",
    group="Cache",
    requirement="A first SERVFAIL or REFUSED is kept in the cache for some seconds at most.",
    references=("RFC 9520 section 3.2", "RFC 2308 section 7.1"),
    severity=Severity.NOTICE,
    consequence="A name whose servers failed for a moment stays away longer than the failure lasts.",
    procedure=(
        "Names to which the upstream responds with SERVFAIL and REFUSED are asked for twice, six seconds apart; the "
        "second time too the upstream is asked. How long failures are kept at most P-failure-cache finds out."
    ),
    dig=(
        "dig @{server} -p {port} x.servfail.rig.example A; sleep 6; dig @{server} -p {port} x.servfail.rig.example A",
    ),
    needs=("upstream",),
    faults=("proxy-caches-servfail", "proxy-caches-refused"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for both twice, some time apart."""
    firsts = []
    for what in (names.SERVFAIL, names.REFUSED):
        query = Query(name=names.fresh(what), rtype=RdataType.A, rd=True, payload=None)
        first = subject.ask(query)
        if first.client.message is None:
            return inconclusive(f"{what.upper()} does not come to the client (see P-errors).", first.client)
        wrong = lost(subject, first)
        if wrong is not None:
            return wrong
        firsts.append(first)
    pause(SHORT_S)
    for first in firsts:
        second = subject.ask(first.client.query)
        if second.client.message is None:
            return subject.unanswered(second)
        if not second.forwarded:
            return failed(f"{SHORT_S:g} s later the failure is from the proxy's cache.", first.client, second.client)
    return passed(f"{SHORT_S:g} s later the upstream is asked again.")

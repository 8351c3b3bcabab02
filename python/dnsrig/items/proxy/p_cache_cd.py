"""P-cache-cd: the cache and CD."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import lost
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="P-cache-cd",
    role="proxy",
    group="Cache",
    requirement="Data that failed validation and were given to a client with CD are not given to others.",
    references=("RFC 4035 section 4.7", "RFC 6840 section 5.9"),
    severity=Severity.CRITICAL,
    consequence=(
        "One query with CD puts forged data into the cache, from which clients that rely on the upstream's "
        "validation get them."
    ),
    procedure=(
        "A bogus name is asked for with CD and then without; the upstream gives the records, and then SERVFAIL."
    ),
    dig=("dig @{server} -p {port} x.bogus.rig.example A +cdflag", "dig @{server} -p {port} x.bogus.rig.example A"),
    needs=("upstream",),
    faults=("proxy-cache-ignores-cd",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask twice, with CD at first."""
    name = names.fresh(names.BOGUS)
    with_cd = subject.ask(Query(name=name, rtype=RdataType.A, rd=True, cd=True, payload=None))
    wrong = lost(subject, with_cd)
    if wrong is not None:
        return wrong
    if with_cd.client.rcode != dns.rcode.NOERROR:
        return inconclusive("The query with CD does not get the records (see P-1).", with_cd.client)
    without = subject.ask(Query(name=name, rtype=RdataType.A, rd=True, payload=None))
    if without.client.message is None:
        return inconclusive("The query without CD is not answered (see P-errors).", without.client)
    if without.client.rcode == dns.rcode.NOERROR and not without.forwarded:
        return failed(
            "The client without CD gets the bogus records from the proxy's cache.", with_cd.client, without.client
        )
    return passed("The client without CD does not get what the one with CD got.", without.client)

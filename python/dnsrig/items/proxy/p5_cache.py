"""P-5: the cache."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._cache import ask_twice
from dnsrig.items.proxy._through import changed
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import rcode_differences, section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

QUESTIONS = (
    (names.PLAIN, RdataType.A),
    (names.PLAIN, RdataType.TXT),
    (names.PLAIN, RdataType.MX),
    (names.ALIAS, RdataType.AAAA),
    (names.ABSENT, RdataType.A),
)

ITEM = Item(
    id="P-5",
    role="proxy",
    group="Cache",
    requirement="A response from the proxy's cache has what the first one had, signatures and denials included.",
    references=("RFC 5625 section 3", "RFC 4035 section 4.5", "JPRS-2010 case 7 item 5"),
    severity=Severity.ERROR,
    consequence="Validation works for the first client and fails for the following ones until the TTL runs out.",
    procedure="Records of several types, and a name that does not exist, are asked for twice with DO.",
    dig=(
        "dig @{server} -p {port} x.plain.rig.example A +dnssec +bufsize=4096",
        "dig @{server} -p {port} x.plain.rig.example A +dnssec +bufsize=4096",
    ),
    needs=("dnssec",),
    faults=("proxy-caches-without-rrsig", "proxy-caches-without-proofs"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask each question twice."""
    cached = []
    for what, rtype in QUESTIONS:
        query = Query(name=names.fresh(what), rtype=rtype, rd=True, do=True)
        twice = ask_twice(subject, query, query)
        if isinstance(twice, Outcome):
            return twice
        first, second = twice.first.client.message, twice.second.client.message
        if first is None or second is None or not twice.from_cache:
            continue
        found = rcode_differences(first, second)
        for section in ("answer", "authority"):
            found += section_differences(first, second, section)
        if found:
            return changed(twice.second, [f"from the cache, {found[0]}", *found[1:]])
        cached.append(rtype.name)
    said = f"from the cache for {', '.join(cached)}" if cached else "all from the upstream"
    return passed(f"Second responses are like first ones, {said}.")

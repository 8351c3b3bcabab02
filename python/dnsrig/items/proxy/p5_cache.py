"""P-5: the cache."""

import itertools

import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.proxy._cache import Twice, ask_twice
from dnsrig.items.proxy._through import changed, differences, no_difference
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import (
    edns_differences,
    flag_differences,
    rcode_differences,
    section_differences,
)
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

QUESTIONS = (
    (names.PLAIN, RdataType.A),
    (names.PLAIN, RdataType.TXT),
    (names.PLAIN, RdataType.MX),
    (names.PLAIN, RdataType.DS),
    (names.PLAIN, RdataType.DNSKEY),
    (names.PLAIN, RdataType.TLSA),
    (names.PLAIN, RdataType.SRV),
    (names.PLAIN, RdataType.HTTPS),
    (names.ALIAS, RdataType.AAAA),
    (names.ABSENT, RdataType.A),
    (names.EMPTY, RdataType.AAAA),
)
FLAGS = ("QR", "AA", "RD", "RA", "CD")
"""But AD, of which P-ad asks twice."""

ITEM = Item(
    id="P-5",
    role="proxy",
    group="Cache",
    requirement=(
        "A response from the proxy's cache has what the first one had, and the upstream's: signatures, denials, flags "
        "and OPT included."
    ),
    references=(
        "RFC 5625 section 3",
        "RFC 4035 section 4.5",
        "RFC 3225 section 3",
        "RFC 2308 section 6",
        "RFC 1035 section 4.1.1",
        "JPRS-2010 case 7 item 5",
    ),
    severity=Severity.ERROR,
    consequence=(
        "Validation works for the first client and fails for the following ones until the TTL runs out; stubs take no "
        "response that says there is no recursion."
    ),
    procedure=(
        "Records of several types, keys and DS among them, a name and a type that do not exist are asked for twice, "
        "with DO and without EDNS. What comes from the cache is compared with the first response, for AD see P-ad, "
        "and with what the upstream sent. DO comes back as it was asked with (RFC 3225), and denials with their SOA "
        "record and proofs (RFC 2308 section 6)."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example A +dnssec +bufsize=4096",
        "dig @{server} -p {port} x.plain.rig.example A +dnssec +bufsize=4096",
    ),
    needs=("dnssec",),
    faults=(
        "proxy-caches-without-rrsig",
        "proxy-caches-without-proofs",
        "proxy-caches-some-types",
        "proxy-strips-rrsig-of-ds",
        "proxy-caches-without-flags",
        "proxy-caches-without-opt",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask each question twice."""
    cached: dict[str, None] = {}
    for do, (what, rtype) in itertools.product((True, False), QUESTIONS):
        query = Query(name=names.fresh(what), rtype=rtype, rd=True, do=do, payload=1232 if do else None)
        twice = ask_twice(subject, query, query)
        if isinstance(twice, Outcome):
            return twice
        if not twice.from_cache:
            continue
        found = _lost_in_cache(twice)
        if found:
            return changed(twice.second, [f"from the cache, {found[0]}", *found[1:]])
        cached[rtype.name] = None
    said = f"from the cache for {', '.join(cached)}" if cached else "all from the upstream"
    return passed(f"Second responses are like first ones, {said}.")


def _lost_in_cache(twice: Twice) -> list[str]:
    """Say what the second response has not as the first one had it; or both not as the upstream."""
    first, second = twice.first.client.message, twice.second.client.message
    if first is None or second is None:
        return []
    found = _record_differences(first, second)
    found += flag_differences(first, second, FLAGS) + edns_differences(first, second)
    if found:
        return found
    # Both are alike, so that what the first one lacks is missing in the cache, too.
    return differences(twice.first, no_difference, _record_differences)


def _record_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    found = rcode_differences(went_in, came_out)
    for section in ("answer", "authority"):
        found += section_differences(went_in, came_out, section)
    return found

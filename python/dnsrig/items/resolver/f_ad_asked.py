"""F-ad-asked: AD to those who ask for it, and to no others."""

from dataclasses import replace

import dns.flags

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="F-ad-asked",
    role="resolver",
    group="DNSSEC records and flags",
    requirement="The resolver sets AD with secure data for queries with AD or DO, and for no others.",
    references=("RFC 6840 section 5.7", "RFC 6840 section 5.8"),
    severity=Severity.WARNING,
    consequence=(
        "Stubs that want no signatures, only the verdict, do not get it; or old stubs get a flag that they cannot take."
    ),
    procedure=(
        "A secure name is asked for with RD and without EDNS, once with AD: the response has AD; once "
        "without: it has not."
    ),
    dig=(
        "dig @{server} -p {port} www.control.nsec. A +noedns +ad",
        "dig @{server} -p {port} www.control.nsec. A +noedns +noad",
    ),
    needs=("validates",),
    faults=("sets-ad-unasked", "ignores-ad-flag", "sets-ad-always"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with AD and without, never with DO."""
    if not subject.sets_ad:
        return not_applicable("The resolver never sets AD (see F-secure-data).", subject.control)
    exchanges = []
    for ad in (True, False):
        exchange = subject.asker.ask(replace(subject.names.secure.plain, ad=ad))
        if exchange.message is None:
            return subject.unanswered(exchange)
        if exchange.has_flag(dns.flags.AD) != ad:
            said = "with AD has none" if ad else "with neither AD nor DO has AD"
            return failed(f"The response to a query {said}.", exchange)
        exchanges.append(exchange)
    return passed("AD came where AD was asked for, and not where neither AD nor DO was.", *exchanges)

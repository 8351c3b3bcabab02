"""F-validates: whether there is validation at all."""

import dns.flags
import dns.rcode

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="F-validates",
    role="resolver",
    group="Validation",
    requirement="The resolver validates: it tells secure data by AD, or keeps bogus data back.",
    references=("RFC 4035 section 4.2", "RFC 9364 section 1"),
    severity=Severity.ERROR,
    consequence=(
        "DNSSEC protects none of its users, or it has not this trust anchor. The other items about validation do not "
        "apply."
    ),
    procedure=(
        "A secure name, and a name with a wrong signature if one is known, are asked for with RD and DO: the first "
        "comes with AD, or the second is answered with SERVFAIL."
    ),
    dig=(
        "dig @{server} -p {port} www.control.nsec. A +dnssec",
        "dig @{server} -p {port} any.fresh.control-bogus.nsec. A +dnssec",
    ),
    needs=("dnssec",),
    faults=("does-not-validate",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for a secure and for a bogus name."""
    secure, bogus = subject.control, subject.bogus_control
    shown = [exchange for exchange in (secure, bogus) if exchange is not None]
    told = []
    if secure.has_flag(dns.flags.AD):
        told.append("a secure name comes with AD")
    if bogus is not None and bogus.rcode == dns.rcode.SERVFAIL:
        told.append("a bogus one is answered with SERVFAIL")
    silent = next((exchange for exchange in shown if exchange.message is None), None)
    if not told and silent is not None:
        return subject.unanswered(silent)
    if not told:
        known = "no bogus one is known" if bogus is None else "a bogus one as if nothing were wrong"
        anchor = "" if subject.told is None else ": it does not validate, or has not this trust anchor"
        return failed(f"A secure name comes without AD, and {known}{anchor}.", *shown)
    said = ", and ".join(told)
    return passed(f"{said[:1].upper()}{said[1:]}.", *shown)

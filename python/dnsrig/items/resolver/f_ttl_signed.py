"""F-ttl-signed: TTLs within what was signed."""

import time

from dns.rdatatype import RdataType

from dnsrig.items.resolver._forged import fresh_in
from dnsrig.items.resolver._usual import judged
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import signed_rrsets
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_ttls import ENDS_SOON, RAISED
from dnsrig.verification.verdicts import Outcome, Severity, inconclusive

SPARE_S = 60
"""Messages take time, and clocks differ."""
ITEM = Item(
    id="F-ttl-signed",
    role="resolver",
    group="Validation: signatures and keys",
    requirement="No TTL is longer than the original TTL of the signature, or than the signature is still valid.",
    references=("RFC 4035 section 5.3.3", "RFC 4034 section 3.1.4"),
    severity=Severity.ERROR,
    consequence=(
        "Who changes one response keeps its data in caches for as long as he likes, also when the zone has changed "
        "and the signature has expired: the TTL field is not signed."
    ),
    procedure=(
        "Names of a signed zone whose server gives TTLs of a day, where a minute was signed, and of one with TTLs of "
        "14 days, whose signatures end within three, are asked for twice with RD and DO. The TTL of each answer is "
        "neither longer than its signature's original TTL, nor than the time until this ends."
    ),
    dig=(
        f"dig @{{server}} -p {{port}} any.fresh.{RAISED} A +dnssec",
        f"dig @{{server}} -p {{port}} any.fresh.{ENDS_SOON} A +dnssec",
    ),
    needs=("upstream", "validates"),
    faults=("keeps-servers-ttl", "outlives-signatures", "raises-all-ttls"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask twice in each zone, so that what is kept shows too."""
    exchanges: list[Exchange] = []
    for zone in (RAISED, ENDS_SOON):
        question = Question(fresh_in(subject, zone), RdataType.A)
        for _ in range(2):
            exchange = subject.asker.ask(question.with_do)
            if exchange.message is None:
                return subject.unanswered(exchange)
            exchanges.append(exchange)
    found = [(one, _complaint(one)) for one in exchanges if _has_signatures(one)]
    if not found:
        return inconclusive("No name is answered with records and signatures.", *exchanges[:1])
    return judged(found, "no TTL is longer than was signed")


def _has_signatures(exchange: Exchange) -> bool:
    answer = [] if exchange.message is None else exchange.message.answer
    return any(rrset.rdtype == RdataType.RRSIG for rrset in answer)


def _complaint(exchange: Exchange) -> str:
    if exchange.message is None:
        return ""
    now_s = int(time.time())
    for signed in signed_rrsets(exchange.message, ("answer",)):
        ttl_s = signed.rrset.ttl
        for signature in signed.signatures:
            if ttl_s > signature.original_ttl:
                return f"{signed.title} has TTL {ttl_s}, its signature {signature.original_ttl}"
            left_s = signature.expiration - now_s
            if ttl_s > left_s + SPARE_S:
                return f"{signed.title} has TTL {ttl_s}, and its signature ends in {left_s} s"
    return ""

"""What the items about several servers of a zone share."""

from collections.abc import Callable, Hashable, Sequence

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, passed

NOT_SERVED = {dns.rcode.REFUSED, dns.rcode.SERVFAIL, dns.rcode.NOTAUTH}


def check_agreement(subject: AuthoritativeSubject, rtype: RdataType) -> Outcome:
    """Compare an RRset at the apex between this server and the zone's others; TTLs may differ."""
    all_answers = (subject.answers, *subject.peer_answers)
    return judge_agreement(
        [answers.get(subject.origin, rtype) for answers in all_answers],
        lambda exchange: frozenset(rrset_of(exchange, "answer", subject.origin, rtype) or ()),
        lambda exchange: f"{len(rrset_of(exchange, 'answer', subject.origin, rtype) or ())} {rtype.name} records",
    )


def judge_agreement(
    exchanges: Sequence[Exchange], told: Callable[[Exchange], Hashable], in_words: Callable[[Exchange], str]
) -> Outcome:
    """Compare what servers told, the subject first, `in_words` for the reason.

    Those that differ fail the item, whoever is silent; a silent one, or another that does not serve the zone, leaves it
    open whether all agree: A-peers-answer is about those.
    """
    lame = [exchange for exchange in exchanges[1:] if exchange.rcode in NOT_SERVED]
    answered = [exchange for exchange in exchanges if exchange.message is not None and exchange not in lame]
    for other in answered[1:]:
        if told(other) != told(answered[0]):
            here, there = in_words(answered[0]), in_words(other)
            reason = f"{answered[0].server} has {here}, {other.server} has {'others' if here == there else there}."
            return failed(reason, answered[0], other)
    silent = [exchange for exchange in exchanges if exchange.message is None]
    if silent:
        return inconclusive(f"{len(silent)} of {len(exchanges)} servers give {silent[0].trouble}.", *silent)
    if lame:
        codes = ", ".join(sorted({rcode_text(exchange) for exchange in lame}))
        return inconclusive(f"{len(lame)} of {len(exchanges)} servers do not serve the zone ({codes}).", *lame)
    return passed(f"All {len(exchanges)} servers have the same {in_words(exchanges[0])}.", *exchanges)

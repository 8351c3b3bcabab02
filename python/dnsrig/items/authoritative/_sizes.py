"""What A-86 and A-87 share: a response of a certain size by UDP."""

from collections.abc import Iterator, Sequence

from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.landmarks import Place
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import LARGE_PAYLOAD, AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, not_applicable, passed, passed_by_tcp

LARGEST_PAYLOAD = 65_535
MOST_TRIED = 10
"""RRsets that are tried of those whose data alone are not large enough."""
PAUSES_S = (0.5, 1.0)
"""Waits before a truncated response is asked for again: limits are so many responses a second."""


def limits_rate(subject: AuthoritativeSubject, truncated: Exchange) -> Outcome | None:
    """Look whether TC comes from a limit of the rate of responses (RRL) and not from their size; None if it stays."""
    for pause_s in PAUSES_S:
        pause(pause_s)
        again = subject.asker.udp(truncated.query)
        if again.response is not None and not again.is_truncated:
            return inconclusive("TC goes away when asked again: the server limits its responses.", truncated, again)
    if subject.asked_again(None).is_doubtful:
        return inconclusive("Others are truncated or unanswered now and then as well.", truncated)
    return None


def check_size(subject: AuthoritativeSubject, octets: int) -> Outcome:
    """Ask for RRsets whose response may exceed `octets` by UDP, until one does."""
    tried = []
    possible = _possible(subject, octets)
    small = {(place.name, place.rtype) for place in possible} - {(subject.origin, RdataType.DNSKEY)}
    too_large: Outcome | None = None
    for query in _queries(subject, octets, possible):
        if too_large is not None and query.rtype == RdataType.DNSKEY:
            break
        by_udp = subject.asker.udp(query)
        by_tcp = subject.asker.tcp(query)
        if by_udp.octets > octets and not _is_part(by_udp, by_tcp):
            return passed(f"A response of {by_udp.octets} octets came by UDP.", by_udp)
        # Silence where the response is smaller is for other items to tell.
        if by_udp.response is None and by_tcp.message is None and (query.name, query.rtype) in small:
            continue
        if by_udp.response is None and (by_tcp.message is None or by_tcp.octets > octets):
            return subject.unanswered(by_udp)
        if by_udp.is_truncated and by_tcp.message is None:
            return inconclusive(
                "The response is truncated by UDP, and there is none by TCP (see A-tcp).", by_udp, by_tcp
            )
        if by_tcp.message is None or by_tcp.octets <= octets:
            tried.append(by_tcp)
        elif by_udp.is_truncated:
            reason = f"A response of {by_tcp.octets} octets is truncated by UDP and comes by TCP."
            if by_tcp.octets <= (query.payload or 0):
                return passed_by_tcp(reason, by_udp, by_tcp)
            too_large = passed_by_tcp(reason, by_udp, by_tcp)
        elif by_udp.message is None:
            return subject.unanswered(by_udp)
        elif by_udp.message.answer != by_tcp.message.answer:
            reason = f"A response has {by_tcp.octets} octets by TCP, {by_udp.octets} by UDP without TC."
            return failed(reason, by_udp, by_tcp)
    if too_large is not None:
        return too_large
    largest = max((exchange.octets for exchange in tried), default=0)
    return not_applicable(
        f"No response of the zone exceeds {octets} octets; the largest known has {largest}.", *tried[:1]
    )


def _is_part(by_udp: Exchange, by_tcp: Exchange) -> bool:
    """Say whether records of the answer are missing by UDP without TC: some servers fill what they truncate."""
    if by_udp.message is None or by_tcp.message is None or by_udp.is_truncated:
        return False
    records = [sum(len(rrset) for rrset in one.answer) for one in (by_udp.message, by_tcp.message)]
    return records[0] < records[1]


def _possible(subject: AuthoritativeSubject, octets: int) -> list[Place]:
    """Give the RRsets whose response, with signature, can exceed `octets`, and still not the server's limit."""
    return [place for place in subject.landmarks.large if place.octets <= octets][:MOST_TRIED]


def _queries(subject: AuthoritativeSubject, octets: int, possible: Sequence[Place]) -> Iterator[Query]:
    """Give what may exceed so many octets, with its signatures; what does for certain; and the keys."""
    payload = LARGE_PAYLOAD if octets < LARGE_PAYLOAD - 100 else LARGEST_PAYLOAD
    certain = subject.landmarks.larger_than(octets)
    questions = dict.fromkeys((place.name, place.rtype, LARGE_PAYLOAD) for place in possible)
    if certain is not None:
        questions |= {(certain.name, certain.rtype, payload): None}
    for name, rtype, asked in (*questions, (subject.origin, RdataType.DNSKEY, payload)):
        yield Query(name=name, rtype=rtype, do=True, payload=asked)

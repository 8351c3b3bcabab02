"""What A-86 and A-87 share: a response of a certain size by UDP."""

from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import LARGE_PAYLOAD, AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, failed, not_applicable, passed, passed_by_tcp


def check_size(subject: AuthoritativeSubject, octets: int) -> Outcome:
    """Ask for an RRset whose response exceeds `octets` by UDP."""
    payload = LARGE_PAYLOAD if octets < LARGE_PAYLOAD - 100 else 65_535
    tried = []
    for place in reversed(subject.landmarks.large):
        query = Query(name=place.name, rtype=place.rtype, do=True, payload=payload)
        by_tcp = subject.asker.tcp(query)
        if by_tcp.message is None:
            return subject.unanswered(by_tcp)
        if not octets < by_tcp.octets <= payload:
            tried.append(by_tcp)
            continue
        by_udp = subject.asker.udp(query)
        if by_udp.message is None:
            return subject.unanswered(by_udp)
        if by_udp.is_truncated:
            reason = f"A response of {by_tcp.octets} octets is truncated by UDP and comes by TCP."
            return passed_by_tcp(reason, by_udp, by_tcp)
        if by_udp.octets <= octets and by_udp.message.answer == by_tcp.message.answer:
            # Only what may be left out is left out: additional data.
            tried.append(by_udp)
            continue
        if by_udp.octets <= octets:
            return failed(f"A response has {by_tcp.octets} octets by TCP, {by_udp.octets} by UDP without TC.", by_udp)
        return passed(f"A response of {by_udp.octets} octets came by UDP.", by_udp)
    largest = max((exchange.octets for exchange in tried), default=0)
    return not_applicable(f"No response of the zone exceeds {octets} octets; the largest known has {largest}.")

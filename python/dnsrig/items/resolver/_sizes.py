"""What F-86 and F-87 share: a response of a certain size by UDP."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, passed, passed_by_tcp

LARGE_PAYLOAD = 4096
LARGEST_PAYLOAD = 65_535


def check_size(subject: ResolverSubject, name: str, octets: int) -> Outcome:
    """Ask for TXT records whose response exceeds so many octets."""
    payload = LARGE_PAYLOAD if octets < LARGE_PAYLOAD - 100 else LARGEST_PAYLOAD
    query = Query(name=dns.name.from_text(name), rtype=RdataType.TXT, rd=True, do=True, payload=payload)
    # By TCP first, so that the records are in the cache, and UDP is not late.
    by_tcp = subject.asker.tcp(query)
    if by_tcp.message is None or not by_tcp.message.answer:
        by_tcp = subject.asker.tcp(query)
    by_udp = subject.asker.udp(query)
    if by_udp.message is None and not by_udp.is_truncated:
        return subject.unanswered(by_udp)
    if by_udp.octets > octets:
        return passed(f"A response of {by_udp.octets} octets came by UDP.", by_udp)
    if by_udp.is_truncated:
        if by_tcp.message is None or by_tcp.octets <= octets:
            reason = "The response is truncated by UDP, and does not come by TCP (see F-secure-large)."
            return inconclusive(reason, by_udp, by_tcp)
        return passed_by_tcp(
            f"A response of {by_tcp.octets} octets is truncated by UDP and comes by TCP.", by_udp, by_tcp
        )
    if by_udp.message is None or not by_udp.message.answer:
        return inconclusive(f"{name} TXT is not resolved (see F-secure-large).", by_udp)
    if by_tcp.octets > octets:
        reason = f"The response has {by_tcp.octets} octets by TCP, {by_udp.octets} by UDP without TC."
        return failed(reason, by_udp, by_tcp)
    return inconclusive(f"The response has {by_udp.octets} octets, not more than {octets}.", by_udp)

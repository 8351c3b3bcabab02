"""What items about size share: a response of so many octets by UDP."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream, is_whole, wrong_rcode
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Verdict, failed, inconclusive, passed, passed_by_tcp


def check_size(subject: ProxySubject, octets: int, payload: int) -> Outcome:
    """Ask for a response of so many octets by UDP, with DO and without; by TCP where it is truncated."""
    found = _check(subject, octets, payload, do=True)
    if found.verdict not in {Verdict.PASS, Verdict.PASS_BY_TCP}:
        return found
    without = _check(subject, octets, payload, do=False)
    return found if without.verdict == Verdict.PASS else without


def _check(subject: ProxySubject, octets: int, payload: int, *, do: bool) -> Outcome:
    query = Query(name=names.fresh(names.sized(octets)), rtype=RdataType.TXT, rd=True, do=do, payload=payload)
    by_udp = subject.ask(query)
    if by_udp.client.response is None:
        return subject.unanswered(by_udp)
    if wrong := wrong_rcode(by_udp):
        return wrong
    if not by_udp.client.is_truncated:
        if is_whole(subject, by_udp):
            return passed(f"A response of {by_udp.client.octets} octets comes by UDP.", by_udp.client)
        return failed(
            f"The response of {octets} octets is cut to {by_udp.client.octets}, and TC does not say so.",
            by_udp.client,
            *at_upstream(by_udp.upstream),
        )
    by_tcp = subject.ask(query, "tcp")
    if by_tcp.client.message is None:
        return inconclusive(
            f"The response of {octets} octets is truncated by UDP, and there is none by TCP (see P-4).", by_udp.client
        )
    if wrong := wrong_rcode(by_tcp):
        return wrong
    if not is_whole(subject, by_tcp):
        return failed(
            f"The response of {octets} octets is truncated by UDP, and has {by_tcp.client.octets} by TCP.",
            by_udp.client,
            by_tcp.client,
        )
    return passed_by_tcp(f"A response of {octets} octets is truncated by UDP and comes by TCP.", by_udp.client)

"""What F-86 and F-87 share: a response of a certain size by UDP."""

from dataclasses import replace

from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, not_applicable, passed, passed_by_tcp

LARGE_PAYLOAD = 4096


def large_query(question: Question, payload: int = LARGE_PAYLOAD) -> Query:
    """Ask with DO by a payload size."""
    return replace(question.with_do, payload=payload)


def none_so_large(octets: int) -> Outcome:
    """Say that no RRset of the user's tree is known whose response is longer."""
    return not_applicable(
        f"No name with a response of more than {octets} octets is known; --secure NAME/TYPE names one."
    )


def check_size(subject: ResolverSubject, octets: int) -> Outcome:
    """Ask by UDP for a response of more than `octets`; by TCP where it is truncated."""
    question = subject.names.large.get(octets)
    if question is None:
        return none_so_large(octets)
    query = large_query(question)
    by_udp = subject.asker.udp(query)
    if by_udp.message is None:
        return subject.unanswered(by_udp)
    if by_udp.octets > octets:
        return passed(f"A response of {by_udp.octets} octets came by UDP.", by_udp)
    by_tcp = subject.asker.tcp(query)
    if by_tcp.message is None:
        return inconclusive(
            "By TCP, which would show how large the response is, there is none (see F-tcp).", by_udp, by_tcp
        )
    if by_tcp.octets <= octets:
        return inconclusive(f"By TCP the response has {by_tcp.octets} octets (see F-secure-large).", by_udp, by_tcp)
    if by_udp.is_truncated:
        reason = f"A response of {by_tcp.octets} octets is truncated by UDP and comes by TCP."
        return passed_by_tcp(reason, by_udp, by_tcp)
    reason = f"A response has {by_tcp.octets} octets by TCP, {by_udp.octets} by UDP without TC."
    return failed(reason, by_udp, by_tcp)

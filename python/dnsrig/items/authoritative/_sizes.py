"""What the items about size share: the largest response that is known, and one of a certain size by UDP."""

from collections.abc import Iterator, Sequence

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import denied_name, sample
from dnsrig.items.authoritative._probes import rcode_text
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.landmarks import Place
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import LARGE_PAYLOAD, AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, not_applicable, passed, passed_by_tcp

LARGEST_PAYLOAD = 65_535
MOST_TRIED = 10
"""RRsets that are tried of those whose data alone are not large enough."""
MOST_MEASURED = 3
"""Of the largest responses, those that are asked for by TCP, which gives them whole."""
PAUSES_S = (0.5, 1.0)
"""Waits before a truncated response is asked for again: limits are so many responses a second."""


def limits_rate(subject: AuthoritativeSubject, truncated: Exchange) -> Outcome | None:
    """Look whether TC comes from a limit of the rate of responses (RRL) and not from their size; None if it stays.

    Asked again, it then goes away, or another response code comes: what a limit cuts has NOERROR.
    """
    for pause_s in PAUSES_S:
        pause(pause_s)
        again = subject.asker.udp(truncated.query)
        if again.response is not None and not again.is_truncated:
            return inconclusive("TC goes away when asked again: the server limits its responses.", truncated, again)
        if truncated.message is not None and again.rcode not in {None, truncated.rcode}:
            said = "The response with TC has another code when asked again: the server limits its responses."
            return inconclusive(said, truncated, again)
    if subject.asked_again(None).is_doubtful:
        return inconclusive("Others are truncated or unanswered now and then as well.", truncated)
    return None


def largest_known(subject: AuthoritativeSubject, *, do: bool = True) -> Exchange | None:
    """Give the largest whole response that is known, the same for all items; None where nothing is answered.

    With DO it is one of the sample, or to a question for an RRset with much data; without EDNS, to such a question, for
    the keys, or for a name that does not exist.
    """
    return subject.once(f"largest response, {'with DO' if do else 'without EDNS'}", lambda: _largest(subject, do))


def _largest(subject: AuthoritativeSubject, do: bool) -> Exchange | None:
    asked = [(place.name, place.rtype) for place in subject.landmarks.large[:MOST_TRIED]]
    asked += [(subject.origin, RdataType.DNSKEY), (denied_name(subject), RdataType.A)]
    known = sample(subject) if do else []
    if known or not do:
        known = [*known, *(subject.answers.get(*question, do=do) for question in dict.fromkeys(asked))]
    answered = {one.query: one for one in known if one.message is not None and not one.is_truncated}
    longest = sorted(answered.values(), key=_octets, reverse=True)[:MOST_MEASURED]
    by_tcp = [subject.asker.tcp(one.query) for one in longest if one.transport != "tcp"]
    whole = [one for one in by_tcp if one.message is not None and not one.is_truncated]
    return max([*longest, *whole], key=_octets, default=None)


def _octets(exchange: Exchange) -> int:
    return exchange.octets


def nothing_larger(subject: AuthoritativeSubject, octets: int, *, do: bool = True) -> Outcome:
    """Say that no response is known to be larger than so many octets, and how large they are."""
    largest = largest_known(subject, do=do)
    said = f"No response of the zone is known to exceed {octets} octets{'' if do else ' without EDNS'}"
    if largest is None:
        return not_applicable(f"{said}.")
    title = f"{largest.query.name} {RdataType.make(largest.query.rtype).name}"
    if largest.octets > octets:
        # Records that need not be there, such as addresses, are left out by UDP.
        return not_applicable(
            f"The largest response known of the zone, to {title}, has {largest.octets} octets by TCP; by UDP it "
            f"does not exceed {octets}, as the server leaves out what need not be there.",
            largest,
        )
    is_known = subject.landmarks.is_whole or subject.landmarks.is_filled
    more = "" if is_known else "; --name may name a larger RRset"
    return not_applicable(f"{said}; the largest, to {title}, has {largest.octets}{more}.", largest)


def check_size(subject: AuthoritativeSubject, octets: int) -> Outcome:
    """Ask for RRsets whose response may exceed `octets` by UDP, until one does."""
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
            continue
        if by_udp.is_truncated:
            reason = f"A response of {by_tcp.octets} octets is truncated by UDP and comes by TCP."
            if by_tcp.octets <= (query.payload or 0):
                return passed_by_tcp(reason, by_udp, by_tcp)
            too_large = passed_by_tcp(reason, by_udp, by_tcp)
        elif by_udp.message is None:
            return subject.unanswered(by_udp)
        elif by_udp.message.answer != by_tcp.message.answer:
            code = "" if by_udp.rcode == by_tcp.rcode else f", with the response code {rcode_text(by_udp)}"
            reason = f"A response has {by_tcp.octets} octets by TCP, {by_udp.octets} by UDP without TC{code}."
            return failed(reason, by_udp, by_tcp)
    return too_large or nothing_larger(subject, octets)


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
    """Give what may exceed so many octets, with its signatures; what does for certain; the keys; the largest known."""
    payload = LARGE_PAYLOAD if octets < LARGE_PAYLOAD - 100 else LARGEST_PAYLOAD
    certain = subject.landmarks.larger_than(octets)
    questions = dict.fromkeys((place.name, place.rtype, LARGE_PAYLOAD) for place in possible)
    if certain is not None:
        questions |= {(certain.name, certain.rtype, payload): None}
    for name, rtype, asked in (*questions, (subject.origin, RdataType.DNSKEY, payload)):
        yield Query(name=name, rtype=rtype, do=True, payload=asked)
    largest = largest_known(subject)
    if largest is not None and largest.octets > octets:
        name, rtype = largest.query.name, RdataType.make(largest.query.rtype)
        if (name, rtype, payload) not in questions and rtype != RdataType.DNSKEY:
            yield Query(name=name, rtype=rtype, do=True, payload=payload)

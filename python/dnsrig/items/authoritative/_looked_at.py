"""What items about the form of responses look at: those of the sample with DO, and the usual ones without EDNS."""

from collections.abc import Callable, Iterable, Iterator

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import (
    USUAL_TYPES,
    child_of,
    denied_name,
    expanded_name,
    nothing_seen,
    questions,
    sample,
)
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, failed, passed

PLAIN_MAX = 20
"""Places of the zone that are asked for without EDNS."""


def responses(subject: AuthoritativeSubject) -> list[Exchange]:
    """List the responses, those without EDNS first; what came may be unreadable."""
    marks, origin = subject.landmarks, subject.origin
    asked = [(origin, RdataType.SOA), (origin, RdataType.NS), (denied_name(subject), RdataType.A)]
    asked += [(place.name, place.rtype) for place in (marks.host, *subject.survey.places[:PLAIN_MAX]) if place]
    if marks.alias is not None:
        asked.append((marks.alias, RdataType.A))
    expanded = expanded_name(subject)
    if expanded is not None and marks.wildcard is not None:
        asked.append((expanded, marks.wildcard.rtype))
    cuts = (marks.delegation, marks.secure_delegation)
    asked += [(child_of(cut, subject.denied_label), RdataType.A) for cut in cuts if cut is not None]
    plain = []
    for name, rtype in dict.fromkeys(asked):
        plain.append(subject.answers.get(name, rtype, do=False))
        if plain[-1].response is None:
            # Others are about silence; each further question would wait for nothing.
            break
    seen = sample(subject)
    # The sample has none that cannot be read.
    with_do = [subject.answers.get(*question) for question in questions(subject)] if seen else []
    different = {id(exchange): exchange for exchange in (*plain, *seen, *with_do)}.values()
    return [exchange for exchange in different if exchange.response is not None]


def of_usual_types(subject: AuthoritativeSubject) -> Iterator[Exchange]:
    """Ask a host for what clients ask for every day, be it there or not: some servers make the answers of these."""
    host = subject.landmarks.host
    if host is None:
        return
    for do in (False, True):
        for rtype in (RdataType.A, *USUAL_TYPES):
            exchange = subject.answers.get(host.name, rtype, do=do)
            if exchange.response is None:
                # Others are about silence; each further question would wait for nothing.
                return
            yield exchange


def wrong_response(subject: AuthoritativeSubject, trouble: Callable[[Exchange], str]) -> Outcome | None:
    """Judge the responses as `check_responses` does, for items that look at more; None where all are right."""
    return _first_wrong(() if subject.lacks("zone") else responses(subject), trouble)


def _first_wrong(exchanges: Iterable[Exchange], trouble: Callable[[Exchange], str]) -> Outcome | None:
    for exchange in exchanges:
        said = trouble(exchange)
        if said:
            return failed(f"The response to {exchange.title} {said}.", exchange)
    return None


def check_responses(
    subject: AuthoritativeSubject, trouble: Callable[[Exchange], str], held: str, further: Iterable[Exchange] = ()
) -> Outcome:
    """Judge each response by `trouble`: what is wrong, as words that go on after "The response to ...", or "".

    `held` is the reason of a pass, with {count} for the number of responses; `further` are judged after the usual ones.
    """
    looked_at = [*responses(subject), *further]
    wrong = _first_wrong(looked_at, trouble)
    if wrong is not None:
        return wrong
    if not looked_at:
        return nothing_seen("anything to look at")
    return passed(held.format(count=len(looked_at)), looked_at[0])

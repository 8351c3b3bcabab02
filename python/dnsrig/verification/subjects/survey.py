"""A look at all of a zone's names that are known, or at many of them: one query for each RRset and for each denial."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.kept import kept_property
from dnsrig.verification.landmarks import Place
from dnsrig.verification.stopping import thread_pool
from dnsrig.verification.subjects.answers import Answers

LONGEST_S = 6.0
"""After which no further question is asked."""
AT_ONCE = 4
SILENT_MAX = 3
"""Unanswered questions after which no further one is asked: each takes seconds."""
RARE_TYPES = (RdataType.LOC, RdataType.RP, RdataType.NAPTR, RdataType.HINFO)
"""Of which a name lacks at least one, in any zone but one made to spite."""

Question = tuple[dns.name.Name, RdataType]


@dataclass
class Survey:
    """The questions, and what the server says to them; they are asked when the first item wants to know."""

    answers: Answers
    origin: dns.name.Name
    places: Sequence[Place]
    """What is known to be there."""
    cuts: frozenset[dns.name.Name]
    """Delegations, all that are known."""
    uses_nsec: bool
    """Whether the zone has a chain of NSEC records, which can be asked for."""

    @kept_property
    def absences(self) -> list[Question]:
        """List a type that is not there for each name that is neither an alias nor delegated."""
        types: dict[dns.name.Name, set[RdataType]] = {}
        for place in self.places:
            types.setdefault(place.name, set()).add(place.rtype)
        return [
            (name, next((rtype for rtype in RARE_TYPES if rtype not in there), RARE_TYPES[0]))
            for name, there in types.items()
            if RdataType.CNAME not in there and name not in self.cuts
        ]

    @kept_property
    def questions(self) -> list[Question]:
        """List what is asked for."""
        asked: list[Question] = [(place.name, place.rtype) for place in self.places]
        asked += self.absences
        if self.uses_nsec:
            # Of an alias no other question has the NSEC record in its answer.
            asked += [(place.name, RdataType.NSEC) for place in self.places if place.rtype == RdataType.CNAME]
        return list(dict.fromkeys(asked))

    @kept_property
    def asked(self) -> dict[Question, Exchange]:
        """The questions that were asked with their exchanges, those without usable response left out."""
        return {question: exchange for question, exchange in self.given.items() if exchange.message is not None}

    @kept_property
    def given(self) -> dict[Question, Exchange]:
        """The same, with responses that cannot be parsed."""
        if self.answers.get(self.origin, RdataType.SOA).rcode != dns.rcode.NOERROR:
            # Queries with DO are not answered at all, or with an error.
            return {}
        deadline = time.monotonic() + LONGEST_S
        silent: list[Question] = []

        def ask(question: Question) -> Exchange | None:
            if time.monotonic() > deadline or len(silent) >= SILENT_MAX:
                return None
            exchange = self.answers.get(*question)
            if exchange.response is None:
                silent.append(question)
            return exchange

        questions = self.questions
        with thread_pool(AT_ONCE, "survey") as pool:
            found = list(pool.map(ask, questions))
        return {
            question: exchange
            for question, exchange in zip(questions, found, strict=True)
            if exchange is not None and exchange.response is not None
        }

"""Names below others that the items about denials and referrals ask for with DO, beside those right below the apex."""

import time
from collections.abc import Iterable, Iterator
from random import Random

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of, denied_name, expanded_name
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of

MOST_CUTS = 50
"""Delegations to which referrals are asked for, where more are known."""
LONGEST_S = 3.0
"""After which no further referral is asked for."""
BELOW = b"deep"
LONGEST_NAME = 255
"""Octets of a name."""


def deep_names(subject: AuthoritativeSubject) -> list[dns.name.Name]:
    """Give names that do not exist: two labels below the apex, below names that are there, and below empty ones."""
    marks, cuts = subject.landmarks, subject.survey.cuts
    there = {place.name for place in subject.survey.places if not place.name.is_wild()} - cuts - {subject.origin}
    hosts = [] if marks.host is None else [marks.host.name]
    empties = [name for name in (marks.empty, max(marks.empties, key=len, default=None)) if name is not None]
    deepest = sorted(there, key=lambda name: (-len(name), name))[:1]
    above = [*hosts, *([] if marks.alias is None else [marks.alias]), *empties, *deepest]
    below = _below(above, subject.denied_label)
    return list(dict.fromkeys([*_below([denied_name(subject)], BELOW), *below, *_below(below[:1], BELOW)]))


def deep_expanded_names(subject: AuthoritativeSubject) -> list[dns.name.Name]:
    """Give names for which the zone's wildcard stands, two and three labels below its parent."""
    name = expanded_name(subject)
    if name is None:
        return []
    deeper = _below([name], BELOW)
    return [*deeper, *_below(deeper, BELOW)]


def _below(names: Iterable[dns.name.Name], label: bytes) -> list[dns.name.Name]:
    """Give the names with a label before them, but for those that leave no room for it (RFC 1035 section 3.1)."""
    return [
        child_of(name, label) for name in names if sum(len(one) + 1 for one in (label, *name.labels)) <= LONGEST_NAME
    ]


def referrals_with_do(subject: AuthoritativeSubject) -> list[tuple[dns.name.Name, Exchange]]:
    """Ask with DO below every delegation that is known, or below many; give those to which there are referrals.

    First come those of the landmarks, then what the user names, and what is doubtful by the zone's data.
    """
    return subject.once("referrals with DO", lambda: list(_referrals(subject)))


def _referrals(subject: AuthoritativeSubject) -> Iterator[tuple[dns.name.Name, Exchange]]:
    deadline = time.monotonic() + LONGEST_S
    for cut in _chosen_cuts(subject):
        if time.monotonic() > deadline:
            return
        for name in _below([cut], subject.denied_label):
            exchange = subject.answers.get(name, RdataType.A)
            if exchange.response is None:
                return
            if not exchange.is_truncated and rrset_of(exchange, "authority", cut, RdataType.NS) is not None:
                yield cut, exchange


def _chosen_cuts(subject: AuthoritativeSubject) -> list[dns.name.Name]:
    marks, known = subject.landmarks, subject.known_data
    named = (marks.delegation, marks.secure_delegation, *known.told_cuts, *known.doubtful_cuts)
    first = list(dict.fromkeys(cut for cut in named if cut is not None))[:MOST_CUTS]
    others = sorted(subject.survey.cuts - set(first))
    drawn = Random(marks.seed).sample(others, min(len(others), MOST_CUTS - len(first)))
    return [*first, *sorted(drawn)]

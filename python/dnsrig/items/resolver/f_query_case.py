"""F-query-case: letters' case in queries, where it is mixed."""

from collections import Counter

from dnsrig.items.resolver._own_queries import own_queries, too_few
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, not_applicable, passed

LETTERS = 200
"""Fewer letters say too little."""
LEAST, MOST = 0.3, 0.7
"""The share of capitals among so many letters is between these by chance, but once in millions of runs."""

ITEM = Item(
    id="F-query-case",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="Where the resolver mixes the case of letters in its queries (0x20), each letter's case is drawn.",
    references=("draft-vixie-dnsext-dns0x20-00", "RFC 4343 section 4.1"),
    severity=Severity.NOTICE,
    consequence="What is to make forgery harder does not.",
    procedure=(
        "100 names in lower case are asked for one after the other; if letters of the queries for them that came to "
        "the tree's servers are capitals, between 30 and 70 percent are, and the names differ in where."
    ),
    dig=(
        "dig @{server} -p {port} any.fresh.control.unsigned. A   # often, and look at what comes to the tree's servers",
    ),
    needs=("upstream", "seen"),
    faults=("mixes-case-alike",),
    runs_alone=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Look at the case of many queries."""
    seen = own_queries(subject)
    texts = [one.name.to_text() for one in seen]
    letters = [letter for text in texts for letter in text if letter.isalpha()]
    capitals = sum(letter.isupper() for letter in letters)
    if not capitals and letters:
        return not_applicable("The resolver asks in lower case: it does not use the case of letters against forgery.")
    if len(letters) < LETTERS:
        if not letters and (outcome := too_few(subject, seen)) is not None:
            return outcome
        return inconclusive(f"{len(letters)} letters came to the tree, which is too few.")
    shown = Evidence("names at the tree's servers", "\n".join(texts))
    share = capitals / len(letters)
    if not LEAST < share < MOST:
        return failed(f"{capitals} of {len(letters)} letters are capitals, so most can be guessed.", shown)
    # Names end alike, so the case of their ends can be compared.
    ends = Counter("".join("1" if letter.isupper() else "0" for letter in text[-18:]) for text in texts)
    most = max(ends.values())
    if most * 2 > len(texts):
        return failed(f"In {most} of {len(texts)} names the same letters are capitals.", shown)
    return passed(f"{capitals} of {len(letters)} letters are capitals, in different places.", shown)

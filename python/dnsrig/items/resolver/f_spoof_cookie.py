"""F-spoof-cookie: responses with another client cookie."""

from dnsrig.items.resolver._forged import check_forged, fresh_in
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_cookies import FORGED, cookie_of
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, not_applicable

NAMES = 2
ITEM = Item(
    id="F-spoof-cookie",
    role="resolver",
    group="Spoofing and bailiwick",
    requirement="A resolver that sends cookies takes no response with another client cookie than its own.",
    references=("RFC 7873 section 5.3", "RFC 7873 section 2.2"),
    severity=Severity.WARNING,
    consequence="What cookies are for, that responses are not forged by who cannot see its queries, is not had.",
    procedure=(
        "The response of a server of the tree comes behind a forged one with the right ID and question and another "
        "client cookie; the address in the answer is the right one, or there is none. Where no query has a cookie "
        "it does not apply."
    ),
    dig=(f"dig @{{server}} -p {{port}} any.fresh.{FORGED} A +noedns   # not 198.18.2.66",),
    needs=("upstream", "seen"),
    faults=("takes-any-cookie",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for names whose responses come behind forged ones."""
    names = [fresh_in(subject, FORGED) for _ in range(NAMES)]
    outcome = check_forged(subject, [(name, None, "a response with another client cookie") for name in names])
    had_cookie = any(cookie_of(one) for name in names for one in subject.seen_of(name))
    if outcome.verdict == Verdict.PASS and not had_cookie:
        return not_applicable("The resolver sends no cookies to servers.")
    return outcome

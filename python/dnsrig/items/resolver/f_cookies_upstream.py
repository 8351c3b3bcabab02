"""F-cookies-upstream: servers that want their cookie."""

from dnsrig.items.resolver._forged import ask_plainly, fresh_in
from dnsrig.items.resolver._servers import ENOUGH, has_records
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_cookies import DEMANDED, cookie_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

NAMES = 3
ITEM = Item(
    id="F-cookies-upstream",
    role="resolver",
    group="Servers that are wrong",
    requirement="A resolver that sends cookies comes again with the server's where a server wants it.",
    references=("RFC 7873 section 5.3", "RFC 7873 section 5.2.3"),
    severity=Severity.ERROR,
    consequence="Zones whose servers ask for their cookies, as under attack, do not resolve.",
    procedure=(
        "Names are asked for whose server answers queries by UDP that have a cookie, but not its own, with BADCOOKIE "
        "and its cookie; queries without cookie it answers. The addresses come. Where no query has a cookie it does "
        "not apply."
    ),
    dig=(f"dig @{{server}} -p {{port}} any.fresh.{DEMANDED} A +noedns",),
    needs=("upstream", "seen"),
    faults=("keeps-its-cookie",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask for several names: a message may be lost."""
    wrong: list[Exchange] = []
    had_cookie = False
    for _ in range(NAMES):
        exchange = ask_plainly(subject, fresh_in(subject, DEMANDED))
        had_cookie = had_cookie or any(cookie_of(one) for one in subject.seen_of(exchange.query.name))
        wrong += [] if has_records(exchange) else [exchange]
    if not had_cookie:
        if wrong:
            return inconclusive("Names are not answered, and no query with a cookie came to their server.", *wrong)
        return not_applicable("The resolver sends no cookies to servers.", exchange)
    if len(wrong) >= ENOUGH:
        if all(one.message is None for one in wrong) and subject.silence():
            return subject.unanswered(wrong[0])
        return failed(f"Of {NAMES} names whose server wants its cookie, {len(wrong)} are not answered.", *wrong)
    if wrong:
        return inconclusive(f"Of {NAMES} names, one is not answered, which may be for a lost message.", *wrong)
    return passed(f"{NAMES} names whose server wants its cookie are answered.", exchange)

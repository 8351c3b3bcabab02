"""F-bogus-plain: what does not validate is kept back from clients without EDNS."""

import dns.rcode

from dnsrig.items.resolver._table import ask_rows
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.known_names import Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import BOGUS
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEMS = ("F-bogus", "F-bad-signature", "F-expired", "F-missing-rrsig", "F-missing-proof-name", "F-missing-proof-type")
SHOWN = 3
ITEM = Item(
    id="F-bogus-plain",
    role="resolver",
    group="Validation",
    requirement="What does not validate is kept back from clients that ask without EDNS.",
    references=("RFC 4035 section 3.2.2", "RFC 4035 section 5.5"),
    severity=Severity.CRITICAL,
    consequence="Most stubs ask neither with DO nor with EDNS: forged data come to all of them.",
    procedure=(
        "Names whose data, or whose denial, does not validate are asked for without EDNS. Each that is answered with "
        "SERVFAIL to a query with DO is answered so."
    ),
    dig=("dig @{server} -p {port} any.fresh.control-bogus.nsec. A +noedns   # SERVFAIL",),
    needs=("validates", "bogus"),
    faults=("validates-with-do-only",),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with DO, and what is kept back then without EDNS."""
    rows = [row for item_id in ITEMS for row in subject.rows(item_id) if row.case.right == BOGUS]
    # The rig's tree has fresh ones; in other trees those that are told are in the table.
    questions = [Question(row.name, row.case.rtype) for row in rows]
    controls = zip(questions, ask_rows(subject, rows), strict=True)
    kept = [question for question, exchange in controls if exchange.rcode == dns.rcode.SERVFAIL]
    if not kept:
        return inconclusive("No bogus name is kept back from clients with DO either (see F-bogus).")
    asked = [subject.asker.ask(question.plain) for question in kept]
    answered = [exchange for exchange in asked if exchange.message is not None]
    if not answered:
        return subject.unanswered(asked[0])
    wrong = [one for one in answered if one.rcode in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}]
    if wrong:
        said = "; ".join(
            f"{one.title} is answered with {dns.rcode.to_text(one.rcode or dns.rcode.NOERROR)}" for one in wrong[:SHOWN]
        )
        more = f"; {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        return failed(f"Kept back with DO, and given without EDNS: {said}{more}.", *wrong[:SHOWN])
    others = [one for one in answered if one.rcode != dns.rcode.SERVFAIL]
    if others:
        return inconclusive("Queries without EDNS are refused; whether bogus data are is not seen.", *others[:SHOWN])
    return passed(f"Of {len(answered)} bogus names none is given without EDNS.", answered[0])

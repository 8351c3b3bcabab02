"""What most items share: questions of the tree's table, and whether the answers are what a right validator gives."""

import dns.flags
import dns.rcode

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.cases import BOGUS, Status, TableRow
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, passed

PROCEDURE = "Each name is asked for with RD and DO. "
RCODES = {"": dns.rcode.NOERROR, "type": dns.rcode.NOERROR, "name": dns.rcode.NXDOMAIN}
AD_ITEM = "F-secure-data"
SHOWN = 3
"""So many exchanges are evidence."""


def status_of(exchange: Exchange) -> Status | None:
    """Say what the resolver found, by rcode and AD; None: it did not resolve, and SERVFAIL is not why."""
    if exchange.rcode == dns.rcode.SERVFAIL:
        return Status.BOGUS
    if exchange.rcode not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        return None
    return Status.SECURE if exchange.has_flag(dns.flags.AD) else Status.INSECURE


def ask_row(subject: ResolverSubject, row: TableRow) -> Exchange:
    """Ask; once more where SERVFAIL came and is not right: a message upstream may have been lost."""
    query = Query(name=row.name, rtype=row.case.rtype, rd=True, do=True)
    exchange = subject.asker.ask(query)
    if exchange.response is None and Status.BOGUS not in row.case.right:
        # Size is the matter of other items.
        return subject.asker.tcp(query)
    if exchange.rcode == dns.rcode.SERVFAIL and Status.BOGUS not in row.case.right:
        return subject.asker.ask(query)
    return exchange


def complaint(subject: ResolverSubject, row: TableRow, exchange: Exchange) -> str:
    """Say, as a clause, what is wrong with a response that is there; "" if nothing is."""
    right, found = row.case.right, status_of(exchange)
    asked = f"{row.name} {row.case.rtype.name} ({row.case.what})"
    if found is None:
        return f"{asked} is answered with {dns.rcode.to_text(exchange.rcode or dns.rcode.NOERROR)}"
    if found == Status.INSECURE and Status.SECURE in right and not subject.sets_ad and row.case.item != AD_ITEM:
        # It never sets AD: one item says so, and this one is about the answer.
        found = Status.SECURE
    if found not in right:
        return f"{asked} {_given(found, right)}"
    if found == Status.BOGUS:
        return ""
    rcode, wanted = exchange.rcode, RCODES[row.case.denied]
    message = exchange.message
    there = message is not None and any(
        rrset.rdtype == row.case.rtype and not row.case.denied for rrset in message.answer
    )
    if rcode != wanted or there == bool(row.case.denied):
        said = "without the records" if rcode == wanted else f"with {dns.rcode.to_text(rcode or dns.rcode.NOERROR)}"
        return f"{asked} is answered {said}"
    return ""


def _given(found: Status, right: tuple[Status, ...]) -> str:
    if found == Status.BOGUS:
        return "is answered with SERVFAIL"
    if right == (Status.BOGUS,):
        return "is answered with AD as secure" if found == Status.SECURE else "is answered as if nothing were wrong"
    return "is answered with AD, though nothing proves it" if found == Status.SECURE else "is answered without AD"


def check_table(subject: ResolverSubject, item_id: str) -> Outcome:
    """Ask all questions of an item, and compare."""
    wrong: list[str] = []
    evidence: list[Exchange] = []
    right: list[Exchange] = []
    rows = subject.rows(item_id)
    for row in rows:
        exchange = ask_row(subject, row)
        if exchange.response is None and row.case.right == BOGUS and not subject.silence():
            # Some, such as BIND with an unsigned alias, take longer than clients wait: nothing was accepted.
            right.append(exchange)
            continue
        if exchange.message is None:
            return subject.unanswered(exchange)
        said = complaint(subject, row, exchange)
        if said:
            wrong.append(said)
            evidence.append(exchange)
        else:
            right.append(exchange)
    if wrong:
        more = f"; {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        return failed(f"Of {len(rows)} questions, {len(wrong)}: {'; '.join(wrong[:SHOWN])}{more}.", *evidence[:SHOWN])
    if not rows:
        return inconclusive("The tree has no question for this.")
    return passed(f"{_counted(right)}, as is right.", *right[:1])


def _counted(exchanges: list[Exchange]) -> str:
    words = {
        Status.SECURE: "secure",
        Status.INSECURE: "without AD",
        Status.BOGUS: "SERVFAIL",
        None: "no response in time",
    }
    found = [status_of(exchange) for exchange in exchanges]
    counts = [f"{found.count(status)} {word}" for status, word in words.items() if status in found]
    return f"{len(exchanges)} {'question' if len(exchanges) == 1 else 'questions'}: {', '.join(counts)}"

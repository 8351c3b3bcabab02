"""What most items share: questions of the tree's table, and whether the answers are what a right validator gives."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import dns.flags
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause, thread_pool
from dnsrig.verification.subjects.resolver import POINT_AT_TREE, ResolverSubject
from dnsrig.verification.tree.cases import BOGUS, Status, TableRow
from dnsrig.verification.tree.zones_algorithms import SUPPORT
from dnsrig.verification.verdicts import Evidence, Outcome, Verdict, failed, inconclusive, not_applicable, passed

PROCEDURE = "Each name is asked for with RD and DO. "
PROCEDURE_BOGUS = "Each name is asked for with RD and DO, by UDP and by TCP. "
RCODES = {"": dns.rcode.NOERROR, "type": dns.rcode.NOERROR, "name": dns.rcode.NXDOMAIN}
AD_ITEM = "F-secure-data"
STATUSES = "what was found for each name"
"""The title of the evidence that has a line for each."""
SHOWN = 3
"""So many exchanges are evidence."""
ROWS_AT_ONCE = 4
PAUSES_S = (2.0, 5.0)
"""Before what is answered with SERVFAIL, and should not be, is asked again: a resolver that lost messages of a server
leaves that one alone for a while, and may keep the failure for some seconds (RFC 9520 section 3.2)."""


def status_of(exchange: Exchange) -> Status | None:
    """Say what the resolver found, by rcode and AD; None: it did not resolve, and SERVFAIL is not why."""
    if exchange.rcode == dns.rcode.SERVFAIL:
        return Status.BOGUS
    if exchange.rcode not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        return None
    return Status.SECURE if exchange.has_flag(dns.flags.AD) else Status.INSECURE


def ask_row(subject: ResolverSubject, row: TableRow) -> Exchange:
    """Ask; once more where SERVFAIL came and is not right: a message upstream may have been lost."""
    query = _query(row)
    exchange = subject.asker.ask(query)
    if exchange.response is None and Status.BOGUS not in row.case.right:
        # Size is the matter of other items.
        return subject.asker.tcp(query)
    return subject.asker.ask(query) if _fails_wrongly(row, exchange) else exchange


def ask_rows(subject: ResolverSubject, rows: Sequence[TableRow]) -> list[Exchange]:
    """Ask for several, few at a time: BIND takes longer than clients wait for each of some bogus names."""
    with thread_pool(max(min(len(rows), ROWS_AT_ONCE), 1), "rows") as pool:
        return list(pool.map(lambda row: ask_row(subject, row), rows))


def _fails_wrongly(row: TableRow, exchange: Exchange) -> bool:
    return exchange.rcode == dns.rcode.SERVFAIL and Status.BOGUS not in row.case.right


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
    wrong: list[tuple[TableRow, Exchange]] = []
    right: list[Exchange] = []
    rows = _strict_rows(subject, item_id)
    if not rows:
        return _nothing_to_ask(subject)
    for row, exchange in zip(rows, ask_rows(subject, rows), strict=True):
        if exchange.response is None and Status.BOGUS in row.case.right and not subject.silence():
            # Some, such as BIND with an unsigned alias, take longer than clients wait: nothing was accepted.
            right.append(exchange)
            continue
        if exchange.message is None:
            return subject.unanswered(exchange)
        if complaint(subject, row, exchange):
            wrong.append((row, exchange))
        else:
            right.append(exchange)
    for pause_s in PAUSES_S:
        if not any(_fails_wrongly(row, exchange) for row, exchange in wrong):
            break
        pause(pause_s)
        wrong, late = _asked_again(subject, wrong)
        right += late
    if all(exchange.message is None for exchange in right) and not wrong:
        return inconclusive("No name is answered in time, so that nothing was judged.", *right[:1])
    if wrong:
        said = "; ".join(complaint(subject, row, exchange) for row, exchange in wrong[:SHOWN])
        more = f"; {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        evidence = [exchange for _, exchange in wrong[:SHOWN]]
        return failed(f"Of {len(rows)} questions, {len(wrong)}: {said}{more}.", *evidence)
    return passed(f"{_counted(right)}, as is right.", *right[:1])


def check_with_statuses(subject: ResolverSubject, item_id: str) -> Outcome:
    """Ask all questions of an item, and show beside what decides what was found for each."""
    return with_statuses(subject, check_table(subject, item_id), subject.rows(item_id))


def with_statuses(subject: ResolverSubject, outcome: Outcome, rows: Sequence[TableRow]) -> Outcome:
    """Show beside what decides what was found for each of these names."""
    if outcome.verdict not in {Verdict.PASS, Verdict.FAIL} or not rows:
        return outcome
    lines = [f"{row.name} ({row.case.what}): {status_of(ask_row(subject, row)) or 'unanswered'}" for row in rows]
    return Outcome(outcome.verdict, outcome.reason, (*outcome.evidence, Evidence(STATUSES, "\n".join(lines))))


def check_bogus(subject: ResolverSubject, item_id: str) -> Outcome:
    """Ask all questions of an item, and those about bogus data by TCP too."""
    outcome = check_table(subject, item_id)
    if outcome.verdict != Verdict.PASS:
        return outcome
    rows = [row for row in _strict_rows(subject, item_id) if row.case.right == BOGUS]
    with thread_pool(max(min(len(rows), ROWS_AT_ONCE), 1), "rows by TCP") as pool:
        by_tcp = list(zip(rows, pool.map(lambda row: subject.asker.tcp(_query(row)), rows), strict=True))
    # No response may be for want of TCP, which is the matter of F-tcp.
    given = [(row, one) for row, one in by_tcp if one.message is not None and status_of(one) != Status.BOGUS]
    if not given:
        return outcome
    said = "; ".join(f"by TCP {complaint(subject, row, exchange)}" for row, exchange in given[:SHOWN])
    more = f"; {len(given) - SHOWN} more" if len(given) > SHOWN else ""
    evidence = [exchange for _, exchange in given[:SHOWN]]
    return failed(f"Of {len(rows)} questions, {len(given)}: {said}{more}.", *evidence)


def _strict_rows(subject: ResolverSubject, item_id: str) -> list[TableRow]:
    """Give an item's questions; where the resolver validates the right data beside wrong ones, these must be bogus."""
    rows = subject.rows(item_id)
    beside = [row for row in rows if row.case.beside and _is_secure(subject, row.case.beside)]
    return [TableRow(row.zone, replace(row.case, right=BOGUS)) if row in beside else row for row in rows]


def _is_secure(subject: ResolverSubject, name: str) -> bool:
    query = Query(name=dns.name.from_text(name), rtype=RdataType.A, rd=True, do=True)
    return status_of(subject.asker.ask(query)) == Status.SECURE


def supported_rows(subject: ResolverSubject, zones: Collection[str]) -> list[TableRow]:
    """Give the questions that tell whether the resolver knows these zones' algorithms or digest types."""
    table = () if subject.tree is None else subject.tree.table
    return [row for row in table if row.zone.name in zones and f"{row.name}" in SUPPORT]


def _nothing_to_ask(subject: ResolverSubject) -> Outcome:
    if subject.tree is None:
        return not_applicable(f"This takes the rig's tree, or names of yours for it; {POINT_AT_TREE}.")
    return inconclusive("The tree has no question for this.")


def _asked_again(
    subject: ResolverSubject, wrong: list[tuple[TableRow, Exchange]]
) -> tuple[list[tuple[TableRow, Exchange]], list[Exchange]]:
    """Ask what failed wrongly once more; give what stays wrong, and what is right now."""
    stays: list[tuple[TableRow, Exchange]] = []
    late: list[Exchange] = []
    for row, before in wrong:
        exchange = subject.asker.ask(_query(row)) if _fails_wrongly(row, before) else before
        if exchange.message is None:
            stays.append((row, before))
        elif complaint(subject, row, exchange):
            stays.append((row, exchange))
        else:
            late.append(exchange)
    return stays, late


def _query(row: TableRow) -> Query:
    return Query(name=row.name, rtype=row.case.rtype, rd=True, do=True)


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

"""What items about forged data share: zones whose responses come with forgeries, which must not be believed."""

from collections.abc import Sequence

import dns.name
from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.zones_spoofing import FORGED_HOST
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, passed

SHOWN = 3


def ask_plainly(subject: ResolverSubject, name: dns.name.Name) -> Exchange:
    """Ask for an address without EDNS."""
    return subject.asker.ask(Query(name=name, rtype=RdataType.A, rd=True, payload=None))


def is_forged(exchange: Exchange) -> bool:
    """Say whether the forged address is in a response."""
    message = exchange.message
    return message is not None and any(
        rdata.to_text() == FORGED_HOST
        for section in (message.answer, message.additional)
        for rrset in section
        if rrset.rdtype == RdataType.A
        for rdata in rrset
    )


def has_address(exchange: Exchange) -> bool:
    """Say whether there is an address in the answer."""
    return exchange.message is not None and any(rrset.rdtype == RdataType.A for rrset in exchange.message.answer)


def fresh_in(subject: ResolverSubject, zone: str) -> dns.name.Name:
    """Give a name of a zone of the tree that is not in the resolver's cache."""
    return subject.fresh_name(dns.name.from_text("fresh", dns.name.from_text(zone)))


def check_forged(
    subject: ResolverSubject, forgeries: Sequence[tuple[dns.name.Name, dns.name.Name | None, str]]
) -> Outcome:
    """Ask for names whose responses come with forgeries, and for the names that these tell of.

    Each forgery is the name that is asked for, the name that is asked for afterwards, if any, and a clause that says
    what would have been believed.
    """
    believed: list[str] = []
    evidence: list[Exchange] = []
    asked: list[Exchange] = []
    for name, victim, what in forgeries:
        exchanges = [ask_plainly(subject, one) for one in (name, victim) if one is not None]
        asked += exchanges
        forged = [exchange for exchange in exchanges if is_forged(exchange)]
        if forged:
            believed.append(f"{what} ({forged[0].query.name})")
            evidence.append(forged[0])
    if believed:
        return failed(f"The resolver takes what is forged: {'; '.join(believed)}.", *evidence[:SHOWN])
    if all(exchange.message is None for exchange in asked):
        return inconclusive("No name is answered in time, with what is forged or without.", *asked[:1])
    untold = [name for name, _, _ in forgeries if not _came(subject, name)]
    if untold:
        return inconclusive(
            f"No query for {untold[0]} came to the tree, so nothing forged went to the resolver.", *asked[:1]
        )
    right = [exchange for exchange in asked if has_address(exchange)]
    # To give up is no way to believe: the resolver may take so much forgery for an attack.
    return passed(
        f"Nothing forged is believed; {len(right)} of {len(asked)} names are answered with the right address.",
        *asked[:1],
    )


def _came(subject: ResolverSubject, name: dns.name.Name) -> bool:
    """Say whether a name, or the one above it, was asked for, as far as that can be seen.

    By TCP is enough: some go on so when forged responses to a minimised query (RFC 9156) have come.
    """
    return subject.seen is None or any(subject.seen_of(asked) for asked in (name, name.parent()))

"""What the items about targets share: the names within the zone that NS, MX and SRV records lead to."""

from collections.abc import Iterator
from dataclasses import dataclass

import dns.name
import dns.rcode
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.MX import MX
from dns.rdtypes.ANY.NS import NS
from dns.rdtypes.IN.SRV import SRV

from dnsrig.items.authoritative._contents import ADDRESSES, Contents, Published, contents
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of

LEADING_TYPES = (RdataType.NS, RdataType.MX, RdataType.SRV)
MOST_TARGETS = 100
"""Names that are asked for, where more are led to."""


@dataclass(frozen=True, slots=True)
class Lead:
    """An RRset and a name that one of its records leads to."""

    source: Published
    target: dns.name.Name


def leads(known: Contents) -> Iterator[Lead]:
    """Give the targets of NS records of delegations, of MX and SRV records.

    The servers of the zone itself are left to A-ns-alias and A-ns-address, occluded records to A-occluded.
    """
    for source in known.of(*LEADING_TYPES):
        is_cut = source.rtype == RdataType.NS
        if is_cut and source.name == known.origin:
            continue
        if known.delegated(source.name) != (source.name if is_cut else None) or known.redirected(source.name):
            continue
        for record in source.records:
            if isinstance(record, NS | SRV):
                yield Lead(source, record.target)
            elif isinstance(record, MX):
                yield Lead(source, record.exchange)


def leads_within(subject: AuthoritativeSubject) -> list[Lead]:
    """Give those whose target is the zone's own: not below a delegation, whose child zone knows better."""
    known = contents(subject)
    within = [lead for lead in leads(known) if lead.target.is_subdomain(subject.origin)]
    return [lead for lead in within if known.delegated(lead.target) is None]


class Targets:
    """Finds out what is at the names that are led to; each is asked for once."""

    def __init__(self, subject: AuthoritativeSubject) -> None:
        self._subject = subject
        self._known = contents(subject)
        self._asked: dict[dns.name.Name, list[Exchange]] = {}
        self._is_silent = False

    def has_address(self, name: dns.name.Name) -> bool | None:
        """Say whether a name has an address, or gets one by an alias; None if that cannot be told."""
        if any(self._known.get(name, rtype) is not None for rtype in ADDRESSES):
            return True
        exchanges = self.asked(name)
        if any(exchange.message is not None and exchange.message.answer for exchange in exchanges):
            return True
        if len(exchanges) < len(ADDRESSES) or any(exchange.message is None for exchange in exchanges):
            return None
        if all(exchange.rcode in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN} for exchange in exchanges):
            # A referral says that the child zone knows.
            return None if any(_refers(self._subject, exchange) for exchange in exchanges) else False
        return None

    def asked(self, name: dns.name.Name) -> list[Exchange]:
        """Ask for A and AAAA, unless so many names were asked for already."""
        if name not in self._asked and len(self._asked) < MOST_TARGETS and not self._is_silent:
            asker = self._subject.asker
            found = [asker.ask(Query(name=name, rtype=rtype, payload=None)) for rtype in ADDRESSES]
            # Each further one would be waited for in vain as well; other items say that it is silent.
            self._is_silent = any(exchange.response is None for exchange in found)
            self._asked[name] = found
        return self._asked.get(name, [])


def _refers(subject: AuthoritativeSubject, exchange: Exchange) -> bool:
    is_denied = rrset_of(exchange, "authority", subject.origin, RdataType.SOA) is not None
    return not is_denied and bool(exchange.message and exchange.message.authority)

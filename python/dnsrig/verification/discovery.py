"""Finding landmarks of a zone of which nothing is known but its name, by asking a server of it."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rrset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.errors import InputError
from dnsrig.verification.asker import Asker, name_below, random_label
from dnsrig.verification.denial import beyond, is_between, types_of, wildcard_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.landmarks import SEED, Landmarks, find_landmarks
from dnsrig.verification.malformed import malformed_records
from dnsrig.verification.queries import USUAL_PAYLOAD, Query

APEX_TYPES = tuple(
    RdataType[text] for text in ["SOA", "NS", "A", "AAAA", "MX", "TXT", "CAA", "HTTPS", "CSYNC", "DNSKEY"]
)
USUAL_LABELS = ("www", "mail", "ns1", "ns", "ns2", "ftp", "_dmarc")
NAMED_TYPES = tuple(
    RdataType[text]
    for text in ["A", "AAAA", "TXT", "MX", "SRV", "DNAME", "CAA", "PTR", "TLSA", "HTTPS", "SVCB", "NAPTR"]
)
"""Asked for at names of which the user tells no type; a CNAME record answers any."""
USUAL_TYPES = (RdataType.A, RdataType.CNAME, RdataType.TXT)
NAMES_MAX = 500
"""Names taken from an NSEC chain: all of most zones, and no burden of those of a registry."""
LONGEST_S = 5.0
CHAIN_SHARE = 0.5
"""Of that time, for going along the chain; the rest is for asking at the names that it showed."""
UDP_WAITS_S = (0.5, 1.0)
TCP_WAIT_S = 1.5
MADE_LABEL = b"\x00"
"""Begins names that NSEC records made on the fly show, and that are not there (RFC 4470, RFC 9824)."""

CLEAR = {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}
"""What servers say that know the zone."""

Found = tuple[dns.name.Name, RdataType, list[dns.rdata.Rdata]]
Question = tuple[dns.name.Name, RdataType]


@dataclass(frozen=True, slots=True)
class ToldNames:
    """Names that the user says to be in a zone, where asking would not find them."""

    delegations: tuple[dns.name.Name, ...] = ()
    there: tuple[tuple[dns.name.Name, RdataType | None], ...] = ()
    """Names with a type, or None for any usual one."""
    empties: tuple[dns.name.Name, ...] = ()
    """Empty non-terminals: believed, as a server that does not know them is at fault."""

    @property
    def names(self) -> set[dns.name.Name]:
        """All of them."""
        return {*self.delegations, *self.empties, *(name for name, _ in self.there)}

    def believed(self, found: Landmarks) -> Landmarks:
        """Put right what follows from names being empty, or not: what is above a told name may have data."""
        above = {parent for name in self.names for parent in _parents(name)} - set(self.empties)
        found.empties = [*self.empties, *(name for name in found.empties if name not in above)]
        if self.empties or found.empty in above:
            found.empty = next(iter(found.empties), None)
        return found


NOTHING_TOLD = ToldNames()


def discover(asker: Asker, origin: dns.name.Name, told: ToldNames = NOTHING_TOLD, seed: int = SEED) -> Landmarks:
    """Ask for what the user names and what a zone usually has, and go along its NSEC chain, if it has one.

    What the user names is asked for in any case; the rest takes some seconds at most, and what is not found by then is
    not looked for.

    Raises:
        InputError: the server clearly says that the zone has not what the user named.

    """
    hasty = replace(asker, udp_waits_s=UDP_WAITS_S, tcp_wait_s=TCP_WAIT_S)
    search = _Search(hasty, origin)
    if not search.is_answered():
        return Landmarks(origin, seed=seed)
    found = [one for cut in told.delegations for one in search.delegated(cut)]
    found += [one for name, rtype in told.there for one in search.named(name, rtype)]
    search.deadline = time.monotonic() + LONGEST_S
    found += [one for rtype in APEX_TYPES for one in search.ask(origin, rtype)]
    chained = list(search.chained(time.monotonic() + (search.deadline - time.monotonic()) * CHAIN_SHARE))
    # Usual names matter most to users, and the chain may have ended before them.
    for name, rtype in chained if search.is_chain_whole else [*search.usual(), *chained]:
        found += search.ask(name, rtype)
    # A referral without DO says nothing of DS records.
    cuts = {name for name, rtype, _ in found if rtype == RdataType.NS and name != origin}
    found += [one for cut in sorted(cuts - search.clear) for one in search.ask(cut, RdataType.DS)]
    unclear, told_cuts = cuts - search.clear, told.delegations
    marks = find_landmarks(origin, _unique(found), is_whole=False, unclear=unclear, told_cuts=told_cuts, seed=seed)
    return told.believed(marks)


@dataclass(slots=True)
class _Search:
    """Asks one server until the deadline, by the monotonic clock."""

    asker: Asker
    origin: dns.name.Name
    deadline: float = math.inf
    payload: int | None = USUAL_PAYLOAD
    """None where the server does not answer queries with EDNS."""
    clear: set[dns.name.Name] = field(default_factory=set)
    """Names of which the server said whether they have DS records."""
    is_chain_whole: bool = False
    """Whether the NSEC chain was gone along to its end."""

    def is_answered(self) -> bool:
        """Say whether the server answers at all, and find out whether it does with EDNS."""
        if self._message(self.origin, RdataType.SOA) is not None:
            return True
        # Shows the items what to expect, too.
        self.asker.tcp(Query(name=self.origin, rtype=RdataType.SOA, payload=self.payload))
        self.payload = None
        return self._message(self.origin, RdataType.SOA) is not None

    def ask(self, name: dns.name.Name, rtype: RdataType) -> list[Found]:
        """Ask for an RRset, without its records if they are malformed; also what a referral tells of its zone cut.

        Past the deadline nothing is found.
        """
        exchange = self._exchange(name, rtype)
        return [] if exchange is None else self._found_by(exchange)

    def _found_by(self, exchange: Exchange) -> list[Found]:
        name, rtype, message = exchange.query.name, RdataType.make(exchange.query.rtype), exchange.message
        if message is None:
            wrong = malformed_records(exchange.response or b"")
            return [(name, rtype, [])] if any((one.name, one.rtype) == (name, rtype) for one in wrong) else []
        if rtype == RdataType.DS and exchange.rcode in CLEAR:
            self.clear.add(name)
        if message.answer:
            wanted = (rrset for rrset in message.answer if rrset.name == name)
            return [_found(rrset) for rrset in wanted if rrset.rdtype in {rtype, RdataType.CNAME}]
        found: list[Found] = []
        for cut in (rrset for rrset in message.authority if rrset.rdtype == RdataType.NS):
            # A referral upward is no delegation of the zone's.
            if name.is_subdomain(cut.name) and cut.name.is_subdomain(self.origin):
                below = (rrset for rrset in message.additional if rrset.name.is_subdomain(cut.name))
                glue = [_found(rrset) for rrset in below if rrset.rdtype in {RdataType.A, RdataType.AAAA}]
                found += [_found(cut), *glue]
        return found

    def delegated(self, cut: dns.name.Name) -> list[Found]:
        """Ask for a delegation that the user names; it is believed unless the server clearly contradicts.

        Raises:
            InputError: it does.

        """
        exchange = self._asked(cut, RdataType.NS)
        found = self._found_by(exchange)
        if not any(name == cut and rtype == RdataType.NS for name, rtype, _ in found):
            if exchange.has_flag(dns.flags.AA) and exchange.rcode in CLEAR:
                code = dns.rcode.to_text(exchange.rcode)
                raise InputError(f"--delegation {cut}: the server gives no referral for it, but an answer ({code})")
            found.append((cut, RdataType.NS, []))
        return [*found, *self._found_by(self._asked(cut, RdataType.DS))]

    def named(self, name: dns.name.Name, rtype: RdataType | None) -> list[Found]:
        """Ask for a name that the user says to be there, by one type or by those that names often have.

        Where a question has no usable response, nothing is said against the name.

        Raises:
            InputError: the server says that it is not.

        """
        found: list[Found] = []
        codes, is_there = set(), False
        for one_type in NAMED_TYPES if rtype is None else (rtype,):
            exchange = self._asked(name, one_type)
            found += self._found_by(exchange)
            codes.add(exchange.rcode)
            is_there = is_there or any(rrset.name == name for rrset in getattr(exchange.message, "answer", ()))
            if exchange.response is None:
                # It would be waited for with each type.
                break
        if not is_there and not found and codes <= CLEAR:
            code = "NXDOMAIN" if dns.rcode.NXDOMAIN in codes else "NOERROR"
            kinds = "types that names often have; name one: NAME/TYPE" if rtype is None else f"type {rtype.name}"
            raise InputError(f"--name {name}: the server has no records of {kinds} ({code})")
        return self._by_wildcard(name, found)

    def _by_wildcard(self, name: dns.name.Name, found: list[Found]) -> list[Found]:
        """Give what was found to the wildcard that stands for the name, where signatures say so.

        Such a name is not there itself (RFC 4035 section 5.3.4): it has no NSEC or NSEC3 record.
        """
        own = next((rtype for owner, rtype, _ in found if owner == name), None)
        message = None if own is None or name.is_wild() else self._asked(name, own, do=True).message
        signatures = [] if message is None else [one for rrset in message.answer if rrset.name == name for one in rrset]
        labels = {one.labels + 1 for one in signatures if isinstance(one, RRSIG)}
        if own is None or len(labels) != 1 or max(labels) >= len(name):
            return found
        wildcard = wildcard_of(dns.name.Name(name.labels[-max(labels) :]))
        if not any(owner == wildcard for owner, _, _ in self._found_by(self._asked(wildcard, own))):
            # The Labels field is wrong, which is an item's concern.
            return found
        return [(wildcard if owner == name else owner, rtype, data) for owner, rtype, data in found]

    def usual(self) -> Iterator[Question]:
        """Give usual names, but with no type that a wildcard at the apex has."""
        absent = name_below(self.origin, random_label().encode())
        types = [rtype for rtype in USUAL_TYPES if not self.ask(absent, rtype)]
        for label in USUAL_LABELS:
            for rtype in types:
                yield dns.name.from_text(label, self.origin), rtype

    def chained(self, deadline: float) -> Iterator[Question]:
        """Go along the NSEC chain from the apex, and give the names with their types."""
        name = self.origin
        for _ in range(NAMES_MAX):
            link = self._link(name) if time.monotonic() < deadline else None
            if name != self.origin and (link is None or types_of(link) <= {RdataType.RRSIG, RdataType.NSEC}):
                # A delegation whose record is not found, or hides it, is seen by its referral.
                yield name, RdataType.NS
            if link is not None and types_of(link) & {RdataType.NS, RdataType.DS} == {RdataType.NS}:
                self.clear.add(name)
            if link is None or link.next.labels[0].startswith(MADE_LABEL):
                return
            for number in sorted(types_of(link) - {RdataType.RRSIG, RdataType.NSEC}):
                yield name, RdataType.make(number)
            name = link.next
            self.is_chain_whole = name == self.origin
            if self.is_chain_whole or not name.is_subdomain(self.origin):
                return

    def _link(self, name: dns.name.Name) -> NSEC | None:
        """Find the NSEC record of a name."""
        message = self._message(name, RdataType.NSEC, do=True)
        answer = [] if message is None else message.answer
        own = (record for rrset in answer if rrset.name == name for record in rrset if isinstance(record, NSEC))
        return next(own, None) or self._link_of_cut(name)

    def _link_of_cut(self, name: dns.name.Name) -> NSEC | None:
        """Find the NSEC record of a delegation, of which the child has the say: by the denial of what follows."""
        following = None if name == self.origin else beyond(name)
        if following is None:
            return None
        message = self._message(following, RdataType.A, do=True)
        for rrset in [] if message is None else message.authority:
            for record in rrset:
                if isinstance(record, NSEC) and rrset.name == name and is_between(name, record.next, following):
                    return record
        return None

    def _message(self, name: dns.name.Name, rtype: RdataType, *, do: bool = False) -> dns.message.Message | None:
        exchange = self._exchange(name, rtype, do=do)
        return None if exchange is None else exchange.message

    def _exchange(self, name: dns.name.Name, rtype: RdataType, *, do: bool = False) -> Exchange | None:
        return None if time.monotonic() > self.deadline else self._asked(name, rtype, do=do)

    def _asked(self, name: dns.name.Name, rtype: RdataType, *, do: bool = False) -> Exchange:
        """Ask, also past the deadline."""
        do = do and self.payload is not None
        return self.asker.ask(Query(name=name, rtype=rtype, do=do, payload=self.payload))


def _found(rrset: dns.rrset.RRset) -> Found:
    return rrset.name, RdataType.make(rrset.rdtype), list(rrset)


def _unique(found: list[Found]) -> list[Found]:
    return list({(name, rtype): (name, rtype, rdatas) for name, rtype, rdatas in found}.values())


def _parents(name: dns.name.Name) -> Iterator[dns.name.Name]:
    while name != dns.name.root:
        name = name.parent()
        yield name

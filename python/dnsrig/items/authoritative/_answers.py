"""What items about DNSSEC look at: a sample of the zone's answers with DO, and what is signed in them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import dns.name
import dns.rcode
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.SOA import SOA

from dnsrig.items.authoritative._probes import serves_zone
from dnsrig.verification.asker import name_below
from dnsrig.verification.denial import ancestors
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.signatures import SignedRrset, signed_rrsets
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.subjects.survey import RARE_TYPES
from dnsrig.verification.verdicts import Outcome, inconclusive

MOST_EVIDENCE = 3
USUAL_TYPES = (
    RdataType.AAAA,
    RdataType.MX,
    RdataType.TXT,
    RdataType.SRV,
    RdataType.CAA,
    RdataType.TLSA,
    RdataType.SVCB,
    RdataType.HTTPS,
)
"""Types that clients ask for every day, beside A."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A signed, or to be signed, RRset and the response that it was in."""

    signed: SignedRrset
    exchange: Exchange

    @property
    def title(self) -> str:
        """Owner name and type."""
        return self.signed.title


def child_of(name: dns.name.Name, label: bytes) -> dns.name.Name:
    """Give the name with one more label in front, which is shortened where it would be too long."""
    return name_below(name, label)


def denied_parent(subject: AuthoritativeSubject) -> dns.name.Name:
    """Give a name below which names do not exist: the apex, or a host where the apex has a wildcard."""
    marks = subject.landmarks
    if marks.host is None or marks.wildcard is None or marks.wildcard.name.parent() != subject.origin:
        return subject.origin
    return marks.host.name


def denied_name(subject: AuthoritativeSubject) -> dns.name.Name:
    """Give a name that does not exist, always the same."""
    return child_of(denied_parent(subject), subject.denied_label)


def absent_type(subject: AuthoritativeSubject, name: dns.name.Name) -> tuple[RdataType, Exchange]:
    """Find a usual type that a name has not, with the response to a query for it."""
    for rtype in RARE_TYPES:
        exchange = subject.answers.get(name, rtype)
        if exchange.message is None or not exchange.message.answer:
            return rtype, exchange
    return rtype, exchange


def usual_absences(subject: AuthoritativeSubject, *, do: bool = True) -> list[tuple[RdataType, Exchange]]:
    """Give the responses to queries for the types in use that a host, and the apex, have not."""
    host = subject.landmarks.host
    names = dict.fromkeys([*([] if host is None else [host.name]), subject.origin])
    asked = [(name, rtype) for name in names for rtype in (RdataType.A, *USUAL_TYPES)]
    found = [(rtype, subject.answers.get(name, rtype, do=do)) for name, rtype in asked]
    return [
        (rtype, exchange)
        for rtype, exchange in found
        if exchange.message is not None and not exchange.message.answer and not exchange.is_truncated
    ]


def expanded_name(subject: AuthoritativeSubject) -> dns.name.Name | None:
    """Give a name to which the zone's wildcard is expanded."""
    wildcard = subject.landmarks.wildcard
    return None if wildcard is None else child_of(wildcard.name.parent(), subject.denied_label)


def questions(subject: AuthoritativeSubject) -> list[tuple[dns.name.Name, RdataType]]:
    """List the questions of the sample: one for each kind of answer that the zone's landmarks allow."""
    marks, origin = subject.landmarks, subject.origin
    asked = [(origin, rtype) for rtype in (RdataType.SOA, RdataType.NS, RdataType.DNSKEY, RdataType.NSEC3PARAM)]
    asked.append((denied_name(subject), RdataType.A))
    if marks.host is not None:
        asked.append((marks.host.name, marks.host.rtype))
    if marks.alias is not None:
        asked.append((marks.alias, RdataType.A))
    if marks.dname is not None:
        asked.append((child_of(marks.dname, subject.denied_label), RdataType.A))
    expanded = expanded_name(subject)
    if expanded is not None and marks.wildcard is not None:
        asked.append((expanded, marks.wildcard.rtype))
    if marks.empty is not None:
        asked.append((marks.empty, RdataType.A))
    for delegation in (marks.delegation, marks.secure_delegation):
        if delegation is not None:
            asked += [(delegation, RdataType.DS), (child_of(delegation, subject.denied_label), RdataType.A)]
    asked += [(origin, rtype) for rtype in (RdataType.CDS, RdataType.CDNSKEY)]
    return asked


def sample(subject: AuthoritativeSubject) -> list[Exchange]:
    """Ask the questions of the sample, then for whatever else is known of the zone; give the usable responses."""
    return subject.once("sample", lambda: _usable_responses(subject))


def _usable_responses(subject: AuthoritativeSubject) -> list[Exchange]:
    if subject.answers.get(subject.origin, RdataType.SOA).response is None:
        # Queries with DO are not answered at all: each further one would wait for nothing.
        return []
    asked = [subject.answers.get(name, rtype) for name, rtype in questions(subject)]
    asked.append(absent_type(subject, subject.origin)[1])
    if subject.landmarks.host is not None:
        asked.append(absent_type(subject, subject.landmarks.host.name)[1])
    expanded = expanded_name(subject)
    if expanded is not None:
        asked.append(absent_type(subject, expanded)[1])
    asked += subject.survey.asked.values()
    usable = {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}
    different = {id(exchange): exchange for exchange in asked}.values()
    return [exchange for exchange in different if exchange.message is not None and exchange.rcode in usable]


def seen_rrsets(subject: AuthoritativeSubject, sections: Sequence[str] = ("answer", "authority")) -> list[Seen]:
    """List what of the sample's RRsets the zone is to have signed, with and without signatures."""
    return subject.once(f"seen in {' and '.join(sections)}", lambda: _seen_in(subject, sections))


def _seen_in(subject: AuthoritativeSubject, sections: Sequence[str]) -> list[Seen]:
    found = []
    for exchange in sample(subject):
        message = exchange.message
        if message is not None:
            found += [
                Seen(one, exchange)
                for one in signed_rrsets(message, sections)
                if _is_to_be_signed(subject, one, exchange)
            ]
    return found


def seen_signed(subject: AuthoritativeSubject) -> list[Seen]:
    """List those that have signatures."""
    return [seen for seen in seen_rrsets(subject) if seen.signed.signatures]


def _is_to_be_signed(subject: AuthoritativeSubject, one: SignedRrset, exchange: Exchange) -> bool:
    """Leave out what is not the zone's: delegations and glue, a child's or parent's data, synthesised CNAMEs."""
    name, rtype = one.rrset.name, one.rrset.rdtype
    if not name.is_subdomain(subject.origin):
        return False
    if rtype in {RdataType.NS, RdataType.SOA} and name != subject.origin:
        return False
    if rtype == RdataType.DS and name == subject.origin:
        return False
    if rtype == RdataType.CNAME and is_synthesised(name, exchange):
        return False
    if _is_of_child(subject, one, exchange):
        return False
    cuts, above = subject.survey.cuts, name
    if name in cuts and rtype not in {RdataType.DS, RdataType.NSEC}:
        return False
    while len(above) > len(subject.origin) + 1:
        above = above.parent()
        if above in cuts:
            return False
    return True


def _is_of_child(subject: AuthoritativeSubject, one: SignedRrset, exchange: Exchange) -> bool:
    """Say whether a zone below has an RRset, whose cut need not be known: the server may serve that one too."""
    if one.signatures:
        signers = {signature.signer for signature in one.signatures}
        # What is signed in the name of a zone that is not there is signed wrongly.
        return all(
            signer != subject.origin and signer.is_subdomain(subject.origin) and _is_zone(subject, signer)
            for signer in signers
        )
    if one.section != "answer" or one.rrset.name == exchange.query.name:
        return False
    # Where an alias leads to.
    return is_served_below(subject, one.rrset.name)


def is_served_below(subject: AuthoritativeSubject, name: dns.name.Name) -> bool:
    """Say whether a name is in a zone below this one that the server has too."""
    return any(
        _is_zone(subject, above) for above in (name, *ancestors(name, subject.origin)) if above != subject.origin
    )


def _is_zone(subject: AuthoritativeSubject, name: dns.name.Name) -> bool:
    return subject.once(f"serves {name}", lambda: serves_zone(subject, name))


def is_synthesised(name: dns.name.Name, exchange: Exchange) -> bool:
    """Say whether a response has a DNAME record above a name."""
    answer = [] if exchange.message is None else exchange.message.answer
    return any(
        rrset.rdtype == RdataType.DNAME and name != rrset.name and name.is_subdomain(rrset.name) for rrset in answer
    )


def zone_keys(subject: AuthoritativeSubject) -> list[DNSKEY]:
    """List the keys of the apex DNSKEY RRset."""
    message = subject.dnskey.message
    answer = [] if message is None else message.answer
    rrsets = [rrset for rrset in answer if rrset.name == subject.origin and rrset.rdtype == RdataType.DNSKEY]
    return [record for rrset in rrsets for record in rrset if isinstance(record, DNSKEY)]


def zone_soa(subject: AuthoritativeSubject) -> tuple[SOA, int] | None:
    """Give the zone's SOA record and its TTL in seconds."""
    message = subject.soa.message
    for rrset in [] if message is None else message.answer:
        for record in rrset:
            if isinstance(record, SOA) and rrset.name == subject.origin:
                return record, rrset.ttl
    return None


def nothing_seen(what: str) -> Outcome:
    """Say that the sample has nothing that the item is about."""
    return inconclusive(f"No response of the sample has {what}.")


def first_shown(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Take a few different exchanges as evidence."""
    return list({id(exchange): exchange for exchange in exchanges}.values())[:MOST_EVIDENCE]

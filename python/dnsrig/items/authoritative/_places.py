"""What items for authoritative servers share: referrals, denials, and the names of the zone's servers."""

from collections.abc import Sequence
from itertools import product

import dns.flags
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import rcode_text, wrong_rcode
from dnsrig.verification.denial import denial_records
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, failed, not_applicable, passed

WILDCARD_TYPES = tuple(RdataType[text] for text in ["MX", "TXT", "SRV", "AAAA", "TLSA", "CAA", "PTR", "HTTPS", "SVCB"])
"""Types that wildcards without address have in practice."""


def names_of_servers(subject: AuthoritativeSubject) -> list[dns.name.Name]:
    """Give the names in the apex's NS RRset that are within the zone, in canonical order."""
    exchange = subject.asker.ask(Query(name=subject.origin, rtype=RdataType.NS, payload=None))
    rrset = rrset_of(exchange, "answer", subject.origin, RdataType.NS)
    targets = [rdata.target for rdata in rrset or ()]
    return sorted(name for name in targets if name.is_subdomain(subject.origin))


def delegations(subject: AuthoritativeSubject) -> list[dns.name.Name]:
    """Give the delegations that are known, one without DS records and one with."""
    known = (subject.landmarks.delegation, subject.landmarks.secure_delegation)
    return [name for name in known if name is not None]


def check_referrals(
    subject: AuthoritativeSubject,
    names: Sequence[dns.name.Name],
    rtypes: Sequence[RdataType] = (RdataType.A,),
    *,
    do: bool = False,
) -> Outcome:
    """Ask for each type at each name; each should get a referral to a zone at or above it, below this zone."""
    payload = USUAL_PAYLOAD if do else None
    exchanges = []
    for name, rtype in product(names, rtypes):
        exchange = subject.asker.ask(Query(name=name, rtype=rtype, do=do, payload=payload))
        wrong = wrong_referral(subject, exchange)
        if wrong is not None:
            if exchange.message is not None and serves_below(subject, name):
                continue
            return wrong
        exchanges.append(exchange)
    if not names:
        return not_applicable(subject.unknown("delegation"))
    if not exchanges:
        return not_applicable("The server serves the delegated zones as well, so it answers from them.")
    return passed("Each gets a referral.", *exchanges)


def wrong_referral(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    """Judge a response that should be a referral; None if it is one."""
    if exchange.message is None:
        return subject.unanswered(exchange)
    if exchange.rcode != dns.rcode.NOERROR:
        return failed(f"The response to {exchange.title} is {rcode_text(exchange)}, no referral.", exchange)
    if exchange.message.answer:
        return failed(f"The response to {exchange.title} has an answer, though the name is delegated.", exchange)
    cuts = [rrset.name for rrset in exchange.message.authority if rrset.rdtype == RdataType.NS]
    name, origin = exchange.query.name, subject.origin
    below = [cut for cut in cuts if cut != origin and cut.is_subdomain(origin) and name.is_subdomain(cut)]
    if not below and any(origin.is_subdomain(cut) for cut in cuts):
        return failed(f"The response to {exchange.title} is a referral upward, not to the delegated zone.", exchange)
    if not below:
        return failed(f"The response to {exchange.title} has no NS records of the delegation.", exchange)
    if exchange.has_flag(dns.flags.AA):
        return failed(f"The referral to {below[0]} has AA.", exchange)
    return None


def serves_below(subject: AuthoritativeSubject, name: dns.name.Name) -> bool:
    """Whether the server also serves a zone that is delegated at the name or above it."""
    while name != subject.origin and name.is_subdomain(subject.origin):
        exchange = subject.asker.ask(Query(name=name, rtype=RdataType.SOA, payload=None))
        if rrset_of(exchange, "answer", name, RdataType.SOA) is not None:
            return True
        name = name.parent()
    return False


def wildcard_signs(subject: AuthoritativeSubject, name: dns.name.Name) -> Exchange | None:
    """Find a response by which NODATA for a name that was thought up is a wildcard's: another type, or its proof."""
    for rtype in WILDCARD_TYPES:
        exchange = subject.asker.ask(Query(name=name, rtype=rtype, payload=None))
        if exchange.message is not None and exchange.rcode == dns.rcode.NOERROR and exchange.message.answer:
            return exchange
    with_proof = subject.asker.ask(Query(name=name, rtype=RdataType.A, do=True))
    records = None if with_proof.message is None else denial_records(with_proof.message.authority, subject.origin)
    is_proved = records is not None and bool(records.wildcard_no_data(name, RdataType.A))
    return with_proof if is_proved else None


def wrong_denial(subject: AuthoritativeSubject, exchange: Exchange, wanted: dns.rcode.Rcode) -> Outcome | None:
    """Judge a response that should deny (RFC 2308 section 2); None if it does."""
    wrong = wrong_rcode(subject, exchange, wanted)
    if wrong is not None or exchange.message is None:
        return wrong
    if exchange.message.answer:
        return failed("The response has an answer, where there is nothing.", exchange)
    owners = [rrset.name for rrset in exchange.message.authority if rrset.rdtype == RdataType.SOA]
    if not owners:
        return failed("The response has no SOA record in its authority section.", exchange)
    if owners != [subject.origin]:
        return failed(f"The SOA record in the authority section is that of {owners[0]}.", exchange)
    return None

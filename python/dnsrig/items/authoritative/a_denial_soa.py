"""A-denial-soa: the SOA record in denials is the zone's."""

from collections.abc import Iterator

import dns.rcode
import dns.rdata
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.SOA import SOA

from dnsrig.items.authoritative._answers import child_of, denied_parent, nothing_seen
from dnsrig.items.authoritative._probes import type_text
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

TYPES = (RdataType.A, RdataType.AAAA, RdataType.MX, RdataType.TXT)
TRIES = 3
PAUSE_S = 1.0
ITEM = Item(
    id="A-denial-soa",
    role="authoritative",
    group="Denial",
    requirement="Every denial has the zone's SOA record, the same as at its apex, whatever the type and with DO too.",
    references=("RFC 2308 section 3", "RFC 2308 section 5", "RFC 9077 section 3"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers cannot cache the denial and ask each time, or cache it for longer than the zone's owner has set: "
        "names that are added stay unknown."
    ),
    procedure=(
        "A, AAAA, MX and TXT are asked for at a name that does not exist, and MINFO at a host, without EDNS and with "
        "DO. Denials have the SOA record, with the data that it has at the apex, and with a TTL no larger than its TTL "
        "there and its MINIMUM field, and not 0 unless one of these is. What differs "
        f"{TRIES} times fails: a zone may be changed meanwhile."
    ),
    dig=(
        "dig @{server} -p {port} absent.{zone} MX +norec +noedns",
        "dig @{server} -p {port} {zone} SOA +norec +noedns",
    ),
    needs=("zone",),
    faults=(
        "no-soa-for-mx",
        "other-serial-in-denials",
        "long-ttl-for-mx",
        "no-soa-in-denial",
        "soa-ttl-in-denial",
        "denials-not-cached",
        "two-soas",
        "other-soa-in-denial",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for what is not there, and compare with the apex."""
    looked_at = []
    for query in _queries(subject):
        said = ""
        shown: list[Exchange] = []
        at_apex: set[dns.rdata.Rdata] = set()
        for place in range(TRIES):
            pause(PAUSE_S if place else 0.0)
            said, shown = _judged(subject, query, at_apex)
            if not said:
                break
        if said:
            return failed(f"The denial of {query.name} {type_text(query.rtype)} {said}.", *shown)
        looked_at += shown
    if not looked_at:
        return nothing_seen("a denial")
    return passed(f"{len(looked_at)} denials have the SOA record of the apex.", looked_at[0])


def _queries(subject: AuthoritativeSubject) -> Iterator[Query]:
    host = subject.landmarks.host
    absent = child_of(denied_parent(subject), subject.denied_label)
    asked = [(absent, rtype) for rtype in TYPES]
    asked.append((subject.origin if host is None else host.name, RdataType.MINFO))
    for do in (False, True):
        if do and subject.lacks("edns"):
            return
        for name, rtype in asked:
            yield Query(name=name, rtype=rtype, do=do, payload=USUAL_PAYLOAD if do else None)


def _judged(subject: AuthoritativeSubject, query: Query, at_apex: set[dns.rdata.Rdata]) -> tuple[str, list[Exchange]]:
    """Say what is wrong with a denial, and show it; nothing where there is none, which other items are about.

    Behind an address may be several servers, one of them with an older version for a while: `at_apex` has the SOA
    records that were seen at the apex so far, any of which will do.
    """
    denial = subject.asker.ask(query)
    apex = subject.asker.ask(Query(name=subject.origin, rtype=RdataType.SOA, payload=None))
    there = rrset_of(apex, "answer", subject.origin, RdataType.SOA)
    message = denial.message
    if message is None or there is None or message.answer or denial.rcode not in {0, dns.rcode.NXDOMAIN}:
        return "", []
    shown = [denial, apex]
    owners = [rrset.name for rrset in message.authority if rrset.rdtype == RdataType.SOA]
    if not owners:
        return "has no SOA record", shown
    here = rrset_of(denial, "authority", subject.origin, RdataType.SOA)
    if here is None:
        return f"has the SOA record of {owners[0]}", shown
    at_apex.update(there)
    if not set(here) <= at_apex:
        return "has another SOA record than the apex", shown
    (record,) = [one for one in there if isinstance(one, SOA)][:1]
    longest_s = min(there.ttl, record.minimum)
    if here.ttl > longest_s:
        return f"has the SOA record with a TTL of {here.ttl} s, more than {longest_s} s", shown
    if here.ttl == 0 < longest_s:
        # Less than that, but not nothing, caches in front of the server give.
        return f"has the SOA record with a TTL of 0, though the zone has {longest_s} s for it", shown
    return "", shown[:1]

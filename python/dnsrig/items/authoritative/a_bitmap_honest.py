"""A-bitmap-honest: bitmaps and answers say the same."""

import time

import dns.name
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC

from dnsrig.items.authoritative._answers import expanded_name, nothing_seen
from dnsrig.items.authoritative._chain import Link, is_made, known_names, links, links_by_name, links_in, types_at
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.denial import types_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

MOST_ASKED = 16
NOT_ASKED = {RdataType.RRSIG, RdataType.NSEC, RdataType.NSEC3, *range(128, 256)}
"""Types of DNSSEC's own, and those of the range for queries and meta data (RFC 6895 section 3.1)."""
USUAL = (RdataType.A, RdataType.AAAA, RdataType.MX, RdataType.TXT, RdataType.NS, RdataType.CAA, RdataType.DNSKEY)
"""Asked for where the bitmap denies them."""
EVERYDAY = (RdataType.A, RdataType.AAAA, RdataType.MX, RdataType.TXT)
"""Of these, asked for at other names where the bitmap denies them: a type is known only if something told of it."""
MOST_NAMES = 32
"""Of the names where they are asked for, and of those that NSEC records point to."""
LONGEST_S = 4.0
"""For asking there, which takes no time but far from the server."""
ITEM = Item(
    id="A-bitmap-honest",
    role="authoritative",
    group="DNSSEC: chain",
    requirement="The types that an NSEC or NSEC3 record lists for its name are answered there, and no others.",
    references=("RFC 4034 section 4.1.2", "RFC 5155 section 3.1.8", "RFC 4035 section 2.3"),
    severity=Severity.CRITICAL,
    consequence="Data that exist can be denied with a valid proof: resolvers that use RFC 8198 lose them.",
    procedure=(
        "For the apex, a host and a wildcard the types in the bitmap of the record are asked for, as are usual types"
        " that are not in it; for other names that are known, or that NSEC records point to, the types that are known"
        " or listed, and at some of them A, AAAA, MX and TXT."
        " Records made on the fly for one query are left out."
    ),
    dig=("dig @{server} -p {port} {zone} LOC +norec +dnssec   # and each type in the bitmap",),
    needs=("signatures",),
    faults=(
        "bitmap-denies-type",
        "bitmap-invents-type",
        "nsec3-bitmap-denies-type",
        "nsec3-bitmap-invents-type",
        "hides-nsec3param",
        "no-ns",
        "one-bitmap-denies-type",
        "servfail-to-mx",
        "ns-alias",
        "no-ns-address",
        "cuts-tcp",
        "hides-cname",
        "no-dname",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for types and compare with the bitmaps."""
    seen = links(subject)
    wildcard = subject.landmarks.wildcard
    compared = []
    for name in known_names(subject):
        found = types_at(seen, name)
        if found is None:
            continue
        types, link = found
        asked = expanded_name(subject) if wildcard is not None and name == wildcard.name else name
        if wildcard is not None and asked != name and not _answers(subject, asked or name, wildcard.rtype):
            # That the server does not expand it is the matter of A-wildcard.
            continue
        listed = [RdataType.make(rtype) for rtype in sorted(types - NOT_ASKED)][:MOST_ASKED]
        for rtype in (*listed, *(one for one in USUAL if one not in types)):
            wrong = _lie(subject, link, name, asked or name, rtype)
            if wrong is not None:
                return wrong
        compared.append(link)
    wrong = _lie_elsewhere(subject, [*seen, *_pointed_to(subject, seen)])
    if wrong is not None:
        return wrong
    if not compared:
        return nothing_seen("a record whose name is known and that is not made on the fly")
    return passed(f"The bitmaps of {len(compared)} names are right.", *(link.exchange for link in compared))


def _lie_elsewhere(subject: AuthoritativeSubject, seen: list[Link]) -> Outcome | None:
    """Compare the bitmaps of all other names that are known with what is answered there."""
    survey, link_of = subject.survey, links_by_name(seen)
    there: dict[dns.name.Name, set[RdataType]] = {}
    for (name, rtype), exchange in survey.asked.items():
        if name not in survey.cuts:
            types = there.setdefault(name, set())
            if rtype not in NOT_ASKED and rrset_of(exchange, "answer", name, rtype) is not None:
                types.add(rtype)
    for name in _owners(subject, seen):
        there.setdefault(name, set())
    compared, until = 0, time.monotonic() + LONGEST_S
    for name, answered in there.items():
        link = link_of(name)
        if link is None:
            continue
        compared += 1
        listed = types_of(link.record) - NOT_ASKED
        doubtful = sorted(answered - listed) + sorted(listed - answered)[:MOST_ASKED]
        if compared <= MOST_NAMES and time.monotonic() < until:
            doubtful += [rtype for rtype in EVERYDAY if rtype not in listed | answered]
        for number in doubtful:
            wrong = _lie(subject, link, name, name, RdataType.make(number))
            if wrong is not None:
                return wrong
    return None


def _owners(subject: AuthoritativeSubject, seen: list[Link]) -> list[dns.name.Name]:
    """List the owners of NSEC records that are kept, and not those of delegations, where the child answers."""
    kept = [one for one in seen if isinstance(one.record, NSEC) and not is_made(one.record)]
    return [one.owner for one in kept if RdataType.NS not in types_of(one.record) and _is_own(subject, one.owner)]


def _is_own(subject: AuthoritativeSubject, name: dns.name.Name) -> bool:
    return not any(name.is_subdomain(cut) for cut in subject.survey.cuts)


def _pointed_to(subject: AuthoritativeSubject, seen: list[Link]) -> list[Link]:
    """Ask for the NSEC records that others point to: of a name whose data are gone, nothing else may tell."""
    found: list[Link] = []
    owners = {link.owner for link in seen}
    waiting = [link.record.next for link in seen if isinstance(link.record, NSEC) and not is_made(link.record)]
    for _ in range(MOST_NAMES):
        name = next((one for one in waiting if one not in owners and one.is_subdomain(subject.origin)), None)
        if name is None:
            break
        owners.add(name)
        if not _is_own(subject, name):
            continue
        own = links_in(subject.answers.get(name, RdataType.NSEC), subject.origin)
        found += own
        waiting += [link.record.next for link in own if isinstance(link.record, NSEC) and not is_made(link.record)]
    return found


def _lie(
    subject: AuthoritativeSubject, link: Link, name: dns.name.Name, asked: dns.name.Name, rtype: RdataType
) -> Outcome | None:
    """Judge whether the record of a name and the answer there differ about a type; None if they agree."""
    said = _answers(subject, asked, rtype)
    if said is None or said == (rtype in types_of(link.record)):
        return None
    exchange = subject.answers.get(asked, rtype)
    if not said and exchange.transport == "udp":
        # What UDP has no room for must not be taken for absent, whether the response says so or not.
        by_tcp = subject.asker.tcp(exchange.query)
        if rrset_of(by_tcp, "answer", asked, rtype) is not None:
            return None
    lie = f"does not list {rtype.name}, which is answered" if said else f"lists {rtype.name}, which is not answered"
    return failed(f"The record of {name} {lie}.", link.exchange, exchange)


def _answers(subject: AuthoritativeSubject, name: dns.name.Name, rtype: RdataType) -> bool | None:
    """Say whether a type is answered at the name itself; None if it cannot be told."""
    exchange = subject.answers.get(name, rtype)
    if exchange.message is None or exchange.is_truncated:
        return None
    return rrset_of(exchange, "answer", name, rtype) is not None

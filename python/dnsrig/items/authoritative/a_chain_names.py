"""A-chain-names: no records for names that the chain has not."""

from collections.abc import Iterator

import dns.name
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.NSEC3 import NSEC3

from dnsrig.items.authoritative._answers import nothing_seen
from dnsrig.items.authoritative._chain import Link, extent, is_made, links, links_beside, links_in
from dnsrig.items.authoritative._chain_names import MOST_NAMES, chain_names, hashed_chains, nsec_of_transfer
from dnsrig.items.authoritative._contents import ADDRESSES, Contents, contents
from dnsrig.verification.denial import SHA1_DIGEST, hash_of_owner, nsec3_hash, types_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, passed

MOST_ASKED = 20
BARE = {RdataType.RRSIG, RdataType.NSEC}
ITEM = Item(
    id="A-chain-names",
    role="authoritative",
    group="DNSSEC: chain",
    requirement=(
        "No NSEC or NSEC3 record is of a name below a delegation or DNAME record, or that is not there, and no NSEC"
        " record of an empty non-terminal."
    ),
    references=("RFC 4035 section 2.3", "RFC 5155 section 7.1", "RFC 6672 section 5.3.4"),
    severity=Severity.WARNING,
    consequence="The zone proves what it has no say about: names below a delegation seem to exist, or not to.",
    procedure=(
        "The names of NSEC records and the hashes of NSEC3 records, as transferred, are compared with the names of the"
        " zone. Where it is not transferred, those of the sample's denials, and of denials of names that lie beside"
        " glue, are compared with the delegations and the glue that are known; NSEC records that list nothing but NSEC"
        " and RRSIG, and that are not made on the fly, are of empty non-terminals."
    ),
    dig=("dig @{server} -p {port} {zone} AXFR", "dig @{server} -p {port} {zone} LOC +norec +dnssec"),
    needs=("signatures",),
    faults=("nsec-of-glue", "nsec-of-empty", "nsec3-of-glue", "axfr-leaves-out"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare records with names."""
    known = contents(subject)
    is_compared = known.is_whole and len(known.rrsets) <= MOST_NAMES
    if is_compared and (nsec_of_transfer(subject) or any(one.records for one in hashed_chains(subject, known))):
        flaws = list(_not_there(subject, known))
        if flaws:
            more = f", and {len(flaws) - 1} more are wrong likewise" if len(flaws) > 1 else ""
            return failed(f"{flaws[0]}{more}.", Evidence("Records of names that the chain has not", "\n".join(flaws)))
        return passed("The records of the transfer are of the zone's names.")
    if not links(subject):
        return nothing_seen("a denial")
    seen = links(subject)
    count = len({link.owner for link in seen})
    held = f"None of {count} records that were seen is of a name that the chain has not; {extent(seen)}."
    return _wrong_seen(subject, known) or passed(held)


def _not_there(subject: AuthoritativeSubject, known: Contents) -> Iterator[str]:
    names = chain_names(known)
    chains = hashed_chains(subject, known)
    if not chains:
        for name in sorted(nsec_of_transfer(subject).keys() - names.signed - names.insecure):
            yield f"there is an NSEC record at {name}, {_kind(known, name)}"
        return
    every = names.signed | names.insecure | names.empty | names.empty_insecure
    occluded = {name for name, _ in known.rrsets} - every
    for chain in chains:
        own = {nsec3_hash(name, chain.salt, chain.iterations) for name in every}
        below = {nsec3_hash(name, chain.salt, chain.iterations): name for name in occluded}
        for hashed in sorted(chain.records.keys() - own):
            of = below.get(hashed)
            what = "no name that is there" if of is None else f"{of}, {_kind(known, of)}"
            yield f"there is an NSEC3 record of {what}: {hashed.hex()}"


def _kind(known: Contents, name: dns.name.Name) -> str:
    if known.delegated(name) not in {None, name}:
        return "which is below a delegation"
    if known.redirected(name) is not None:
        return "which is below a DNAME record"
    return "which has no data"


def _wrong_seen(subject: AuthoritativeSubject, known: Contents) -> Outcome | None:
    """Look at the records of the sample, and ask where others may be; None if none is seen to be wrong."""
    seen = [*links(subject), *_looked_for(subject, known)]
    hashed = [link for link in seen if isinstance(link.record, NSEC3) and link.record.algorithm == SHA1_DIGEST]
    for link in seen:
        record = link.record
        if isinstance(record, NSEC) and not is_made(record):
            wrong = next((name for name in (link.owner, record.next) if _is_below(known, name)), None)
            if wrong is not None:
                return failed(f"There is an NSEC record at {wrong}, which is below a delegation.", link.exchange)
            if types_of(record) <= BARE and link.owner not in subject.survey.cuts and _is_kept(subject, link):
                return failed(f"There is an NSEC record at {link.owner}, which has no data.", link.exchange)
    for name in _glue(known):
        for link in hashed:
            record = link.record
            if isinstance(record, NSEC3):
                wanted = nsec3_hash(name, record.salt, record.iterations)
                if wanted in {hash_of_owner(link.owner), record.next}:
                    return failed(f"There is an NSEC3 record of {name}, which is below a delegation.", link.exchange)
    return None


def _is_below(known: Contents, name: dns.name.Name) -> bool:
    return known.delegated(name) not in {None, name}


def _glue(known: Contents) -> list[dns.name.Name]:
    return sorted({name for name, rtype in known.rrsets if rtype in ADDRESSES and _is_below(known, name)})[:MOST_ASKED]


def _is_kept(subject: AuthoritativeSubject, link: Link) -> bool:
    """Say whether a record is there also when it is asked for: those made on the fly have other owners then."""
    exchange = subject.answers.get(link.owner, RdataType.NSEC)
    rrset = rrset_of(exchange, "answer", link.owner, RdataType.NSEC)
    return rrset is not None and link.record in rrset


def _looked_for(subject: AuthoritativeSubject, known: Contents) -> Iterator[Link]:
    """Ask so that records of glue and of empty non-terminals would be in the denial, if there were any."""
    yield from links_beside(subject, sorted(subject.survey.cuts)[:MOST_ASKED], _glue(known))
    for name in subject.known_data.empties[:MOST_ASKED]:
        yield from links_in(subject.answers.get(name, RdataType.A), subject.origin)

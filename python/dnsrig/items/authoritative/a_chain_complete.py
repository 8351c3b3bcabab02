"""A-chain-complete: no name lacks its record."""

from collections.abc import Iterator

import dns.name

from dnsrig.items.authoritative._chain import salt_text
from dnsrig.items.authoritative._chain_names import (
    MOST_NAMES,
    ChainNames,
    HashedChain,
    chain_names,
    hashed_chains,
    nsec_of_transfer,
)
from dnsrig.items.authoritative._contents import contents
from dnsrig.verification.denial import nsec3_hash
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-chain-complete",
    role="authoritative",
    group="DNSSEC: chain",
    requirement=(
        "Every name with authoritative data and every delegation has an NSEC or NSEC3 record, empty non-terminals an"
        " NSEC3 record; opt-out may leave out insecure delegations."
    ),
    references=("RFC 4035 section 2.3", "RFC 5155 section 7.1", "RFC 5155 section 6"),
    severity=Severity.ERROR,
    consequence="The name can be denied with a valid proof, and what it has not cannot be: validators give SERVFAIL.",
    procedure=(
        "The names of the zone, as transferred, are compared with the owner names of its NSEC records, or their hashes"
        " with those of each chain that an NSEC3PARAM record names. Where the zone is not transferred, A-proof-nodata,"
        " A-proof-empty and A-proof-ds ask for the names that are known."
    ),
    dig=("dig @{server} -p {port} {zone} AXFR",),
    needs=("signatures", "transfer"),
    faults=(
        "one-missing-nsec",
        "lacks-nsec3-of-empty",
        "lacks-nsec3-of-host",
        "opt-out-skips-host",
        "two-nsec3params",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare names with the chain."""
    if subject.transfer.zone is None:
        return not_applicable("The transfer is not complete; A-axfr-complete is about that.")
    known = contents(subject)
    if len(known.rrsets) > MOST_NAMES:
        return not_applicable(f"The zone has more than {MOST_NAMES} RRsets, which takes too long to compare.")
    names, records = chain_names(known), nsec_of_transfer(subject)
    chains = hashed_chains(subject, known)
    has_hashes = any(chain.records for chain in chains)
    # An NSEC3PARAM record of no chain beside NSEC records is A-nsec3param-fits's.
    if has_hashes or (chains and not records):
        flaws = [said for chain in chains for said in _without_hash(names, chain)]
        if not has_hashes:
            if subject.known_data.nsec3_parameters:
                return not_applicable("No NSEC3 record is of NSEC3PARAM's chain; A-nsec3param-fits is about that.")
            return not_applicable("The transfer has no NSEC3 records; they are made on the fly.")
    elif records:
        flaws = [f"{name} has no NSEC record" for name in sorted((names.signed | names.insecure) - records.keys())]
    else:
        return not_applicable(
            "The transfer has no chain of NSEC or NSEC3 records: they are made on the fly, or by too many iterations."
        )
    if flaws:
        more = f", and {len(flaws) - 1} more lack theirs" if len(flaws) > 1 else ""
        return failed(f"{flaws[0]}{more}.", Evidence("Names without record", "\n".join(flaws)))
    count = len(names.signed) + len(names.insecure)
    return passed(f"None of {count} names lacks its record.")


def _without_hash(names: ChainNames, chain: HashedChain) -> Iterator[str]:
    for name in sorted(names.signed | names.empty):
        if _hash(name, chain) not in chain.records:
            kind = "the empty non-terminal " if name in names.empty else ""
            parameters = f"{chain.iterations} iterations and salt {salt_text(chain.salt)}"
            yield f"{kind}{name} has no NSEC3 record with {parameters}"
    for name in sorted(names.insecure | names.empty_insecure):
        hashed = _hash(name, chain)
        if hashed not in chain.records and not chain.opts_out(hashed):
            yield f"{name} has no NSEC3 record, and none with the Opt-Out flag covers it"


def _hash(name: dns.name.Name, chain: HashedChain) -> bytes:
    return nsec3_hash(name, chain.salt, chain.iterations)

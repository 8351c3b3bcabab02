"""A-zonemd: the zone's digest."""

from collections import Counter

import dns.exception
import dns.zone
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.ZONEMD import ZONEMD

from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, not_applicable, passed

COMPUTED = {(1, 1), (1, 2)}
"""Schemes and hash algorithms: SIMPLE with SHA-384 and SHA-512 (RFC 8976 section 5.2, section 5.3)."""
ITEM = Item(
    id="A-zonemd",
    role="authoritative",
    group="Zone transfer",
    requirement=(
        "A ZONEMD record at the apex has the digest of the zone that is transferred, and the SOA record's serial; "
        "no two have the same scheme and hash algorithm."
    ),
    references=("RFC 8976 section 4", "RFC 8976 section 3", "RFC 8976 section 2"),
    severity=Severity.ERROR,
    consequence="Those who check the digest, resolvers with a local copy of the zone among them, refuse the zone.",
    procedure="The zone is asked for by AXFR, where the server allows it, and its digest is computed.",
    dig=("dig @{server} -p {port} {zone} ZONEMD +norec", "dig @{server} -p {port} {zone} AXFR"),
    needs=("transfer",),
    faults=("wrong-zonemd", "axfr-leaves-out", "axfr-strips-rrsig", "axfr-strips-nsec"),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Compute the digest."""
    zone = subject.transfer.zone
    if subject.transfer.given_up:
        return inconclusive("The zone is too large to be transferred for its digest.")
    if zone is None:
        return not_applicable("The transfer is not complete; A-axfr-complete is about that.")
    found = zone.get_rdataset(subject.origin, RdataType.ZONEMD)
    if found is None:
        return not_applicable("The zone has no ZONEMD record.")
    soa = zone.get_rdataset(subject.origin, RdataType.SOA)
    shown = Evidence("ZONEMD records", "\n".join(f"{subject.origin} {found.ttl} IN ZONEMD {one}" for one in found))
    known = [one for one in found if isinstance(one, ZONEMD)]
    serials = {one.serial for one in known}
    if soa is None or serials != {soa[0].serial}:
        return failed(f"The record is of serial {min(serials, default=0)}, the zone of another.", shown)
    pairs = Counter((one.scheme, one.hash_algorithm) for one in known)
    twice = [pair for pair, count in pairs.items() if count > 1]
    if twice:
        scheme, algorithm = twice[0]
        said = f"{pairs[twice[0]]} records have scheme {int(scheme)} and hash algorithm {int(algorithm)}"
        return failed(f"{said}; each is to have another pair.", shown)
    wrong, unknown = [], 0
    for record in known:
        if (record.scheme, record.hash_algorithm) not in COMPUTED:
            # dnspython takes what it does not know for another digest.
            unknown += 1
            continue
        try:
            zone.verify_digest(record)
        except dns.zone.DigestVerificationFailure:
            wrong.append(record)
    if unknown == len(known):
        return inconclusive("The records have schemes or digests that cannot be computed here.", shown)
    if len(wrong) + unknown == len(known):
        return failed("The digest of the zone that was transferred is another.", shown)
    return passed(f"The digest of {len(subject.transfer.rrsets)} records is right.", shown)

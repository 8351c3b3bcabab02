"""A-zonemd: the zone's digest."""

import dns.exception
import dns.zone
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.ZONEMD import ZONEMD

from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, not_applicable, passed

ITEM = Item(
    id="A-zonemd",
    role="authoritative",
    group="Zone transfer",
    requirement=(
        "A ZONEMD record at the apex has the digest of the zone that is transferred, and the SOA record's serial."
    ),
    references=("RFC 8976 section 4", "RFC 8976 section 3"),
    severity=Severity.ERROR,
    consequence="Those who check the digest, resolvers with a local copy of the zone among them, refuse the zone.",
    procedure="The zone is asked for by AXFR, where the server allows it, and its digest is computed.",
    dig=("dig @{server} -p {port} {zone} ZONEMD +norec", "dig @{server} -p {port} {zone} AXFR"),
    needs=("transfer",),
    faults=("wrong-zonemd", "axfr-leaves-out", "axfr-strips-rrsig"),
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
    wrong, unknown = [], 0
    for record in known:
        try:
            zone.verify_digest(record)
        except (dns.zone.UnsupportedDigestScheme, dns.zone.UnsupportedDigestHashAlgorithm):
            unknown += 1
        except dns.zone.DigestVerificationFailure:
            wrong.append(record)
    if unknown == len(known):
        return inconclusive("The records have schemes or digests that cannot be computed here.", shown)
    if len(wrong) + unknown == len(known):
        return failed("The digest of the zone that was transferred is another.", shown)
    return passed(f"The digest of {len(subject.transfer.rrsets)} records is right.", shown)

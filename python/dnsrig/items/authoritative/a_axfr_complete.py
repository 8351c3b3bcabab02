"""A-axfr-complete: zone transfers are complete."""

from collections.abc import Sequence
from random import Random

import dns.name
import dns.rdataset
import dns.rrset
import dns.zone
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.NSEC import NSEC
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.items.authoritative._answers import child_of, is_synthesised, nothing_seen, sample, zone_keys
from dnsrig.items.authoritative._chain import is_made
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import signature_trouble
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, inconclusive, passed

VERIFIED_MAX = 500
LEFT_OUT = {RdataType.OPT, RdataType.SOA}
DENIALS = {RdataType.NSEC, RdataType.NSEC3}
ITEM = Item(
    id="A-axfr-complete",
    role="authoritative",
    group="Zone transfer",
    requirement=(
        "A zone transfer comes to its end and has every RRset, with its signatures, that the server answers with."
    ),
    references=("RFC 5936 section 2.2", "RFC 5936 section 3", "RFC 4035 section 3.1.5"),
    severity=Severity.CRITICAL,
    consequence="Secondaries do not get the zone, or serve another one than the primary, without signatures or names.",
    procedure=(
        "The zone is asked for by AXFR, where the server allows it: it begins and ends with the same SOA record,"
        " all messages have the query's ID, and no name is outside of the zone. The glue of referrals, and the "
        "RRsets of a sample of answers, their signatures, NSEC and NSEC3 records are looked for in it. The signatures"
        " in it are verified; of more than 500, those at names that are doubtful by all of its data, and 500 others."
    ),
    dig=("dig @{server} -p {port} {zone} AXFR",),
    needs=("transfer",),
    faults=(
        "cuts-huge-by-tcp",
        "two-cnames",
        "axfr-leaves-out",
        "axfr-strips-rrsig",
        "axfr-strips-nsec",
        "axfr-ends-early",
        "axfr-spoils-signatures",
        "allows-axfr",
        "changes-data",
        "signed-delegation",
        "wrong-nsec3param",
        "cname-at-apex",
        "other-ns",
        "one-bad-signature",
        "ns-alias",
        "keeps-first-string",
        "axfr-adds-foreign",
        "axfr-leaves-out-glue",
        "axfr-other-id",
        "half-addresses",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the transfer with answers."""
    moved = subject.transfer
    if moved.trouble:
        return failed(f"The transfer, of {len(moved.rrsets)} records so far, did not come to its end: {moved.trouble}.")
    if moved.given_up:
        return inconclusive(f"The transfer was given up after {len(moved.rrsets)} records: the zone is too large.")
    if moved.zone is None:
        return inconclusive("There is no transfer any more.")
    origin = subject.origin
    wrong = _wrong_frame(moved.rrsets, origin) or _lost_glue(subject, moved.zone)
    if wrong is not None:
        return wrong
    compared = 0
    for exchange in sample(subject):
        message = exchange.message
        for rrset in [] if message is None else (*message.answer, *message.authority):
            if rrset.rdtype in LEFT_OUT or not rrset.name.is_subdomain(origin):
                continue
            if rrset.covers == RdataType.SOA or is_synthesised(rrset.name, exchange):
                continue
            name = _source(moved.zone, origin, rrset.name)
            there = moved.zone.get_rdataset(name, rrset.rdtype, rrset.covers)
            kind = rrset.covers or rrset.rdtype
            if (
                there is None
                and kind in DENIALS
                and not _has_type(moved.zone, kind)
                and not _is_lost(moved.zone, rrset)
            ):
                # Made on the fly: no part of what is transferred.
                continue
            # Servers that sign on the fly sign the same data differently each time.
            is_other = rrset.rdtype != RdataType.RRSIG and there is not None and set(there) != set(rrset)
            if there is None or is_other:
                covers = f" over {RdataType.make(rrset.covers).name}" if rrset.covers else ""
                title = f"{name} {RdataType.make(rrset.rdtype).name}{covers}"
                lack = "is not in the transfer" if there is None else "is another in the transfer"
                text = "\n".join(str(one) for one in ([] if there is None else there)) or "none"
                return failed(f"{title} {lack}.", exchange, Evidence(f"{title} in the transfer", text))
            compared += 1
    invalid = _invalid_signature(subject, moved.zone)
    if invalid is not None:
        return invalid
    if not compared:
        return nothing_seen("RRsets of the zone")
    return passed(
        f"The transfer has {len(moved.rrsets)} records, among them the {compared} RRsets that were asked for."
    )


def _wrong_frame(rrsets: Sequence[dns.rrset.RRset], origin: dns.name.Name) -> Outcome | None:
    """Judge the beginning, the end, and the owners of a transfer; None if they are right."""
    first, last = rrsets[0], rrsets[-1]
    if first.rdtype != RdataType.SOA or last.rdtype != RdataType.SOA or first[0] != last[0]:
        return failed("The transfer does not begin and end with the same SOA record.")
    foreign = next((rrset.name for rrset in rrsets if not rrset.name.is_subdomain(origin)), None)
    return None if foreign is None else failed(f"The transfer has records of {foreign}, which is not within the zone.")


def _lost_glue(subject: AuthoritativeSubject, zone: dns.zone.Zone) -> Outcome | None:
    """Judge the transfer by the glue of referrals, which it must have too (RFC 5936 section 3.4)."""
    for exchange in sample(subject):
        message = exchange.message
        if message is None or message.answer:
            continue
        cuts = [rrset.name for rrset in message.authority if rrset.rdtype == RdataType.NS]
        for rrset in message.additional:
            is_glue = any(rrset.name.is_subdomain(cut) for cut in cuts if cut != subject.origin)
            is_glue = is_glue and rrset.rdtype in {RdataType.A, RdataType.AAAA}
            if is_glue and zone.get_rdataset(rrset.name, rrset.rdtype) is None:
                return failed(f"The glue {rrset.name} of a referral is not in the transfer.", exchange)
    return None


def _invalid_signature(subject: AuthoritativeSubject, zone: dns.zone.Zone) -> Outcome | None:
    """Verify the signatures of the transfer, as many as are verified in answers; judge the first that is not valid."""
    keys = zone_keys(subject)
    for name, signatures in _chosen_signatures(subject, zone):
        covered = zone.get_rrset(name, signatures.covers)
        kind = RdataType.make(signatures.covers).name
        if covered is None:
            text = "\n".join(str(signature) for signature in signatures)
            alone = f"{name} RRSIG over {kind} is in the transfer without what it signs."
            return failed(alone, Evidence(f"{name} RRSIG in the transfer", text))
        for signature in signatures:
            if isinstance(signature, RRSIG) and signature.signer == subject.origin:
                said = signature_trouble(covered, signature, keys)
                if said:
                    shown = Evidence(f"{name} {kind} in the transfer", f"{covered}\n{name} RRSIG {signature}")
                    return failed(f"The signature of {name} {kind} in the transfer is not valid: {said}.", shown)
    return None


def _chosen_signatures(
    subject: AuthoritativeSubject, zone: dns.zone.Zone
) -> list[tuple[dns.name.Name, dns.rdataset.Rdataset]]:
    """Give all signatures, or of many those at doubtful names, and others drawn by lot."""
    signed = [
        (name, rdataset)
        for name, node in zone.nodes.items()
        for rdataset in node.rdatasets
        if rdataset.rdtype == RdataType.RRSIG
    ]
    if len(signed) <= VERIFIED_MAX:
        return signed
    doubtful = {*subject.transfer_doubts.names, *subject.transfer_doubts.owners}
    first = [one for one in signed if one[0] in doubtful]
    others = [one for one in signed if one[0] not in doubtful]
    return [*first, *Random(subject.landmarks.seed).sample(others, min(len(others), VERIFIED_MAX))]


def _is_lost(zone: dns.zone.Zone, rrset: dns.rrset.RRset) -> bool:
    """Say whether an NSEC RRset is of a chain that the zone must have: it is signed beforehand, and so is the rest."""
    is_kept = any(isinstance(record, NSEC) and not is_made(record) for record in rrset)
    return is_kept and _has_type(zone, RdataType.RRSIG)


def _has_type(zone: dns.zone.Zone, rtype: int) -> bool:
    return any(rdataset.rdtype == rtype for node in zone.nodes.values() for rdataset in node.rdatasets)


def _source(zone: dns.zone.Zone, origin: dns.name.Name, name: dns.name.Name) -> dns.name.Name:
    """Give the name itself if the transfer has it, else the wildcard's that it was made from (RFC 4592 section 3.3)."""
    above = name
    while zone.get_node(name) is None and above != origin:
        above = above.parent()
        wildcard = child_of(above, b"*")
        if zone.get_node(wildcard) is not None:
            return wildcard
    return name

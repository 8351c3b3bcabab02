"""A-58: the keys of signatures are in the apex DNSKEY RRset."""

from dnsrig.items.authoritative._answers import Seen, zone_keys
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import keys_for
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-58",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Every RRset has a signature whose algorithm and key tag are those of a key in the apex DNSKEY RRset.",
    references=("RFC 4035 section 5.3.1", "RFC 4035 section 2.1", "JPRS-2010 A-58"),
    severity=Severity.CRITICAL,
    consequence="Validators find no key for the signatures: the names do not resolve for their users.",
    procedure=(
        "A sample of the zone's answers is asked for with DO; algorithm and key tag of each RRset's signatures are "
        "looked for in the apex DNSKEY RRset. Signatures of further keys, withdrawn or not yet published, may be "
        "there besides."
    ),
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec +dnssec", "dig @{server} -p {port} {zone} SOA +norec +dnssec"),
    needs=("signatures",),
    faults=("withdrawn-key",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for the keys."""
    keys = zone_keys(subject)

    def trouble(seen: Seen) -> str:
        if any(keys_for(signature, keys) for signature in seen.signed.signatures):
            return ""
        tags = " and ".join(f"{one.key_tag} (algorithm {int(one.algorithm)})" for one in seen.signed.signatures)
        return f"{seen.title} is signed by {tags}, which the apex DNSKEY RRset has not."

    return check_seen(subject, trouble, "The keys of the signatures of {count} RRsets are at the apex.")

"""A-algorithms-complete: a signature of each algorithm."""

from dnsrig.items.authoritative._answers import Seen, zone_keys
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import REVOKE
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-algorithms-complete",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Every RRset has a signature of each algorithm in the apex DNSKEY RRset.",
    references=("RFC 4035 section 2.2", "RFC 6840 section 5.11"),
    severity=Severity.WARNING,
    consequence=(
        "Validators that insist on every algorithm (Unbound with harden-algo-downgrade), or know only the one that is "
        "missing, reject the data."
    ),
    procedure=(
        "The algorithms of the keys at the apex, revoked ones apart, are compared with those of the signatures in a "
        "sample of the zone's answers with DO."
    ),
    dig=(
        "dig @{server} -p {port} {zone} DNSKEY +norec +dnssec",
        "dig @{server} -p {port} {host} {type} +norec +dnssec",
    ),
    needs=("signatures",),
    faults=("missing-algorithm",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the algorithms."""
    wanted = {int(key.algorithm) for key in zone_keys(subject) if not key.flags & REVOKE}

    def trouble(seen: Seen) -> str:
        missing = wanted - {int(signature.algorithm) for signature in seen.signed.signatures}
        return (
            ""
            if not missing
            else f"{seen.title} has no signature of algorithm {min(missing)}, of which there are keys."
        )

    numbers = " and ".join(map(str, sorted(wanted)))
    return check_seen(subject, trouble, f"{{count}} RRsets have signatures of algorithm {numbers}.")

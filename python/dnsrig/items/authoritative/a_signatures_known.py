"""A-signatures-known: no signatures by keys that nobody has."""

from dnsrig.items.authoritative._answers import Seen, zone_keys
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import keys_for
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-signatures-known",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Beside signatures by keys of the apex DNSKEY RRset there are none by other keys.",
    references=("RFC 4035 section 2.2", "RFC 6781 section 4.1.4"),
    severity=Severity.NOTICE,
    consequence="Responses are larger for signatures that nobody can verify; a key was withdrawn too early.",
    procedure=(
        "A sample of the zone's answers is asked for with DO; where a key of the apex DNSKEY RRset made a signature of"
        " an RRset, one made all others too. Where none did, A-58 says so. A change of algorithm has such signatures"
        " for some time (RFC 6781)."
    ),
    dig=(
        "dig @{server} -p {port} {host} {type} +norec +dnssec",
        "dig @{server} -p {port} {zone} DNSKEY +norec +dnssec",
    ),
    needs=("signatures",),
    faults=("stray-signature",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for the keys of all signatures."""
    keys = zone_keys(subject)

    def trouble(seen: Seen) -> str | None:
        own = [one for one in seen.signed.signatures if one.signer == subject.origin]
        strays = [one for one in own if not keys_for(one, keys)]
        if len(strays) == len(own):
            return None
        return f"{seen.title} has a signature by key {strays[0].key_tag} too, which the zone has not." if strays else ""

    return check_seen(subject, trouble, "The signatures of {count} RRsets are by keys of the zone.")

"""A-signatures-valid: signatures fit data and key."""

from dnsrig.items.authoritative._answers import Seen, zone_keys
from dnsrig.items.authoritative._seen import check_seen
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import signature_trouble
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-signatures-valid",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Every signature by a key of the zone is valid for the RRset that it comes with, whatever the time.",
    references=("RFC 4035 section 5.3.3", "RFC 4034 section 3.1.8.1"),
    severity=Severity.CRITICAL,
    consequence="Validators reject the data, or try more signatures than they need to: names do not resolve.",
    procedure=(
        "A sample of the zone's answers is asked for with DO: positive answers, denials, referrals, and expanded "
        "wildcards. Each signature is verified with the key of the apex DNSKEY RRset that it names; times are left out."
    ),
    dig=("delv @{server} -p {port} {zone} SOA   # with the zone's key as trust anchor",),
    needs=("signatures",),
    faults=(
        "cuts-huge-by-tcp",
        "two-cnames",
        "bad-signatures",
        "bad-dnskey-signature",
        "changes-data",
        "wrong-nsec3param",
        "old-serial",
        "other-ns",
        "two-soas",
        "one-bad-signature",
        "keeps-first-string",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Verify all signatures seen."""
    keys = zone_keys(subject)

    def trouble(seen: Seen) -> str | None:
        verified = None
        for signature in seen.signed.signatures:
            # A signature in another zone's name is A-signer-name's.
            if signature.signer != subject.origin:
                continue
            said = signature_trouble(seen.signed.rrset, signature, keys)
            if said:
                return f"The signature of {seen.title} by key {signature.key_tag} is not valid: {said}."
            verified = said if verified is None else verified
        return verified

    return check_seen(subject, trouble, "The signatures of {count} RRsets are valid.")

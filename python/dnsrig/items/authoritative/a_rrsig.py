"""A-rrsig: signatures for those who ask for them."""

from dnsrig.items.authoritative._answers import first_shown, nothing_seen, seen_rrsets
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-rrsig",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="With DO every RRset of the zone in the answer and authority sections comes with its signatures.",
    references=("RFC 4035 section 3.1.1", "RFC 3225 section 3"),
    severity=Severity.CRITICAL,
    consequence="Validators take the zone for bogus: its names do not resolve for their users.",
    procedure=(
        "A sample of the zone's answers is asked for with DO: positive answers, denials, referrals, and expanded "
        "wildcards. Delegations, glue and CNAME records made from DNAME records have no signatures."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec",),
    needs=("signed",),
    faults=(
        "strips-rrsig",
        "strips-rrsig-of-denials",
        "strips-rrsig-of-dname",
        "clears-do",
        "ignores-edns",
        "cname-at-apex",
        "one-unsigned-rrset",
        "ns-alias",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for RRsets without signatures."""
    seen = seen_rrsets(subject)
    if not seen:
        return nothing_seen("RRsets that are to be signed")
    bare = [one for one in seen if not one.signed.signatures]
    if bare:
        titles = list(dict.fromkeys(one.title for one in bare))
        reason = (
            f"{len(titles)} of {len({one.title for one in seen})} RRsets come without signatures, such as {titles[0]}."
        )
        return failed(reason, *first_shown(one.exchange for one in bare))
    return passed(f"{len({one.title for one in seen})} RRsets came with signatures.", seen[0].exchange)

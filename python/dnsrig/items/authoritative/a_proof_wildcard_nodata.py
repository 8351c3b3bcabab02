"""A-proof-wildcard-nodata: denial of a type at a wildcard."""

import dns.rcode

from dnsrig.items.authoritative._answers import absent_type, expanded_name
from dnsrig.items.authoritative._denials import judge, unusable
from dnsrig.verification.denial import DenialRecords, Proof
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable

ITEM = Item(
    id="A-proof-wildcard-nodata",
    role="authoritative",
    group="DNSSEC: denial of existence",
    requirement="A response that the wildcard that stands for a name has not the type proves that.",
    references=("RFC 4035 section 3.1.3.4", "RFC 5155 section 7.2.5", "RFC 5155 section 8.7"),
    severity=Severity.ERROR,
    consequence="Validators give SERVFAIL instead of an empty answer for names that stand on the wildcard.",
    procedure=(
        "A type that the wildcard has not is asked for with DO at a name to which it is expanded. NSEC: a record "
        "covers the name, another matches the wildcard and has not the type. NSEC3: a record matches the closest "
        "encloser, one covers the next closer name, one matches the wildcard. A record at the name itself, made on "
        "the fly, is right too."
    ),
    dig=("dig @{server} -p {port} absent.{wildcard_parent} LOC +norec +dnssec",),
    needs=("signatures", "wildcard"),
    faults=(
        "strips-denial",
        "strips-nodata-denial",
        "lacks-wildcard-match",
        "lacks-next-closer-denial",
        "lacks-closest-encloser",
        "nxdomain-for-nodata",
        "nsec3param-of-no-chain",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for such a type and judge the proof."""
    name = expanded_name(subject)
    if name is None:
        return not_applicable("The zone has no wildcard.")
    rtype, exchange = absent_type(subject, name)
    outcome = unusable(subject, exchange)
    if outcome is not None or exchange.message is None:
        return outcome or inconclusive("There is no response.", exchange)
    if exchange.message.answer:
        return inconclusive("The wildcard has every type that was thought to be rare.", exchange)
    if exchange.rcode == dns.rcode.NXDOMAIN:
        return failed(f"The response says that {name} does not exist, though a wildcard stands for it.", exchange)

    def prove(records: DenialRecords) -> Proof:
        # Servers that sign on the fly deny the type at the name, which they make exist.
        by_name = records.no_data(name, rtype) if records.types_at(name) is not None else None
        return by_name if by_name else records.wildcard_no_data(name, rtype)

    return judge(subject, exchange, prove, f"that the wildcard for {name} has no {rtype.name}")

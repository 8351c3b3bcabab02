"""A-proof-empty: empty non-terminals."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._denials import answer_rrsets, judge, unusable
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, failed

ITEM = Item(
    id="A-proof-empty",
    role="authoritative",
    group="DNSSEC: denial of existence",
    requirement="An empty non-terminal gets NOERROR with the proof that it exists and has not the type.",
    references=("RFC 4592 section 2.2.2", "RFC 4035 section 3.1.3.1", "RFC 5155 section 7.2.3", "RFC 8020 section 2"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers that minimise query names (RFC 9156) or take NXDOMAIN for all below it lose the names below."
    ),
    procedure=(
        "Empty non-terminals, every one that is known or 50 of them, are asked for with DO. NSEC: a record covers it"
        " and its Next Domain Name lies below it. NSEC3: a record matches it, with an empty bitmap."
    ),
    dig=("dig @{server} -p {port} {empty} A +norec +dnssec",),
    needs=("signatures", "empty"),
    faults=(
        "strips-denial",
        "strips-nodata-denial",
        "nxdomain-for-empty-with-do",
        "lacks-empty-match",
        "nxdomain-for-empty",
        "nxdomain-for-nodata",
        "lacks-nsec3-of-empty",
        "nsec3param-of-no-chain",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the names and judge the proofs."""
    first = _judge(subject, subject.name("empty"))
    if first.verdict != Verdict.PASS:
        return first
    for name in subject.known_data.empties:
        # Below a DNAME record there is nothing to be proved.
        outcome = _judge(subject, name)
        if outcome.verdict == Verdict.FAIL and not answer_rrsets(
            subject.answers.get(name, RdataType.A), RdataType.CNAME
        ):
            return outcome
    return first


def _judge(subject: AuthoritativeSubject, name: dns.name.Name) -> Outcome:
    exchange = subject.answers.get(name, RdataType.A)
    outcome = unusable(subject, exchange)
    if outcome is not None:
        return outcome
    if exchange.rcode == dns.rcode.NXDOMAIN:
        return failed(f"The response says that {name} does not exist, though there are names below it.", exchange)
    what = f"that {name} exists without A"
    return judge(subject, exchange, lambda records: records.no_data(name, RdataType.A), what)

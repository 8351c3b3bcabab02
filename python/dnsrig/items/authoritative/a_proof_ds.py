"""A-proof-ds: denial of DS records."""

from functools import partial

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._denials import judge, unusable
from dnsrig.verification.denial import DenialRecords, Proof
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, inconclusive

ITEM = Item(
    id="A-proof-ds",
    role="authoritative",
    group="DNSSEC: delegations",
    requirement="The response that an insecure delegation has no DS records proves that from the parent side.",
    references=("RFC 4035 section 3.1.3.1", "RFC 4035 section 5.2", "RFC 5155 section 7.2.4", "RFC 5155 section 8.6"),
    severity=Severity.ERROR,
    consequence="Validators cannot tell that the zone below is not signed: its names do not resolve for their users.",
    procedure=(
        "DS records of every insecure delegation that is known are asked for with DO. A record matches the delegation:"
        " its bitmap has NS, and neither DS nor SOA; or an NSEC3 record with the Opt-Out flag covers the next closer"
        " name."
    ),
    dig=("dig @{server} -p {port} {delegation} DS +norec +dnssec",),
    needs=("signatures", "delegation"),
    faults=(
        "strips-denial",
        "strips-nodata-denial",
        "ds-from-child",
        "lacks-ds-denial",
        "cut-bitmap-without-ns",
        "cut-bitmap-lists-ds",
        "ds-lost",
        "nsec3param-of-no-chain",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for DS records and judge the proof."""
    name = subject.name("delegation")
    exchange = subject.answers.get(name, RdataType.DS)
    outcome = unusable(subject, exchange)
    if outcome is not None or exchange.message is None:
        return outcome or inconclusive("There is no response.", exchange)
    if exchange.message.answer:
        return inconclusive(f"{name} has DS records now.", exchange)
    outcome = judge(subject, exchange, lambda records: records.no_ds(name), f"that {name} has no DS")
    # Delegations whose DS records are known from the zone's data are not insecure.
    insecure = [one.name for one in subject.survey.places if one.rtype == RdataType.DS and not one.data]
    for cut in insecure if outcome.verdict == Verdict.PASS else ():
        further = subject.survey.asked.get((cut, RdataType.DS))
        if further is None or further.message is None or further.rcode != dns.rcode.NOERROR or further.is_truncated:
            continue
        if any(rrset.rdtype == RdataType.DS for rrset in (*further.message.answer, *further.message.authority)):
            continue
        judged = judge(subject, further, partial(_prove, cut), f"that {cut} has no DS")
        if judged.verdict == Verdict.FAIL:
            return judged
    return outcome


def _prove(cut: dns.name.Name, records: DenialRecords) -> Proof:
    return records.no_ds(cut)

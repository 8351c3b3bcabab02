"""A-proof-nodata: denial of a type."""

from functools import partial

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._aliases import denials_behind_aliases
from dnsrig.items.authoritative._answers import absent_type, usual_absences
from dnsrig.items.authoritative._denials import judge, unusable
from dnsrig.verification.denial import DenialRecords, Proof
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, failed, inconclusive

ITEM = Item(
    id="A-proof-nodata",
    role="authoritative",
    group="DNSSEC: denial of existence",
    requirement="A response that a name has not a type proves that by the NSEC or NSEC3 record that matches the name.",
    references=("RFC 4035 section 3.1.3.1", "RFC 5155 section 7.2.3", "RFC 5155 section 8.5"),
    severity=Severity.ERROR,
    consequence=(
        "Validators give SERVFAIL instead of an empty answer: hosts without IPv6 are slow to reach, or not at all."
    ),
    procedure=(
        "A type that is not there is asked for with DO, at the apex, at a host, and at every other name that is known;"
        " types in use that a host has not too."
        " A record matches the name, and its bitmap has neither the type nor CNAME. So it is where an alias leads to a "
        "name without the type: AAAA and MX are asked for at aliases."
    ),
    dig=("dig @{server} -p {port} {zone} LOC +norec +dnssec",),
    needs=("signatures",),
    faults=(
        "strips-denial",
        "strips-nodata-denial",
        "strips-mail-denial",
        "one-missing-nsec",
        "lacks-nsec3-of-host",
        "opt-out-skips-host",
        "nsec3param-of-no-chain",
        "strips-wildcard-denial",
        "strips-denial-behind-aliases",
    ),
)


def _prove(name: dns.name.Name, rtype: RdataType, records: DenialRecords) -> Proof:
    proof = records.no_data(name, rtype)
    # Opt-out may leave out insecure delegations and what leads to these only (RFC 5155 section 7.1).
    if proof.opts_out:
        return Proof(f"no NSEC3 record matches {name}, which has data, so that opt-out is no excuse")
    return proof


def _prove_end(name: dns.name.Name, rtype: RdataType, records: DenialRecords) -> Proof:
    """Judge the same of a name that may be a wildcard's, or one that opt-out leaves out."""
    proof = records.no_data(name, rtype)
    return proof if proof or not records.wildcard_no_data(name, rtype) else Proof()


def _wrong_behind_aliases(subject: AuthoritativeSubject) -> Outcome | None:
    """Judge the proofs where aliases lead to names without the type; None if they are right."""
    for denial in denials_behind_aliases(subject, do=True):
        what = f"that {denial.end}, where the alias leads to, has no {denial.rtype.name}"
        outcome = judge(subject, denial.exchange, partial(_prove_end, denial.end, denial.rtype), what)
        if outcome.verdict == Verdict.FAIL:
            return outcome
    return None


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for such a type at both names and judge the proofs."""
    host = subject.landmarks.host
    outcomes = []
    for name in (subject.origin, *(() if host is None else (host.name,))):
        rtype, exchange = absent_type(subject, name)
        outcome = unusable(subject, exchange)
        if outcome is None and exchange.message is not None and exchange.message.answer:
            outcome = inconclusive(f"{name} has every type that was thought to be rare.", exchange)
        if outcome is None:
            what = f"that {name} has no {rtype.name}"
            outcome = judge(subject, exchange, partial(_prove, name, rtype), what)
        if outcome.verdict == Verdict.FAIL:
            return outcome
        outcomes.append(outcome)
    for rtype, exchange in usual_absences(subject):
        # Of the apex, A-bitmap-honest compares the bitmap with what is answered.
        if host is not None and exchange.query.name == host.name and exchange.rcode == dns.rcode.NOERROR:
            what = f"that {host.name} has no {rtype.name}"
            outcome = judge(subject, exchange, partial(_prove, host.name, rtype), what)
            if outcome.verdict == Verdict.FAIL:
                return outcome
    wrong = _wrong_behind_aliases(subject)
    if wrong is not None:
        return wrong
    answered = {
        name for (name, _), exchange in subject.survey.asked.items() if exchange.message and exchange.message.answer
    }
    for question in subject.survey.absences:
        further = subject.survey.asked.get(question)
        if further is not None and further.rcode == dns.rcode.SERVFAIL and question[0] in answered:
            # So servers do that look for the record in vain.
            reason = f"The response to {further.title} is SERVFAIL, though the name has other types: there is no proof."
            return failed(reason, further)
        if further is None or further.rcode != dns.rcode.NOERROR or further.message is None:
            continue
        name, rtype = question
        outcome = judge(subject, further, partial(_prove, name, rtype), f"that {name} has no {rtype.name}")
        if outcome.verdict == Verdict.FAIL and not further.message.answer and not further.is_truncated:
            return outcome
    return next((outcome for outcome in outcomes if outcome.verdict != Verdict.PASS), outcomes[0])

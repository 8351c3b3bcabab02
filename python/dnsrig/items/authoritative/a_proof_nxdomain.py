"""A-proof-nxdomain: denial of a name."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import denied_name
from dnsrig.items.authoritative._deep import deep_names
from dnsrig.items.authoritative._denials import is_compact_denial, is_made_there, judge, records_in, unusable
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.items.authoritative._whole import wrong_expansion
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, failed, not_applicable

ITEM = Item(
    id="A-proof-nxdomain",
    role="authoritative",
    group="DNSSEC: denial of existence",
    requirement="A response that a name does not exist proves that, and that no wildcard covers the name.",
    references=("RFC 4035 section 3.1.3.2", "RFC 5155 section 7.2.2", "RFC 4035 section 5.4", "RFC 9824 section 2"),
    severity=Severity.ERROR,
    consequence="Validators give SERVFAIL instead of NXDOMAIN: clients try again and again, and search lists fail.",
    procedure=(
        "Names that do not exist are asked for with DO: one label and two labels below the apex, and below a host, an "
        "alias, the deepest name that is known, and empty non-terminals. NSEC: one record covers the name, one the "
        "wildcard at the "
        "closest encloser. NSEC3: one matches the closest encloser, one covers the next closer name, one the "
        "wildcard. NOERROR with an NSEC record at the name that has the type NXNAME is compact denial, and "
        "right; so is "
        "one that ends right behind the name, which servers that sign on the fly gave before that. An answer fails "
        "where the zone's data, known as a whole, have no wildcard for it."
    ),
    dig=(
        "dig @{server} -p {port} absent.{zone} A +norec +dnssec",
        "dig @{server} -p {port} deep.absent.{host} A +norec +dnssec",
    ),
    needs=("signatures",),
    faults=(
        "strips-denial",
        "strips-nxdomain-denial",
        "lacks-next-closer-denial",
        "lacks-wildcard-denial",
        "lacks-closest-encloser",
        "strips-deep-denial",
        "lacks-deep-wildcard-denial",
        "lacks-deep-encloser",
        "noerror-for-nxdomain",
        "nsec3param-of-no-chain",
        "wildcard-below-names-with-do",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for the names and judge the proofs."""
    outcome = _judged(subject, denied_name(subject))
    if outcome.verdict not in {Verdict.PASS, Verdict.NOT_APPLICABLE}:
        return outcome
    for name in deep_names(subject):
        deeper = _judged(subject, name)
        if deeper.verdict is Verdict.FAIL:
            return deeper
    return outcome


def _judged(subject: AuthoritativeSubject, name: dns.name.Name) -> Outcome:
    exchange = subject.answers.get(name, RdataType.A)
    outcome = unusable(subject, exchange)
    if outcome is not None:
        return outcome
    if exchange.message is not None and exchange.message.answer:
        wrong = wrong_expansion(subject, exchange)
        if wrong is not None:
            return wrong
        return not_applicable(f"The zone has an answer for {name}, which was thought up: from a wildcard.", exchange)
    if exchange.rcode == dns.rcode.NOERROR and not is_compact_denial(subject, exchange, name):
        records = records_in(subject, exchange)
        if records is not None and records.wildcard_no_data(name, RdataType.A):
            reason = f"{name} was thought up, and the zone has it by a wildcard, which has other types."
            return not_applicable(reason, exchange)
        if is_made_there(subject, exchange, name):
            # No verdict on whether NXDOMAIN comes without DO, which A-nxdomain is about.
            return judge(subject, exchange, lambda found: found.no_data(name, RdataType.A), f"that {name} has no A")
        return failed(f"{name} does not exist, yet the response is NOERROR.", exchange)
    return judge(subject, exchange, lambda records: records.no_name(name), f"that {name} does not exist")

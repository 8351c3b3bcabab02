"""A-class: the class of records."""

import dns.rdataclass
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._looked_at import check_responses
from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, failed
from dnsrig.verification.wire import read_wire

OTHER = dns.rdataclass.HS
"""Not CH: for that BIND answers few queries a second, as it ships."""
ITEM = Item(
    id="A-class",
    role="authoritative",
    group="Answers",
    requirement="Records have the class that was asked for, and queries for other classes are answered, not with IN's.",
    references=("RFC 1034 section 4.3.2", "RFC 1035 section 3.2.4", "RFC 8906 section 2"),
    severity=Severity.WARNING,
    consequence="Resolvers drop records of another class; those that ask for another class wait, or take IN's for it.",
    procedure=(
        "Answers, denials and referrals are looked at: all records but OPT have class IN. The SOA record is asked for "
        "in class HS: there is a response, of whatever code, with nothing in its answer."
    ),
    dig=("dig @{server} -p {port} -c HS -t SOA -q {zone} +norec +noedns", "dig @{server} -p {port} {zone} SOA +norec"),
    needs=("zone",),
    faults=("records-of-class-ch", "drops-other-classes", "ignores-class"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at what comes in class IN, then ask in another."""

    def trouble(exchange: Exchange) -> str:
        for record in read_wire(exchange.response or b"").records:
            if (
                record.rtype not in {RdataType.OPT, RdataType.TSIG, RdataType.SIG}
                and record.rdclass != exchange.query.rdclass
            ):
                return (
                    f"has {record.title} of class {dns.rdataclass.to_text(dns.rdataclass.RdataClass(record.rdclass))}"
                )
        return ""

    outcome = check_responses(subject, trouble, "The records of {count} responses have class IN.")
    if outcome.verdict is not Verdict.PASS:
        return outcome
    exchange = subject.asker.udp(soa_query(subject, rdclass=OTHER))
    if exchange.response is None:
        return subject.unanswered(exchange)
    if any(record.section == "answer" for record in read_wire(exchange.response).records):
        return failed(f"The SOA record is given in class {dns.rdataclass.to_text(OTHER)} too.", exchange)
    return outcome

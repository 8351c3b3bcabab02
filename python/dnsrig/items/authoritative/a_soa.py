"""A-soa: the SOA record."""

import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import soa_query, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-soa",
    role="authoritative",
    group="Zone",
    requirement="The apex has exactly one SOA record.",
    references=("RFC 1035 section 5.2", "RFC 2181 section 6.1"),
    severity=Severity.CRITICAL,
    consequence=(
        "Secondaries and resolvers take another serial or another minimum each time; transfers and denials go wrong."
    ),
    procedure="The SOA record is asked for; the answer has one record, of the zone's name and class IN.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns",),
    needs=("zone",),
    faults=("two-soas",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Count the records one by one, as a parsed RRset of SOA keeps only the last."""
    exchange = subject.asker.ask(soa_query(subject))
    wrong = wrong_soa(subject, exchange)
    if wrong is not None:
        return wrong
    records = dns.message.from_wire(exchange.response or b"", one_rr_per_rrset=True).answer
    owners = [record.name for record in records if record.rdtype == RdataType.SOA]
    if owners != [subject.origin]:
        return failed(f"The answer has {len(owners)} SOA records.", exchange)
    return passed("The answer has one SOA record.", exchange)

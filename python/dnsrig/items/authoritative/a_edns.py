"""A-edns: plain EDNS."""

from dnsrig.items.authoritative._probes import edns_soa_query, without_opt, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-edns",
    role="authoritative",
    group="RFC 8906",
    requirement="A query with EDNS version 0 gets its answer and an OPT record of version 0.",
    references=("RFC 8906 section 8.2.1", "RFC 6891 section 6.1.1"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers ask with EDNS first; each must find out that this server has none, or wait. DNSSEC is not "
        "possible with it."
    ),
    procedure=(
        "The SOA record is asked for with an OPT record that has neither flags nor options; the response is "
        "NOERROR with the record and an OPT record of version 0."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=0 +nocookie",),
    needs=("zone",),
    faults=("strips-opt", "ignores-edns", "drops-edns", "formerr-to-edns"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with EDNS and nothing more."""
    exchange = subject.asker.udp(edns_soa_query(subject))
    wrong = wrong_soa(subject, exchange) or without_opt(exchange)
    if wrong is not None:
        return wrong
    if exchange.message is not None and exchange.message.edns != 0:
        return failed(f"The EDNS version of the response is {exchange.message.edns}, not 0.", exchange)
    return passed("NOERROR with the SOA record and OPT.", exchange)

"""A-nsid: NSID."""

import dns.edns

from dnsrig.items.authoritative._probes import edns_soa_query, option_types
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

NSID = int(dns.edns.OptionType.NSID)
ITEM = Item(
    id="A-nsid",
    role="authoritative",
    group="Extensions",
    requirement="The server tells an identifier (NSID) that is not empty to those who ask for it, and to them only.",
    references=("RFC 5001 section 2.1", "RFC 5001 section 2.2"),
    severity=Severity.NOTICE,
    consequence=(
        "Operators cannot tell which instance of an anycast service answered; unasked, it costs every client octets."
    ),
    procedure="The SOA record is asked for with an empty NSID option, and with EDNS without it.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +nsid +nocookie",),
    needs=("zone", "edns"),
    faults=("nsid-unasked", "echoes-nsid"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask without and with the option."""
    without = subject.asker.udp(edns_soa_query(subject))
    if without.message is None:
        return subject.unanswered(without)
    if NSID in option_types(without):
        return failed("The response has NSID, though the query had not.", without)
    option = dns.edns.GenericOption(dns.edns.OptionType.NSID, b"")
    exchange = subject.asker.udp(edns_soa_query(subject, options=(option,)))
    if exchange.message is None:
        return subject.unanswered(exchange)
    if NSID not in option_types(exchange):
        return not_applicable("The server has no identifier to tell.", exchange)
    if all(not option.to_wire() for option in exchange.message.options if option.otype == NSID):
        return failed("The response has NSID without an identifier, as the query has.", exchange)
    return passed("The response has NSID.", exchange)

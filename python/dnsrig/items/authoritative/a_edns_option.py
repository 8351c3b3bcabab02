"""A-edns-option: unknown EDNS options."""

from dnsrig.items.authoritative._probes import UNKNOWN_OPTION, edns_soa_query, option_types, without_opt, wrong_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-edns-option",
    role="authoritative",
    group="RFC 8906",
    requirement=(
        "A query with an EDNS option that the server does not know is answered as without, and the option does "
        "not come back."
    ),
    references=("RFC 8906 section 8.2.3", "RFC 6891 section 6.1.2"),
    severity=Severity.ERROR,
    consequence=(
        "Clients that send a newer option, as cookies once were, get no answer or wait for a time-out at every name."
    ),
    procedure=(
        "The SOA record is asked for with option 65001; the response is NOERROR with the record and OPT without "
        "that option."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=0 +nocookie +ednsopt=65001:646e73726967",),
    needs=("zone", "edns"),
    faults=("drops-edns-options", "formerr-to-edns-options", "echoes-edns-options"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with an option of the range for experiments."""
    exchange = subject.asker.udp(edns_soa_query(subject, options=(UNKNOWN_OPTION,)))
    wrong = wrong_soa(subject, exchange) or without_opt(exchange)
    if wrong is not None:
        return wrong
    if int(UNKNOWN_OPTION.otype) in option_types(exchange):
        return failed("The response has the option, which the server cannot know.", exchange)
    return passed("NOERROR with the SOA record and OPT without the option.", exchange)

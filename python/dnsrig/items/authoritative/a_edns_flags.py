"""A-edns-flags: unknown EDNS flags."""

from dnsrig.items.authoritative._looked_at import wrong_response
from dnsrig.items.authoritative._probes import UNKNOWN_EDNS_FLAG, edns_flags, edns_soa_query, without_opt, wrong_soa
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

DEFINED = 0xC000
"""DO (RFC 3225) and CO (RFC 9824 section 5)."""
ITEM = Item(
    id="A-edns-flags",
    role="authoritative",
    group="RFC 8906",
    requirement=(
        "A query with EDNS flags that the server does not know is answered as without, and no response has such flags."
    ),
    references=("RFC 8906 section 8.2.4", "RFC 6891 section 6.1.4"),
    severity=Severity.ERROR,
    consequence="New flags, as DO once was, cannot be introduced: clients get no answer, or take an echo for support.",
    procedure=(
        "The SOA record is asked for with EDNS flag 0x0040; the response is NOERROR with the record and OPT "
        "without that flag. Answers, denials and referrals to queries with DO alone have no such flag either."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=0 +nocookie +ednsflags=0x40",),
    needs=("zone", "edns"),
    faults=("drops-edns-flags", "echoes-edns-flags", "sets-edns-flag"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with a flag that has no meaning yet."""
    exchange = subject.asker.udp(edns_soa_query(subject, edns_flags=UNKNOWN_EDNS_FLAG))
    wrong = wrong_soa(subject, exchange) or without_opt(exchange)
    if wrong is not None:
        return wrong
    if edns_flags(exchange) & UNKNOWN_EDNS_FLAG:
        return failed("The response has the flag, which the server cannot know.", exchange)
    wrong = wrong_response(subject, _unknown_flags)
    return wrong or passed("NOERROR with the SOA record and OPT without the flag.", exchange)


def _unknown_flags(exchange: Exchange) -> str:
    found = edns_flags(exchange) & ~DEFINED
    return f"has the EDNS flags 0x{found:04x}, which have no meaning" if found else ""

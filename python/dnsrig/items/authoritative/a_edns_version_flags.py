"""A-edns-version-flags: unknown EDNS versions with unknown flags."""

from dnsrig.items.authoritative._probes import UNKNOWN_EDNS_FLAG, edns_flags, edns_soa_query, wrong_badvers
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-edns-version-flags",
    role="authoritative",
    group="RFC 8906",
    requirement="A query of EDNS version 1 with unknown EDNS flags gets BADVERS, without those flags.",
    references=("RFC 8906 section 8.2.5", "RFC 6891 section 6.1.3"),
    severity=Severity.WARNING,
    consequence="Later versions of EDNS cannot be introduced: clients that try them get no answer, or a wrong one.",
    procedure="The SOA record is asked for with EDNS version 1 and flag 0x0040.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=1 +noednsneg +nocookie +ednsflags=0x40",),
    needs=("zone", "edns"),
    faults=(
        "answers-any-edns-version",
        "drops-edns-versions",
        "formerr-to-edns-versions",
        "echoes-edns-version",
        "drops-edns-flags",
        "echoes-edns-flags",
    ),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with version 1 and a flag that has no meaning yet."""
    exchange = subject.asker.udp(edns_soa_query(subject, edns_version=1, edns_flags=UNKNOWN_EDNS_FLAG))
    wrong = wrong_badvers(subject, exchange)
    if wrong is not None:
        return wrong
    if edns_flags(exchange) & UNKNOWN_EDNS_FLAG:
        return failed("The response has the flag, which the server cannot know.", exchange)
    return passed("BADVERS with version 0, without the flag.", exchange)

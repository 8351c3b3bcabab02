"""A-edns-version-option: unknown EDNS versions with unknown options."""

from dnsrig.items.authoritative._probes import UNKNOWN_OPTION, edns_soa_query, option_types, wrong_badvers
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-edns-version-option",
    role="authoritative",
    group="RFC 8906",
    requirement="A query of EDNS version 1 with an unknown EDNS option gets BADVERS, without that option.",
    references=("RFC 8906 section 8.2.6", "RFC 6891 section 6.1.3"),
    severity=Severity.WARNING,
    consequence="Later versions of EDNS cannot be introduced: clients that try them get no answer, or a wrong one.",
    procedure="The SOA record is asked for with EDNS version 1 and option 65001.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=1 +noednsneg +nocookie +ednsopt=65001:646e73726967",),
    needs=("zone", "edns"),
    faults=(
        "answers-any-edns-version",
        "drops-edns-versions",
        "formerr-to-edns-versions",
        "echoes-edns-version",
        "drops-edns-options",
        "formerr-to-edns-options",
        "echoes-edns-options",
    ),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with version 1 and an option of the range for experiments."""
    exchange = subject.asker.udp(edns_soa_query(subject, edns_version=1, options=(UNKNOWN_OPTION,)))
    wrong = wrong_badvers(subject, exchange)
    if wrong is not None:
        return wrong
    if int(UNKNOWN_OPTION.otype) in option_types(exchange):
        return failed("The response has the option, which the server cannot know.", exchange)
    return passed("BADVERS with version 0, without the option.", exchange)

"""A-edns-version-do: unknown EDNS versions with DO."""

from dnsrig.items.authoritative._probes import edns_soa_query, wrong_badvers
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="A-edns-version-do",
    role="authoritative",
    group="RFC 8906",
    requirement="A query of EDNS version 1 with DO gets BADVERS.",
    references=("RFC 8906 section 8.2.9", "RFC 6891 section 6.1.3"),
    severity=Severity.WARNING,
    consequence="Later versions of EDNS cannot be introduced: validators that try them get no answer, or a wrong one.",
    procedure="The SOA record is asked for with EDNS version 1 and DO.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=1 +noednsneg +nocookie +dnssec",),
    needs=("zone", "edns"),
    faults=(
        "answers-any-edns-version",
        "drops-edns-versions",
        "formerr-to-edns-versions",
        "echoes-edns-version",
        "drops-do",
    ),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with version 1 and DO."""
    exchange = subject.asker.udp(edns_soa_query(subject, edns_version=1, do=True))
    return wrong_badvers(subject, exchange) or passed("BADVERS with version 0.", exchange)

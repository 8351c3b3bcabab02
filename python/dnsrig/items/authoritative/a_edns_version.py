"""A-edns-version: EDNS versions that the server does not know."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._probes import wrong_badvers
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="A-edns-version",
    role="authoritative",
    group="RFC 8906",
    requirement="A query of EDNS version 1 gets BADVERS with an OPT record of version 0, and no answer.",
    references=("RFC 6891 section 6.1.3", "RFC 8906 section 8.2.2"),
    severity=Severity.WARNING,
    consequence="Later versions of EDNS cannot be introduced: clients that try them get no answer, or a wrong one.",
    procedure="The SOA record is asked for with EDNS version 1.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +edns=1 +noednsneg",),
    needs=("zone", "edns"),
    faults=("answers-any-edns-version", "drops-edns-versions", "formerr-to-edns-versions", "echoes-edns-version"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with version 1."""
    exchange = subject.asker.udp(Query(name=subject.origin, rtype=RdataType.SOA, edns_version=1))
    return wrong_badvers(subject, exchange) or passed("BADVERS with version 0.", exchange)

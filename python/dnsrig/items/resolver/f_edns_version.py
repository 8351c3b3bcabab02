"""F-edns-version: EDNS versions that the resolver does not know."""

import dns.rcode

from dnsrig.items.resolver._probes import plain_query, rcode_text
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="F-edns-version",
    role="resolver",
    group="EDNS and size",
    requirement="A query of EDNS version 1 gets BADVERS with an OPT record of version 0, and no answer.",
    references=("RFC 6891 section 6.1.3", "RFC 8906 section 8.2.2"),
    severity=Severity.WARNING,
    consequence="Later versions of EDNS cannot be introduced: clients that try them get no answer, or a wrong one.",
    procedure="A name is asked for with EDNS version 1.",
    dig=("dig @{server} -p {port} www.control.unsigned. A +edns=1 +noednsneg",),
    needs=("names",),
    faults=("answers-any-edns-version", "drops-edns-versions", "formerr-to-edns-versions"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with version 1, where version 0 is known."""
    if subject.control.message is None or subject.control.message.edns < 0:
        return not_applicable("The resolver has no EDNS (see F-do).", subject.control)
    exchange = subject.asker.udp(plain_query(subject, payload=USUAL_PAYLOAD, edns_version=1))
    message = exchange.message
    if message is None:
        return subject.unanswered(exchange)
    if exchange.rcode != dns.rcode.BADVERS:
        return failed(f"The response code is {rcode_text(exchange)}, not BADVERS.", exchange)
    if message.edns != 0 or message.answer:
        return failed("BADVERS comes with an answer, or with another version than 0.", exchange)
    return passed("BADVERS with version 0.", exchange)

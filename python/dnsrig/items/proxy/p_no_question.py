"""P-no-question: queries without a question."""

import dns.edns
import dns.message
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import CraftedMessage, Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, Shown, failed, passed

OPTION = dns.edns.GenericOption(dns.edns.OptionType.COOKIE, bytes(range(8)))

ITEM = Item(
    id="P-no-question",
    role="proxy",
    group="Response codes",
    requirement="A query without a question, such as one for a server cookie, has a response, and no records in it.",
    references=("RFC 7873 section 5.4", "RFC 9619 section 3", "RFC 5625 section 4.1"),
    severity=Severity.NOTICE,
    consequence="Clients that fetch a cookie before their first question wait for nothing, at each start.",
    procedure=(
        "A query whose question section is empty is sent by UDP, with a client cookie and without EDNS; any response "
        "will do, FORMERR or NOTIMP among them."
    ),
    dig=("dig @{server} -p {port} +header-only +cookie",),
    needs=("upstream",),
    faults=("proxy-drops-no-question",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask nothing."""
    shown: tuple[Shown, ...] = ()
    for has_cookie in (False, True) if _takes_cookies(subject) else (False,):
        through = subject.ask(_empty(has_cookie=has_cookie))
        if through.client.response is None:
            return subject.unanswered(through)
        message = through.client.message
        if message is not None and message.answer:
            return failed("The response to a query without a question has an answer.", through.client)
        shown = (*shown, through.client)
    return passed("There is a response without records.", *shown)


def _takes_cookies(subject: ProxySubject) -> bool:
    """Whether cookies with a question have a response; P-1 and P-known-options say so where they have none."""
    asked = Query(name=names.fresh(names.PLAIN), rtype=RdataType.A, rd=True, options=(OPTION,))
    return subject.ask(asked).client.response is not None


def _empty(*, has_cookie: bool) -> CraftedMessage:
    message = dns.message.QueryMessage(id=0)
    message.flags = dns.flags.RD
    if has_cookie:
        message.use_edns(0, 0, 1232, options=[OPTION])
    # The name says what it is about: that nothing is asked, and nobody else asks for it.
    name = names.fresh(names.PLAIN)
    return CraftedMessage(name=name, rtype=RdataType.A, rd=True, payload=None, after_id=message.to_wire()[2:])

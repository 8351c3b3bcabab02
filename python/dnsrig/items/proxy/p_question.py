"""P-question: the question in responses."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import changed
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import question_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

QUESTIONS = (
    (names.PLAIN, RdataType.A),
    (names.PLAIN, RdataType.TXT),
    (names.ABSENT, RdataType.AAAA),
    (names.SERVFAIL, RdataType.A),
)

ITEM = Item(
    id="P-question",
    role="proxy",
    group="Integrity",
    requirement="Each response has the question of its query.",
    references=("RFC 5452 section 9.1", "RFC 1035 section 7.3", "RFC 5625 section 3"),
    severity=Severity.ERROR,
    consequence="Clients that compare the question, as they should against forged responses, reject what comes.",
    procedure=(
        "Records, a name that does not exist, and one whose response is SERVFAIL are asked for by UDP and TCP; the "
        "question section of each response is compared with that of the query, not minding case."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +qr", "dig @{server} -p {port} x.absent.rig.example AAAA +qr"),
    needs=("upstream",),
    faults=("proxy-other-question",),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare; what is not answered is another item's matter, as long as something is."""
    shown: tuple[Exchange, ...] = ()
    through = None
    for transport in subject.transports:
        for what, rtype in QUESTIONS:
            query = Query(name=names.fresh(what), rtype=rtype, rd=True, payload=None)
            through = subject.ask(query, transport)
            if through.client.message is None:
                continue
            found = question_differences(through.client.asked, through.client.message)
            if found:
                return changed(through, [f"in the response, {found[0]}"])
            shown = (through.client,)
    if not shown and through is not None:
        return subject.unanswered(through)
    return passed("Responses have the question of their query.", *shown)

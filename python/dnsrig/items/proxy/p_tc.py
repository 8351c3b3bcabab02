"""P-tc: TC."""

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import at_upstream
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream import names
from dnsrig.verification.upstream.answering import TEXTS
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, failed, passed

ITEM = Item(
    id="P-tc",
    role="proxy",
    group="Size and TCP",
    requirement="TC passes: a response that the upstream truncated does not come to the client as a whole one.",
    references=("RFC 5625 section 4.4.1",),
    severity=Severity.ERROR,
    consequence="Clients take part of an RRset for all of it: addresses are missing, and signatures do not fit.",
    procedure=(
        "TXT records are asked for, without EDNS, with it and with DO, which the upstream truncates by UDP, with a "
        "part of them in the response."
    ),
    dig=("dig @{server} -p {port} x.truncated.rig.example TXT +ignore",),
    needs=("upstream",),
    faults=("cuts-without-tc", "clears-tc", "proxy-clears-tc-with-edns"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask for what is always truncated."""
    ways = [(None, False)] if subject.lacks("edns") else [(None, False), (1232, False), (1232, True)]
    found = passed("TC passes.")
    for payload, do in ways:
        query = Query(name=names.fresh(names.TRUNCATED), rtype=RdataType.TXT, rd=True, payload=payload, do=do)
        found = _judge(subject, subject.ask(query))
        if found.verdict != Verdict.PASS:
            return found
    return found


def _judge(subject: ProxySubject, through: Through) -> Outcome:
    if through.client.response is None:
        return subject.unanswered(through)
    if through.client.is_truncated:
        return passed("TC passes.", through.client)
    if through.client.message is None:
        return subject.unanswered(through)
    found = sum(len(rrset) for rrset in through.client.message.answer if rrset.rdtype == RdataType.TXT)
    if found == len(TEXTS):
        return passed(f"The proxy has asked again by TCP itself, and gives all {found} records.", through.client)
    return failed(
        f"The client gets {found} of {len(TEXTS)} records, and TC does not say so.",
        through.client,
        *at_upstream(through.upstream),
    )

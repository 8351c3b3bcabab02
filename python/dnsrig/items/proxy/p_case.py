"""P-case: case."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import ask_whole, changed, lost
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

ITEM = Item(
    id="P-case",
    role="proxy",
    group="Records",
    requirement="The case of names passes the proxy, in questions and in responses.",
    references=("RFC 5625 section 3", "RFC 4343 section 4.1", "draft-vixie-dnsext-dns0x20-00"),
    severity=Severity.WARNING,
    consequence="Clients that mix case against forged responses (0x20) reject what comes back.",
    procedure="A name in mixed case is asked for; the upstream and the client get it as it was sent.",
    dig=("dig @{server} -p {port} X.cAsE.Rig.exAmple A",),
    needs=("upstream",),
    faults=("lower-cases", "proxy-lower-cases-queries", "proxy-other-question"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    fresh = names.fresh(names.PLAIN)
    mixed = dns.name.Name([bytes(_mixed(label)) for label in fresh.labels])
    through = ask_whole(subject, Query(name=mixed, rtype=RdataType.A, rd=True, payload=None))
    wrong = lost(subject, through)
    if wrong is not None or through.client.message is None or through.upstream is None:
        return wrong or subject.unanswered(through)
    came, back = through.upstream.asked.question[0].name, through.client.message.question
    # A proxy may mix case itself (0x20), if the client gets its own back.
    if came.labels == came.canonicalize().labels:
        return changed(through, [f"{mixed} comes to the upstream as {came}"])
    if not back or back[0].name.labels != mixed.labels:
        return changed(through, [f"the question {mixed} comes back as {back[0].name if back else 'none'}"])
    return passed(f"{mixed} comes to the upstream as {came} and back as it was sent.", through.client)


def _mixed(label: bytes) -> list[int]:
    """Set every other letter in upper case."""
    return [octet - 32 if at % 2 and 97 <= octet <= 122 else octet for at, octet in enumerate(label)]

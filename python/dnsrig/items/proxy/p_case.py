"""P-case: case."""

import dns.message
import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import ask_whole, changed, lost
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import spelling
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

COMMON = b"dnsrig"
"""What the first labels of fresh names begin with."""
ITEM = Item(
    id="P-case",
    role="proxy",
    group="Records",
    requirement="The case of names passes the proxy, in questions and in responses.",
    references=("RFC 5625 section 3", "RFC 4343 section 4.1", "draft-vixie-dnsext-dns0x20-00"),
    severity=Severity.WARNING,
    consequence="Clients that mix case against forged responses (0x20) reject what comes back.",
    procedure=(
        "A name in mixed case is asked for; the upstream gets it as it was sent, and the client in the question and as "
        "owner name. Where the upstream gets another spelling, a second name is asked for: a proxy that mixes case "
        "itself does so each time otherwise."
    ),
    dig=("dig @{server} -p {port} X.cAsE.Rig.exAmple A",),
    needs=("upstream",),
    faults=(
        "lower-cases",
        "proxy-lower-cases-queries",
        "proxy-other-question",
        "proxy-upper-cases-queries",
        "proxy-lower-cases-first-labels",
        "proxy-lower-cases-owners",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare; twice where the upstream gets another spelling."""
    spellings: list[list[bool]] = []
    for _ in range(2):
        fresh = names.fresh(names.PLAIN)
        mixed = dns.name.Name([bytes(_mixed(label)) for label in fresh.labels])
        through = ask_whole(subject, Query(name=mixed, rtype=RdataType.A, rd=True, payload=None))
        wrong = lost(subject, through)
        if wrong is not None or through.client.message is None or through.upstream is None:
            return wrong or subject.unanswered(through)
        came = through.upstream.asked.question[0].name
        said = _changed_on_the_way_back(mixed, came, through.client.message, through.upstream.answer)
        if said:
            return changed(through, [said])
        if came.labels == mixed.labels:
            break
        spellings.append(_upper_case(came))
    # A proxy may mix case itself (0x20), by chance, if the client gets its own back.
    if len(spellings) > 1 and spellings[0] == spellings[1]:
        return changed(through, [f"{mixed} comes to the upstream as {came}, and another name in the same case"])
    return passed(f"{mixed} comes to the upstream as {came} and back as it was sent.", through.client)


def _changed_on_the_way_back(
    mixed: dns.name.Name, came: dns.name.Name, message: dns.message.Message, sent: dns.message.Message
) -> str:
    """Say, as a clause, what of a response is spelt as neither the client nor the upstream did; "" if nothing is."""
    back = message.question
    if not back or back[0].name.labels != mixed.labels:
        return f"the question {mixed} comes back as {back[0].name if back else 'none'}"
    # An owner name that is written as a pointer to the question has the question's spelling.
    right = spelling([mixed, came, *(rrset.name for rrset in sent.answer)])
    wrong = next((rrset.name for rrset in message.answer if rrset.name.labels not in right), None)
    return "" if wrong is None else f"the owner name {sent.answer[0].name} comes back as {wrong}"


def _upper_case(name: dns.name.Name) -> list[bool]:
    """Say which letters are in upper case, of those that all names have that are asked for."""
    common = name.labels[0][: len(COMMON)], *name.labels[1:]
    return [bytes([octet]).isupper() for label in common for octet in label]


def _mixed(label: bytes) -> list[int]:
    """Set every other letter in upper case."""
    return [octet - 32 if at % 2 and 97 <= octet <= 122 else octet for at, octet in enumerate(label)]

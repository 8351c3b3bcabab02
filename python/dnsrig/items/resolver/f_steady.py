"""F-steady: the same question, the same answer."""

import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.resolver._probes import rcode_text
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.known_names import UNSIGNED, Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

TIMES, DECIDING = 24, 2
ITEM = Item(
    id="F-steady",
    role="resolver",
    group="Messages",
    requirement="What is in the cache is answered each time that it is asked for.",
    references=("RFC 1034 section 5.3.3", "RFC 2308 section 7.1"),
    severity=Severity.ERROR,
    consequence=(
        "Behind the address are resolvers of which one is broken: names resolve now and then only, and it depends on "
        "the client's port which ones."
    ),
    procedure=(
        f"An SOA record, in a tree of yours that of the trust anchor's zone, is asked for {TIMES} times without EDNS, "
        "each time from another port; two responses without the record fail. Lost and truncated responses do not count."
    ),
    dig=("for i in $(seq 24); do dig @{server} -p {port} control.unsigned. SOA +noedns +short; done",),
    needs=("names",),
    faults=("servfail-now-and-then",),
    runs_alone=True,
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask many times."""
    name = subject.names.zone if subject.tree is None else UNSIGNED.parent()
    query = Question(name, RdataType.SOA).plain
    exchanges = [subject.asker.udp(query) for _ in range(TIMES)]
    counted = [one for one in exchanges if one.message is not None and not one.is_truncated]
    good = [one for one in counted if one.rcode == dns.rcode.NOERROR and one.message is not None and one.message.answer]
    wrong = [one for one in counted if one not in good]
    if not good:
        return inconclusive(f"{query.name} {query.rtype.name} is not answered with the record at all.", *exchanges[:1])
    if len(wrong) >= DECIDING:
        said = f"Of {len(counted)} responses for a record in the cache, {len(wrong)} are without it"
        return failed(f"{said}, such as one with {rcode_text(wrong[0])}.", *wrong[:DECIDING], good[0])
    if wrong:
        return inconclusive(f"Of {len(counted)} responses one is with {rcode_text(wrong[0])}.", *wrong)
    return passed(f"{len(good)} responses have the record.", good[0])

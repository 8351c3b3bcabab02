"""A-ttl-steady: TTLs of the zone's own data do not count down."""

from itertools import pairwise

from dns.rdatatype import RdataType

from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

TYPES = (RdataType.SOA, RdataType.NS)
TIMES, GAP_S = 3, 1.1
LONGEST_STEP_S = 6
ITEM = Item(
    id="A-ttl-steady",
    role="authoritative",
    group="Answers",
    requirement="The TTLs of the zone's SOA and NS records are the same each time: they do not count down.",
    references=("RFC 1035 section 3.2.1", "RFC 1034 section 4.2.1", "RFC 2181 section 5.4.1"),
    severity=Severity.ERROR,
    consequence=(
        "A cache answers in the server's place: resolvers get old data with little time left, ask again all the time, "
        "and see changes late."
    ),
    procedure=(
        f"The SOA and NS records are asked for {TIMES} times, {GAP_S} s apart; a TTL that goes down each time by about "
        "as much fails. One that is lower once may have been changed."
    ),
    dig=("dig @{server} -p {port} {zone} NS +norec +noedns   # twice, some seconds apart",),
    needs=("zone",),
    faults=("ttls-count-down",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask again after a while, and compare."""
    asked: dict[RdataType, list[Exchange]] = {rtype: [] for rtype in TYPES}
    for time in range(TIMES):
        if time:
            pause(GAP_S)
        for rtype in TYPES:
            asked[rtype].append(subject.asker.ask(Query(name=subject.origin, rtype=rtype, payload=None)))
    compared = []
    for rtype, exchanges in asked.items():
        ttls_s = [rrset.ttl for one in exchanges if (rrset := rrset_of(one, "answer", subject.origin, rtype))]
        if len(ttls_s) < TIMES:
            continue
        steps_s = [earlier - later for earlier, later in pairwise(ttls_s)]
        # Where TTLs are drawn anew each time, they may fall by chance, but not by the time that has passed.
        if all(0 < step_s <= LONGEST_STEP_S for step_s in steps_s) and max(steps_s) - min(steps_s) <= 1:
            given = ", ".join(map(str, ttls_s))
            return failed(f"The TTL of {subject.origin} {rtype.name} goes down: {given} s.", *exchanges)
        compared.append(exchanges[0])
    if not compared:
        return inconclusive("The SOA and NS records did not come each time.")
    return passed("The TTLs do not go down.", *compared)

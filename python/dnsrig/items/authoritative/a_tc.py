"""A-tc: TC without need."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import sample
from dnsrig.items.authoritative._sizes import limits_rate
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.stopping import pause
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

SMALLEST_LIMIT = 512
"""Octets that any client takes by UDP."""
PAUSES_S = (0.0, 1.0, 1.0)
"""Waits before each try: limits are so many responses a second."""
ITEM = Item(
    id="A-tc",
    role="authoritative",
    group="EDNS and size",
    requirement="A response that fits has no TC.",
    references=("RFC 2181 section 9", "RFC 1035 section 4.1.1"),
    severity=Severity.WARNING,
    consequence=(
        "Every client asks again by TCP: answers come late, and the server bears connections instead of datagrams."
    ),
    procedure=(
        "The SOA and NS records and a host's address are asked for by UDP without EDNS; a response has no TC. Servers "
        "that limit their rate of responses (RRL) set TC when asked for one thing too often, so they are asked "
        "three times. Responses to all that is known, with DO, that come by TCP, and have no more octets than others "
        "by UDP, are asked for by UDP again, too."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns +ignore",),
    needs=("zone",),
    faults=("sets-tc", "sets-tc-in-referrals", "sets-tc-in-denials-with-do"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask until one response is whole, for different things, as limits are for each response."""
    questions = [(subject.origin, RdataType.SOA), (subject.origin, RdataType.NS)]
    if subject.landmarks.host is not None:
        questions.append((subject.landmarks.host.name, RdataType.A))
    exchanges = []
    for pause_s in PAUSES_S:
        pause(pause_s)
        for name, rtype in questions:
            exchange = subject.asker.udp(Query(name=name, rtype=rtype, payload=None))
            if exchange.response is None:
                return subject.unanswered(exchange)
            if not exchange.is_truncated:
                return _of_sample(subject) or passed("The response has no TC.", exchange)
            exchanges.append(exchange)
    return failed(
        f"All {len(exchanges)} responses have TC, with {exchanges[0].octets} octets and so on.", *exchanges[:3]
    )


def _of_sample(subject: AuthoritativeSubject) -> Outcome | None:
    """Look for what came by TCP alone though it is small; None where there is nothing of the kind."""
    seen = sample(subject)
    # A limit of the server's own lets nothing larger through.
    limit = max((one.octets for one in seen if one.transport == "udp"), default=0)
    large = {(place.name, place.rtype): place.octets for place in subject.landmarks.large}
    for whole in seen:
        if whole.transport == "udp" or whole.octets > max(limit, SMALLEST_LIMIT):
            continue
        # What comes by TCP in part is the matter of A-truncated.
        message, question = whole.message, (whole.query.name, whole.query.rtype)
        if message is None or not (message.answer or message.authority) or large.get(question, 0) > whole.octets:
            continue
        by_udp = subject.asker.udp(whole.query)
        if not by_udp.is_truncated:
            continue
        limited = limits_rate(subject, by_udp)
        if limited is not None:
            return limited
        return failed(f"The response to {by_udp.title} has TC, and {whole.octets} octets by TCP.", by_udp, whole)
    return None

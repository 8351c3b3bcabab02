"""A-tcp-same: the same by TCP as by UDP, with DO."""

from collections import Counter

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import denied_name, zone_keys
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.signatures import signature_trouble, signed_rrsets
from dnsrig.verification.subjects.authoritative import LARGE_PAYLOAD, AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-tcp-same",
    role="authoritative",
    group="Transport",
    requirement="A query with DO gets by TCP the records that it gets by UDP, with signatures that are as valid.",
    references=("RFC 7766 section 5", "RFC 4035 section 3.1"),
    severity=Severity.ERROR,
    consequence="Validators that go on by TCP after a truncated response lack signatures or proofs: names are bogus.",
    procedure=(
        "The SOA record, the keys and a name that does not exist are asked for with DO by UDP, then by TCP. The "
        "response by TCP has as many records of each type in answer and authority section, NS left out; its signatures "
        "are valid where those by UDP are."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec", "dig @{server} -p {port} {zone} SOA +norec +dnssec +tcp"),
    needs=("zone", "edns"),
    faults=(
        "strips-rrsig-of-soa-by-tcp",
        "drops-do-for-soa-by-tcp",
        "drops-do",
        "cuts-tcp",
        "drops-large-by-tcp",
        "spoils-signatures-by-tcp",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask both ways and compare."""
    if subject.asker.tcp(Query(name=subject.origin, rtype=RdataType.SOA, payload=None)).response is None:
        return inconclusive("The server does not answer by TCP at all; A-tcp is about that.")
    compared = []
    for name, rtype in (
        (subject.origin, RdataType.SOA),
        (denied_name(subject), RdataType.A),
        (subject.origin, RdataType.DNSKEY),
    ):
        query = Query(name=name, rtype=rtype, do=True, payload=LARGE_PAYLOAD)
        by_tcp = subject.asker.tcp(query)
        if by_tcp.message is None:
            return subject.unanswered(by_tcp)
        by_udp = subject.asker.udp(query)
        if by_udp.message is None or by_udp.is_truncated:
            continue
        lacking = _records(by_udp) - _records(by_tcp)
        if lacking:
            kind = next(iter(lacking)).name
            return failed(f"The response by TCP to {by_tcp.title} lacks {kind} records.", by_udp, by_tcp)
        spoiled = _spoiled(subject, by_tcp)
        if spoiled and not _spoiled(subject, by_udp):
            return failed(f"By TCP the signature of {spoiled} is not valid, by UDP it is.", by_udp, by_tcp)
        compared.append(by_tcp)
    if not compared:
        return inconclusive("No response by UDP is whole.")
    return passed(f"{len(compared)} responses by TCP have all that those by UDP have.", *compared[:1])


def _spoiled(subject: AuthoritativeSubject, exchange: Exchange) -> str:
    """Name an RRset whose signature by a key of the zone is not valid; "" if there is none."""
    keys = zone_keys(subject)
    found = [] if exchange.message is None else signed_rrsets(exchange.message, ("answer", "authority"))
    for one in found:
        for signature in one.signatures:
            if signature.signer == subject.origin and signature_trouble(one.rrset, signature, keys):
                return one.title
    return ""


def _records(exchange: Exchange) -> Counter[RdataType]:
    """Count the records by type; NS records need not come with an answer."""
    found: Counter[RdataType] = Counter()
    for rrset in () if exchange.message is None else (*exchange.message.answer, *exchange.message.authority):
        if RdataType.NS not in {rrset.rdtype, rrset.covers}:
            found[RdataType.make(rrset.rdtype)] += len(rrset)
    return found

"""A-ad-asked: the AD flag in responses to those who ask for it."""

import dns.flags
from dns.rdatatype import RdataType

from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-ad-asked",
    role="authoritative",
    group="Header",
    requirement="A response has AD=0 where AD or DO asks for it, too, as the server validates nothing.",
    references=("RFC 4035 section 3.1.6", "RFC 6840 section 5.7", "RFC 6840 section 5.8"),
    severity=Severity.NOTICE,
    consequence=(
        "Clients that trust AD take data for validated that nobody validated. A server whose operator has it vouch for "
        "its own zones may do so: then this is no harm."
    ),
    procedure=(
        "The SOA record and a name that does not exist are asked for with AD=1, and with DO; the responses have AD=0. "
        "A-flags is about AD that nobody asked for."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +ad +noedns", "dig @{server} -p {port} {zone} SOA +norec +dnssec"),
    needs=("zone",),
    faults=("sets-ad", "sets-ad-with-do", "copies-ad"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with AD and with DO."""
    exchanges = []
    for name, rtype in ((subject.origin, RdataType.SOA), (subject.absent_name(), RdataType.A)):
        with_ad = subject.asker.udp(Query(name=name, rtype=rtype, ad=True, payload=None))
        with_do = subject.asker.udp(Query(name=name, rtype=rtype, do=True))
        for exchange, flag in ((with_ad, "AD"), (with_do, "DO")):
            if exchange.has_flag(dns.flags.AD):
                return failed(f"The response to {exchange.title} with {flag} has AD.", exchange)
        exchanges += [with_ad, with_do]
    if all(exchange.message is None for exchange in exchanges):
        return subject.unanswered(exchanges[0])
    return passed("The responses have AD=0.", *exchanges[:2])

"""A-no-rrsig: no DNSSEC records for those who do not ask for them."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import denied_name
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

UNASKED = (RdataType.RRSIG, RdataType.NSEC, RdataType.NSEC3)
ITEM = Item(
    id="A-no-rrsig",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Without DO responses have no RRSIG, NSEC and NSEC3 records, unless these are asked for.",
    references=("RFC 4035 section 3.1", "RFC 3225 section 3"),
    severity=Severity.WARNING,
    consequence="Clients that cannot use them get larger responses, some of them more than they take.",
    procedure=(
        "The SOA record, a name that does not exist, and a host are asked for without EDNS, then with EDNS and DO=0."
    ),
    dig=(
        "dig @{server} -p {port} {zone} SOA +norec +noedns",
        "dig @{server} -p {port} absent.{zone} A +norec +nodnssec",
    ),
    needs=("signed",),
    faults=("rrsig-without-do", "rrsig-with-edns"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask without EDNS, and with EDNS but no DO, and look for such records."""
    asked = [(subject.origin, RdataType.SOA), (denied_name(subject), RdataType.A)]
    host = subject.landmarks.host
    if host is not None:
        asked.append((host.name, host.rtype))
    exchanges = [subject.answers.get(name, rtype, do=False) for name, rtype in asked]
    if subject.lacks("edns") is None:
        exchanges += [subject.asker.ask(Query(name=name, rtype=rtype)) for name, rtype in asked]
    usable = [exchange for exchange in exchanges if exchange.message is not None]
    for exchange in usable:
        sections = [] if exchange.message is None else [exchange.message.answer, exchange.message.authority]
        found = [rrset for section in sections for rrset in section if rrset.rdtype in UNASKED]
        if found:
            kinds = " and ".join(sorted({RdataType.make(rrset.rdtype).name for rrset in found}))
            return failed(f"The response to {exchange.title} has {kinds} records, though DO was not set.", exchange)
    if not usable:
        return inconclusive("There is no response to queries without DO.", *exchanges)
    return passed(f"{len(usable)} responses have none.", usable[0])

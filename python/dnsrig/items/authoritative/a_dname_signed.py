"""A-dname-signed: signed DNAME records and the CNAME records made from them."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._denials import unusable
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

ITEM = Item(
    id="A-dname-signed",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Below a DNAME record the answer has that record with its signatures, and an unsigned CNAME record.",
    references=("RFC 6672 section 5.3.1", "RFC 6672 section 3.1", "RFC 6672 section 2.2"),
    severity=Severity.ERROR,
    consequence="Validators cannot check where the name leads, and reject the answer.",
    procedure="A name below a DNAME record is asked for with DO.",
    dig=("dig @{server} -p {port} absent.{dname} A +norec +dnssec",),
    needs=("signatures", "dname"),
    faults=(
        "strips-rrsig-of-dname",
        "signs-synthesised-cname",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a name below."""
    owner = subject.name("dname")
    name = child_of(owner, subject.denied_label)
    exchange = subject.answers.get(name, RdataType.A)
    outcome = unusable(subject, exchange)
    if outcome is not None or exchange.message is None:
        return outcome or inconclusive("There is no response.", exchange)
    if rrset_of(exchange, "answer", owner, RdataType.DNAME) is None:
        return not_applicable(f"The answer for {name} is without the DNAME record; A-dname is about that.", exchange)
    if rrset_of(exchange, "answer", owner, RdataType.RRSIG, RdataType.DNAME) is None:
        return failed(f"The DNAME record of {owner} is without signatures.", exchange)
    if rrset_of(exchange, "answer", name, RdataType.RRSIG, RdataType.CNAME) is not None:
        return failed(f"The CNAME record of {name}, which follows from the DNAME record, is signed.", exchange)
    return passed("The DNAME record is signed, what follows from it is not.", exchange)

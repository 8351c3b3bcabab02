"""A-dname: signed DNAME records and the CNAME records made from them."""

from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CNAME import CNAME
from dns.rdtypes.ANY.DNAME import DNAME

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._denials import unusable
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-dname",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="Below a DNAME record the answer has that record, and an unsigned CNAME record that follows from it.",
    references=("RFC 6672 section 5.3.1", "RFC 6672 section 3.1", "RFC 6672 section 2.2"),
    severity=Severity.ERROR,
    consequence="Validators cannot check where the name leads, and reject the answer.",
    procedure="A name below a DNAME record is asked for with DO.",
    dig=("dig @{server} -p {port} absent.{dname} A +norec +dnssec",),
    needs=("signatures", "dname"),
    faults=("dname-left-out", "wrong-cname-from-dname", "signs-synthesised-cname"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a name below."""
    owner = subject.name("dname")
    name = child_of(owner, subject.denied_label)
    exchange = subject.answers.get(name, RdataType.A)
    outcome = unusable(subject, exchange)
    if outcome is not None or exchange.message is None:
        return outcome or inconclusive("There is no response.", exchange)
    redirection = rrset_of(exchange, "answer", owner, RdataType.DNAME)
    if redirection is None:
        return failed(f"The answer for {name} is without the DNAME record of {owner}.", exchange)
    alias = rrset_of(exchange, "answer", name, RdataType.CNAME)
    if alias is None:
        return failed(
            f"The answer for {name} is without the CNAME record that follows from the DNAME record.", exchange
        )
    (target,) = (record.target for record in redirection if isinstance(record, DNAME))
    expected = child_of(target, subject.denied_label)
    if [record.target for record in alias if isinstance(record, CNAME)] != [expected]:
        return failed(f"The CNAME record of {name} does not lead to {expected}.", exchange)
    if rrset_of(exchange, "answer", name, RdataType.RRSIG, RdataType.CNAME) is not None:
        return failed("The CNAME record that follows from the DNAME record is signed.", exchange)
    return passed(f"{name} leads to {expected}.", exchange)

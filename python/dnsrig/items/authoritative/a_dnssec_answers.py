"""A-dnssec-answers: queries with DO are answered like others."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import absent_type, child_of, denied_name, expanded_name
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-dnssec-answers",
    role="authoritative",
    group="DNSSEC: signatures",
    requirement="A query with DO gets the response code and the data that the same query without EDNS gets.",
    references=("RFC 3225 section 3", "RFC 4035 section 3.1"),
    severity=Severity.CRITICAL,
    consequence="Resolvers ask with DO: they get no answer, or must find out to ask again without.",
    procedure=(
        "The SOA record, a host, an alias, names that a wildcard and a DNAME record stand for, a name and a type that "
        "are not there are asked for with DO and without EDNS, by UDP or TCP; response codes are the same, and there "
        "is an answer to both or to none. NOERROR instead of NXDOMAIN is compact denial's (RFC 9824)."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec", "dig @{server} -p {port} {zone} SOA +norec +noedns"),
    faults=(
        "drops-do",
        "drops-edns",
        "formerr-to-edns",
        "servfail-to-denials",
        "servfail-to-wildcards",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask with and without DO."""
    asked = _questions(subject)
    compared = 0
    for name, rtype in asked:
        without = subject.answers.get(name, rtype, do=False)
        if without.message is None:
            break
        with_do = subject.answers.get(name, rtype)
        if with_do.message is None:
            return failed(f"With DO there is {with_do.trouble}; without EDNS there is a response.", with_do, without)
        codes = with_do.rcode, without.rcode
        if codes[0] != codes[1] and codes != (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
            texts = [dns.rcode.to_text(exchange.message.rcode()) for exchange in (with_do, without) if exchange.message]
            return failed(f"With DO the response code is {texts[0]}, without EDNS it is {texts[1]}.", with_do, without)
        if bool(with_do.message.answer) != bool(without.message.answer):
            which = "without EDNS" if without.message.answer else "with DO"
            return failed(f"Only {which} the query for {name} {rtype.name} is answered.", with_do, without)
        compared += 1
    if not compared:
        return inconclusive("There is no response without EDNS either.")
    if subject.is_signed:
        rtype, nodata = absent_type(subject, subject.origin)
        if nodata.message is None or nodata.rcode != dns.rcode.NOERROR:
            without = subject.answers.get(subject.origin, rtype, do=False)
            if without.rcode == dns.rcode.NOERROR:
                return failed(
                    f"Only without EDNS the query for {rtype.name} at the apex gets NOERROR.", nodata, without
                )
    return passed(f"{compared} pairs of responses say the same.", subject.answers.get(*asked[0]))


def _questions(subject: AuthoritativeSubject) -> list[tuple[dns.name.Name, RdataType]]:
    marks, expanded = subject.landmarks, expanded_name(subject)
    asked = [(subject.origin, RdataType.SOA), (denied_name(subject), RdataType.A)]
    if marks.host is not None:
        asked.append((marks.host.name, marks.host.rtype))
    if marks.alias is not None:
        asked.append((marks.alias, RdataType.A))
    if expanded is not None and marks.wildcard is not None:
        asked.append((expanded, marks.wildcard.rtype))
    if marks.dname is not None:
        asked.append((child_of(marks.dname, subject.denied_label), RdataType.A))
    return asked

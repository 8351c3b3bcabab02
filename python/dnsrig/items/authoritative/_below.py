"""What A-nxdomain and A-nodata look at besides the apex and a host: names below others, and those of a wildcard."""

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._places import wildcard_signs, wrong_denial
from dnsrig.items.authoritative._whole import wrong_expansion
from dnsrig.verification.asker import random_label
from dnsrig.verification.denial import wildcard_of
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome


def wrong_below(subject: AuthoritativeSubject) -> Outcome | None:
    """Judge the denial of names below a host, an alias and an empty non-terminal; None if they are right."""
    marks = subject.landmarks
    above = [*([] if marks.host is None else [marks.host.name]), *(name for name in (marks.alias, marks.empty) if name)]
    for encloser in above:
        name = child_of(encloser, random_label().encode())
        exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, payload=None))
        if exchange.message is not None and exchange.message.answer:
            # It is made from a wildcard or a DNAME record, as far as is known.
            wrong = wrong_expansion(subject, exchange)
            if wrong is not None:
                return wrong
            continue
        if exchange.rcode == dns.rcode.NOERROR and _has_wildcard(subject, name, encloser):
            continue
        wrong = wrong_denial(subject, exchange, dns.rcode.NXDOMAIN)
        if wrong is not None:
            return wrong
    return None


def _has_wildcard(subject: AuthoritativeSubject, name: dns.name.Name, encloser: dns.name.Name) -> bool:
    """Whether a wildcard gives a name existence: one that is known, or one that has another type than A."""
    known = subject.known_data
    names = {place.name for place in known.places} | ({known.wildcard.name} if known.wildcard else set())
    if wildcard_of(encloser) in names:
        return True
    return wildcard_signs(subject, name) is not None


def wrong_wildcard_nodata(subject: AuthoritativeSubject) -> Outcome | None:
    """Judge the denial of a type at a name that a wildcard covers; None if it is right, or there is no wildcard."""
    wildcard = subject.landmarks.wildcard
    if wildcard is None:
        return None
    name = child_of(wildcard.name.parent(), random_label().encode())
    exchange = subject.asker.ask(Query(name=name, rtype=RdataType.MINFO, payload=None))
    return wrong_denial(subject, exchange, dns.rcode.NOERROR)

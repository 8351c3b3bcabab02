"""A-nxdomain: names that do not exist."""

import dataclasses

import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._below import wrong_below
from dnsrig.items.authoritative._places import wildcard_signs, wrong_denial
from dnsrig.items.authoritative._probes import is_limited, type_text, wrong_rcode
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.items.authoritative._whole import wrong_expansion
from dnsrig.items.authoritative._with_do import takes_do
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

OTHER_TYPES = (RdataType.AAAA, RdataType.MX, RdataType.TXT)
ITEM = Item(
    id="A-nxdomain",
    role="authoritative",
    group="Denial",
    requirement=(
        "A query for a name that does not exist gets NXDOMAIN and the zone's SOA record in the authority section."
    ),
    references=("RFC 2308 section 2.1", "RFC 2308 section 3", "RFC 4592 section 3.3.1"),
    severity=Severity.ERROR,
    consequence=(
        "Resolvers cannot cache the denial, and ask again for each query: the server bears the load of every "
        "random name."
    ),
    procedure=(
        "A name directly below the apex that does not exist is asked for, by A and then AAAA, MX and TXT, and by these "
        "three with DO where A is denied so; then NOERROR, as compact denials have, is right too. Where the first "
        "response is NOERROR, the zone may have a wildcard without address: other types are asked for, and a proof of "
        "the wildcard. Then names below a host, an alias and an empty non-terminal are asked for. An answer is right "
        "by a wildcard directly below the closest name that exists, and a failure where the zone's data, known as a "
        "whole, have none."
    ),
    dig=(
        "dig @{server} -p {port} absent.{zone} A +norec +noedns",
        "dig @{server} -p {port} absent.{zone} AAAA +norec +dnssec",
    ),
    needs=("zone",),
    faults=(
        "no-soa-in-denial",
        "other-soa-in-denial",
        "noerror-for-nxdomain",
        "noerror-below-names",
        "noerror-for-mx",
        "wildcard-below-names",
        "servfail-to-other-types-of-absent-names",
        "servfail-to-other-types-of-absent-names-with-do",
        "drops-other-types-of-absent-names",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for a random name, unless a wildcard gives it existence."""
    wildcard = subject.landmarks.wildcard
    if wildcard is not None and wildcard.name.parent() == subject.origin:
        return not_applicable(f"Every name directly below {subject.origin} exists by its wildcard.")
    name = subject.absent_name()
    exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, payload=None))
    if exchange.message is not None and exchange.message.answer and exchange.rcode == dns.rcode.NOERROR:
        wrong = wrong_expansion(subject, exchange)
        if wrong is not None:
            return wrong
        return not_applicable("A random name has an answer, so the zone has a wildcard at its apex.", exchange)
    if exchange.message is not None and exchange.rcode == dns.rcode.NOERROR:
        shown = wildcard_signs(subject, name)
        if shown is not None:
            return not_applicable("A random name has other types, so the zone has a wildcard at its apex.", shown)
    wrong = wrong_denial(subject, exchange, dns.rcode.NXDOMAIN) or wrong_below(subject) or _wrong_types(subject, name)
    return wrong or passed("NXDOMAIN with the SOA record.", exchange)


def _wrong_types(subject: AuthoritativeSubject, name: dns.name.Name) -> Outcome | None:
    """Judge the denials of other types at a name for which A is denied with NXDOMAIN; None if they are right."""
    for rtype in OTHER_TYPES:
        exchange = subject.asker.ask(Query(name=name, rtype=rtype, payload=None))
        if exchange.rcode == dns.rcode.NOERROR and exchange.message is not None and not is_limited(exchange):
            return failed(f"{type_text(rtype)} at the same name gets NOERROR.", exchange)
        wrong = _wrong_here(subject, exchange)
        if wrong is not None:
            return wrong
    for rtype in OTHER_TYPES if takes_do(subject) else ():
        exchange = subject.asker.udp(Query(name=name, rtype=rtype, do=True))
        # NOERROR may be a compact denial (RFC 9824); what it proves is the matter of items about DNSSEC.
        if exchange.is_truncated or exchange.rcode == dns.rcode.NOERROR:
            continue
        wrong = _wrong_here(subject, exchange)
        if wrong is not None:
            return dataclasses.replace(wrong, reason=f"With DO: {wrong.reason}")
    return None


def _wrong_here(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    """Judge a denial by its code; None where it is right, or the type fails at the apex too, as A-types says."""
    if exchange.rcode == dns.rcode.NXDOMAIN:
        return None
    at_apex = subject.asker.udp(dataclasses.replace(exchange.query, name=subject.origin))
    fails_too = at_apex.message is None or at_apex.rcode != dns.rcode.NOERROR
    return None if fails_too else wrong_rcode(subject, exchange, dns.rcode.NXDOMAIN)

"""P-types: record types."""

import itertools
from dataclasses import replace

import dns.message
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare, no_difference
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import edns_differences, section_differences
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, passed

TYPES = (
    RdataType.AAAA,
    RdataType.TXT,
    RdataType.MX,
    RdataType.SRV,
    RdataType.CAA,
    RdataType.TLSA,
    RdataType.SVCB,
    RdataType.HTTPS,
    RdataType.DS,
    RdataType.DNSKEY,
    RdataType.CDS,
    RdataType.CDNSKEY,
    RdataType.SOA,
    RdataType.NS,
    RdataType.NSEC3PARAM,
    RdataType.PTR,
    RdataType.NAPTR,
    RdataType.SSHFP,
    RdataType.OPENPGPKEY,
    RdataType.URI,
)

ITEM = Item(
    id="P-types",
    role="proxy",
    group="Records",
    requirement=(
        "Records of types in use pass the proxy unchanged, signatures included, and so does DO of queries for them."
    ),
    references=("RFC 5625 section 4.3", "RFC 4035 section 3", "RFC 9460 section 2"),
    severity=Severity.ERROR,
    consequence=(
        "Services that need such records, DNSSEC, DANE, encrypted DNS and HTTP/3 among them, do not work "
        "behind the proxy."
    ),
    procedure=(
        "Each type is asked for without EDNS, and with DO where signatures come to the client for addresses (see P-1); "
        "the answer section is compared with what the upstream sent, and with DO the query's OPT with what came there."
    ),
    dig=(
        "dig @{server} -p {port} x.plain.rig.example HTTPS +noedns",
        "dig @{server} -p {port} x.plain.rig.example HTTPS +dnssec",
        "dig @{server} -p {port} x.plain.rig.example DS +dnssec",
    ),
    needs=("upstream",),
    faults=(
        "proxy-drops-svcb",
        "proxy-drops-rare-types",
        "proxy-strips-svcb-parameters",
        "proxy-keeps-first-strings",
        "proxy-strips-rrsig-of-types",
        "proxy-clears-do-of-types",
        "proxy-strips-rrsig-of-ds",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    ways: list[tuple[int | None, bool]] = [(None, False)]
    if subject.lacks("dnssec") is None:
        ways.append((1232, True))
    for rtype, (payload, do) in itertools.product(TYPES, ways):
        query = Query(name=names.fresh(names.PLAIN), rtype=rtype, rd=True, payload=payload, do=do)
        # A proxy that asks with EDNS for clients without does no harm.
        of_query = edns_differences if do else no_difference
        through = compare(subject, query, of_query=of_query, of_response=_answer_differences)
        if isinstance(through, Outcome):
            return replace(through, reason=f"{rtype.name}{' with DO' if do else ''}: {through.reason}")
    said = "without EDNS and with DO" if len(ways) > 1 else "without EDNS"
    return passed(f"{', '.join(rtype.name for rtype in TYPES)} pass {said}.")


def _answer_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    return section_differences(went_in, came_out, "answer")

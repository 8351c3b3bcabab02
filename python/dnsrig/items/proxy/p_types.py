"""P-types: record types."""

from dataclasses import replace

from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import compare
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import section_differences
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
    requirement="Records of types in use pass the proxy unchanged.",
    references=("RFC 5625 section 4.3", "RFC 4035 section 3", "RFC 9460 section 2"),
    severity=Severity.ERROR,
    consequence=(
        "Services that need such records, DNSSEC, DANE, encrypted DNS and HTTP/3 among them, do not work "
        "behind the proxy."
    ),
    procedure="Each type is asked for with DO, and the answer section is compared with what the upstream sent.",
    dig=("dig @{server} -p {port} x.plain.rig.example HTTPS", "dig @{server} -p {port} x.plain.rig.example DS"),
    needs=("upstream",),
    faults=("proxy-drops-svcb", "proxy-drops-rare-types", "proxy-strips-svcb-parameters", "proxy-keeps-first-strings"),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask, and compare."""
    for rtype in TYPES:
        query = Query(name=names.fresh(names.PLAIN), rtype=rtype, rd=True, payload=None)
        through = compare(subject, query, of_response=lambda sent, came: section_differences(sent, came, "answer"))
        if isinstance(through, Outcome):
            return replace(through, reason=f"{rtype.name}: {through.reason}")
    return passed(f"{', '.join(rtype.name for rtype in TYPES)} pass.")

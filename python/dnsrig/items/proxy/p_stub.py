"""P-stub: a validating stub."""

import dns.dnssec
import dns.exception
import dns.name
import dns.node
import dns.rdataset
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import ask_whole
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="P-stub",
    role="proxy",
    group="Integrity",
    requirement="A stub that validates succeeds behind the proxy.",
    references=("RFC 5625 section 3", "RFC 4035 section 4.9", "RFC 4033 section 7"),
    severity=Severity.ERROR,
    consequence="Clients that validate themselves resolve nothing that is signed, or turn validation off.",
    procedure=(
        "The DNSKEY RRset, an address and a denial are asked for with DO and CD, and validated from the zone's key."
    ),
    dig=(
        "dig @{server} -p {port} rig.example DNSKEY +dnssec +cdflag",
        "dig @{server} -p {port} x.plain.rig.example A +dnssec +cdflag",
        "dig @{server} -p {port} x.absent.rig.example A +dnssec +cdflag",
    ),
    needs=("upstream",),
    faults=(
        "ignores-edns",
        "clears-do",
        "drops-edns",
        "formerr-to-edns",
        "proxy-drops-authority",
        "proxy-rewrites-addresses",
        "proxy-rewrites-nxdomain",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask and validate as a stub does."""
    if subject.upstream is None:
        return inconclusive("The trust anchor is not known.")
    anchors: dict[dns.name.Name, dns.node.Node | dns.rdataset.Rdataset] = {names.ORIGIN: subject.upstream.signer.keys}
    questions = (
        (names.ORIGIN, RdataType.DNSKEY),
        (names.fresh(names.PLAIN), RdataType.A),
        (names.fresh(names.ABSENT), RdataType.A),
    )
    for name, rtype in questions:
        through = ask_whole(subject, Query(name=name, rtype=rtype, rd=True, do=True, cd=True))
        message = through.client.message
        if message is None:
            return subject.unanswered(through)
        rrsets = [rrset for rrset in (*message.answer, *message.authority) if rrset.rdtype != RdataType.RRSIG]
        if not rrsets:
            return failed(f"There is nothing to validate in the response for {name} {rtype.name}.", through.client)
        for rrset in rrsets:
            found = [
                one
                for one in (*message.answer, *message.authority)
                if one.covers == rrset.rdtype and one.name == rrset.name
            ]
            if not found:
                return failed(f"{rrset.name} {rrset.rdtype.name} has no signature.", through.client)
            try:
                dns.dnssec.validate(rrset, found[0], anchors)
            except dns.exception.ValidationFailure as error:
                return failed(f"{rrset.name} {rrset.rdtype.name} does not validate: {error}.", through.client)
    return passed("Keys, an address and a denial validate.")

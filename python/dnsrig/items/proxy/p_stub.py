"""P-stub: a validating stub."""

import dns.dnssec
import dns.exception
import dns.message
import dns.name
import dns.node
import dns.rcode
import dns.rdataset
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import ask_whole
from dnsrig.verification.denial import denial_records
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.upstream import names
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="P-stub",
    role="proxy",
    group="Integrity",
    requirement="A stub that validates succeeds behind the proxy.",
    references=("RFC 5625 section 3", "RFC 4035 section 4.9", "RFC 4035 section 5.4", "RFC 4033 section 7"),
    severity=Severity.ERROR,
    consequence="Clients that validate themselves resolve nothing that is signed, or turn validation off.",
    procedure=(
        "The DNSKEY RRset, an address, a name that does not exist and a type that a name has not are asked for with DO "
        "and CD, by UDP and TCP, and validated from the zone's key: signatures, and for denials the proof and the "
        "response code."
    ),
    dig=(
        "dig @{server} -p {port} rig.example DNSKEY +dnssec +cdflag",
        "dig @{server} -p {port} x.plain.rig.example A +dnssec +cdflag",
        "dig @{server} -p {port} x.absent.rig.example A +dnssec +cdflag",
        "dig @{server} -p {port} x.empty.rig.example A +dnssec +cdflag",
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
        "proxy-strips-rrsig-by-tcp",
        "proxy-caches-without-rrsig",
        "proxy-caches-some-types",
        "proxy-strips-proofs",
        "proxy-clears-do-by-tcp",
        "proxy-strips-nsec",
        "proxy-hides-nxdomain",
    ),
)


def check(subject: ProxySubject) -> Outcome:
    """Ask and validate as a stub does."""
    for transport in subject.transports:
        questions = (
            (names.ORIGIN, RdataType.DNSKEY),
            *((names.fresh(what), RdataType.A) for what in (names.PLAIN, names.ABSENT, names.EMPTY)),
        )
        for name, rtype in questions:
            query = Query(name=name, rtype=rtype, rd=True, do=True, cd=True)
            through = ask_whole(subject, query) if transport == "udp" else subject.ask(query, "tcp")
            wrong = _invalid(subject, through)
            if wrong is not None:
                return wrong
    said = " and ".join(transport.upper() for transport in subject.transports)
    return passed(f"Keys, an address and denials of a name and of a type validate by {said}.")


def _invalid(subject: ProxySubject, through: Through) -> Outcome | None:
    message = through.client.message
    if message is None:
        return subject.unanswered(through)
    if subject.upstream is None:
        return inconclusive("The trust anchor is not known.")
    anchors: dict[dns.name.Name, dns.node.Node | dns.rdataset.Rdataset] = {names.ORIGIN: subject.upstream.signer.keys}
    both = [*message.answer, *message.authority]
    rrsets = [rrset for rrset in both if rrset.rdtype != RdataType.RRSIG]
    if not rrsets:
        return failed(f"There is nothing to validate in the response to {through.client.title}.", through.client)
    for rrset in rrsets:
        found = [one for one in both if one.covers == rrset.rdtype and one.name == rrset.name]
        if not found:
            return failed(f"{rrset.name} {rrset.rdtype.name} has no signature.", through.client)
        try:
            dns.dnssec.validate(rrset, found[0], anchors)
        except dns.exception.ValidationFailure as error:
            return failed(f"{rrset.name} {rrset.rdtype.name} does not validate: {error}.", through.client)
    unproven = _unproven(through.client.query, message)
    if unproven:
        return failed(f"The response to {through.client.title} does not validate: {unproven}.", through.client)
    return None


def _unproven(query: Query, message: dns.message.Message) -> str:
    """Say, as a clause, why signed records do not make a response secure (RFC 4035 section 5.4); "" if they do."""
    rcode = message.rcode()
    is_answered = any(rrset.name == query.name and rrset.rdtype == query.rtype for rrset in message.answer)
    if rcode == dns.rcode.NOERROR and is_answered:
        return ""
    if is_answered or rcode not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        return f"its code is {dns.rcode.to_text(rcode)}"
    denial = denial_records(message.authority, names.ORIGIN)
    if denial is None:
        return "it has no NSEC records, which would prove that there is nothing"
    proof = denial.no_name(query.name) if rcode == dns.rcode.NXDOMAIN else denial.no_data(query.name, query.rtype)
    return f"for {dns.rcode.to_text(rcode)}, {proof.problem}" if proof.problem else ""

"""A-ixfr: queries for incremental zone transfer."""

from collections.abc import Sequence

import dns.exception
import dns.message
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import zone_soa
from dnsrig.items.authoritative._probes import ixfr_query, rcode_text
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.transfer import WRONG, Transfer, transfer
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

REFUSALS = {dns.rcode.REFUSED, dns.rcode.NOTAUTH, dns.rcode.NOTIMP, dns.rcode.FORMERR}
ITEM = Item(
    id="A-ixfr",
    role="authoritative",
    group="Zone transfer",
    requirement=(
        "A query for IXFR is refused, or answered with the zone's SOA record first, and with that alone where the"
        " client has the version already, else with changes of its version or the zone; a signed one gets a signed"
        " answer."
    ),
    references=("RFC 1995 section 2", "RFC 1995 section 4", "RFC 8906 section 2", "RFC 8945 section 5.3.1"),
    severity=Severity.WARNING,
    consequence=(
        "Secondaries wait for the transfer until they give up, and serve an old version; each look for changes costs a "
        "transfer of the whole zone."
    ),
    procedure=(
        "IXFR is asked for by UDP and TCP with the serial that the zone has, and with the one before. An error that "
        "refuses is right; else the answer begins with the SOA record; where changes follow, these begin with the "
        "client's serial. By TCP the connection may be closed instead. With the key of --tsig it is asked for by "
        "TCP signed, too: the first and the last message of the response are signed, and right; where the last does "
        "not come, there is no verdict."
    ),
    dig=("dig @{server} -p {port} {zone} IXFR=1 +norec +noedns", "dig @{server} -p {port} {zone} IXFR=1 +norec +notcp"),
    needs=("zone",),
    faults=("drops-ixfr", "empty-ixfr", "ixfr-of-another-version", "servfail-to-ixfr", "drops-ixfr-by-tcp"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask as a client with this version, and with the one before."""
    soa = zone_soa(subject)
    if soa is None:
        return inconclusive("The zone's serial is not known; A-soa is about the SOA record.", subject.soa)
    serial = soa[0].serial
    exchanges, answered, unended = [], 0, ""
    for known in (serial, (serial - 1) % (1 << 32)):
        query = ixfr_query(subject, known)
        by_udp = subject.asker.udp(query)
        if by_udp.response is None:
            return subject.unanswered(by_udp)
        for exchange in (by_udp, subject.asker.tcp(query)):
            wrong = _wrong(subject, exchange, known)
            if wrong:
                return failed(f"The response to {exchange.title} with serial {known} {wrong}.", exchange)
            exchanges.append(exchange)
        silent = subject.silent_by_tcp(exchanges[-1])
        if silent is not None:
            return silent
        if subject.tsig is not None:
            signed = transfer(subject.asker, subject.origin, subject.tsig, query)
            if signed.trouble.startswith(WRONG):
                return failed(f"In the response to a signed query for IXFR with serial {known} {signed.trouble}.")
            changes = _wrong_changes(signed.rrsets, known)
            if changes:
                return failed(f"The response to a signed query for IXFR with serial {known} {changes}.")
            why = _why_unended(signed)
            answered += not (signed.refusal or why)
            if why and not unended:
                unended = f"The response to a signed query for IXFR with serial {known} {why}."
    if unended:
        return inconclusive(unended, *exchanges[:2])
    codes = ", ".join(dict.fromkeys(rcode_text(exchange) for exchange in exchanges))
    more = f" Of those that are signed by TSIG {answered} are answered, signed too." if subject.tsig else ""
    return passed(f"Queries for IXFR are answered: {codes}.{more}", *exchanges[:2])


def _why_unended(signed: Transfer) -> str:
    """Say why the end of a response, which is to be signed too, was not seen; "" if it was, or there was none."""
    if signed.given_up:
        return f"was given up after {len(signed.rrsets)} records: the zone is too large"
    return f"does not come to its end: {signed.trouble}" if signed.trouble else ""


def _wrong(subject: AuthoritativeSubject, exchange: Exchange, known: int) -> str:
    """Say what is wrong with the first message of a response; "" if nothing is."""
    if exchange.response is None or exchange.is_truncated:
        return ""
    try:
        # Parsed together, the SOA records at the beginning of each part would be one.
        message = dns.message.from_wire(exchange.response, one_rr_per_rrset=True)
    except (dns.exception.DNSException, ValueError) as error:
        return f"cannot be parsed: {error}"
    if message.rcode() in REFUSALS:
        return ""
    if message.rcode() != dns.rcode.NOERROR:
        return f"has the code {rcode_text(exchange)}"
    if not message.answer:
        return "has neither an error nor an answer"
    first = message.answer[0]
    if first.rdtype != RdataType.SOA or first.name != subject.origin:
        return "does not begin with the SOA record"
    # Signatures that nobody asked for are A-no-rrsig's to tell.
    records = [rrset for rrset in message.answer if rrset.rdtype != RdataType.RRSIG]
    if first[0].serial == known and len(records) > 1:
        return f"has {len(records)} records, though nothing has changed"
    return _wrong_changes(records, known)


def _wrong_changes(records: Sequence[dns.rrset.RRset], known: int) -> str:
    """Say what is wrong with the serial that changes begin with, the client's (RFC 1995 section 4)."""
    # The whole zone in place of changes goes on with other records.
    if [one.rdtype for one in records[:2]] != [RdataType.SOA, RdataType.SOA]:
        return ""
    newest, begun = records[0][0].serial, records[1][0].serial
    return "" if begun in {known, newest} else f"has changes from serial {begun} on, which the client has not"

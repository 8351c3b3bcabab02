"""What relays in the way of queries do besides the faults of servers and proxies (`paths.py` names them)."""

import time

import dns.edns
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import (
    Test,
    asking,
    changing,
    changing_by_tcp,
    dropping,
    refusing,
    without_types,
)
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role

PATH: tuple[Role, ...] = ("path",)
OLD_LIMIT = 512
REMEMBERED_S = 1.0
LOW_TTL_S = 60
LAST_OF_ASCII = 0x7F
COOKIE = int(dns.edns.OptionType.COOKIE)
LISTED = dns.name.from_text("example.com.")
OTHER_DATA = {RdataType.A: "203.0.113.80", RdataType.MX: "10 mail.other.example."}
DROPPED = {RdataType.CAA, RdataType.TLSA, RdataType.HTTPS, RdataType.make(65_280)}
OF_CHAIN = {RdataType.DS, RdataType.DNSKEY}
IN_USE = {RdataType.TXT, RdataType.TLSA, RdataType.SVCB, RdataType.HTTPS, RdataType.SRV, RdataType.CAA}


def _rewrite(message: dns.message.Message, rtype: RdataType) -> None:
    message.answer = [
        dns.rrset.from_text(one.name, one.ttl, one.rdclass, rtype, OTHER_DATA[rtype]) if one.rdtype == rtype else one
        for one in message.answer
    ]


def _drop_long(passage: Passage) -> bytes | None:
    return None if len(passage.query) > OLD_LIMIT else passage.query


def _lower_case(message: dns.message.Message) -> None:
    for rrset in message.question:
        rrset.name = rrset.name.canonicalize()


def _is_unusual(message: dns.message.Message) -> bool:
    labels = [label for one in message.question for label in one.name.labels]
    return any(label.startswith(b"_") or max(label, default=0) > LAST_OF_ASCII for label in labels)


def _is_listed(message: dns.message.Message) -> bool:
    return any(one.name.is_subdomain(LISTED) for one in message.question)


def _strip_signatures(message: dns.message.Message) -> None:
    message.answer = without_types(message.answer, RdataType.RRSIG)


def _asks(types: set[RdataType]) -> Test:
    return lambda message: any(one.rdtype in types for one in message.question)


def _keep_errors_alone(message: dns.message.Message) -> None:
    """Take all options out but extended DNS errors."""
    rcode = message.rcode()
    if message.edns >= 0:
        kept = [option for option in message.options if option.otype == dns.edns.OptionType.EDE]
        message.use_edns(message.edns, message.ednsflags & 0xFFFF, message.payload, options=kept)
        message.set_rcode(rcode)


def _is_unsigned(passage: Passage) -> bool:
    """Whether there is no signature in a response to a query with DO."""
    if passage.asked.edns < 0 or not passage.asked.ednsflags & dns.flags.DO:
        return False
    answer = passage.answer
    return all(one.rdtype != RdataType.RRSIG for one in (*answer.answer, *answer.authority))


def _strip_opt_of_unsigned(passage: Passage) -> bytes:
    answer = passage.answer
    # What has an extended response code, or is an error, has no data to be signed.
    if answer.rcode() not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN} or not _is_unsigned(passage):
        return passage.response
    answer.use_edns(False)
    return wire_of(answer)


def _cut_unsigned(passage: Passage) -> bytes:
    """Send those who ask with DO to TCP for what is long and has no signatures."""
    if passage.transport == "tcp" or len(passage.response) <= OLD_LIMIT or not _is_unsigned(passage):
        return passage.response
    answer = passage.answer
    answer.answer, answer.authority = [], []
    answer.flags |= dns.flags.TC
    return wire_of(answer)


def _remember(passage: Passage) -> bytes:
    passage.cache["asked", passage.query] = b"", time.monotonic()
    return passage.query


def _forget(passage: Passage) -> bytes | None:
    _, asked_s = passage.cache["asked", passage.query]
    is_known = passage.transport == "tcp" or time.monotonic() - asked_s < REMEMBERED_S
    return passage.response if is_known else None


def _lower_ttl(message: dns.message.Message) -> None:
    for rrset in (*message.answer, *message.authority, *message.additional):
        rrset.ttl = min(rrset.ttl, LOW_TTL_S)


FAULTS = (
    Fault(
        name="rewrites-addresses-by-tcp",
        does="changes IPv4 addresses in responses by TCP",
        roles=PATH,
        on_response=changing_by_tcp(lambda message: _rewrite(message, RdataType.A)),
    ),
    Fault(
        name="rewrites-mail-servers",
        does="changes MX records",
        roles=PATH,
        on_response=changing(lambda message: _rewrite(message, RdataType.MX)),
    ),
    Fault(
        name="drops-types-in-use",
        does="drops queries for CAA, TLSA, HTTPS and unknown types",
        roles=PATH,
        on_query=dropping(lambda message: any(one.rdtype in DROPPED for one in message.question)),
    ),
    Fault(
        name="drops-rrsig-queries",
        does="drops queries for RRSIG",
        roles=PATH,
        on_query=dropping(_asks({RdataType.RRSIG})),
    ),
    Fault(
        name="drops-edns-versions-on-path",
        does="drops queries of other EDNS versions",
        roles=PATH,
        on_query=dropping(lambda message: message.edns > 0),
    ),
    Fault(
        name="drops-long-queries",
        does="drops queries of more than 512 octets",
        roles=(*PATH, "proxy"),
        on_query=_drop_long,
    ),
    Fault(
        name="answers-once-a-port",
        does="drops queries from a port that has sent one just before",
        roles=(*PATH, "proxy"),
        answers_once_a_port=True,
    ),
    Fault(
        name="closes-after-response",
        does="drops all but the first response to queries that are sent at once from one port",
        roles=(*PATH, "proxy"),
        seen_in="firewalls that close a flow of DNS by UDP with its first response",
        closes_after_response=True,
    ),
    Fault(
        name="lower-cases-queries-on-path",
        does="lower-cases names in queries",
        roles=PATH,
        on_query=asking(_lower_case),
    ),
    Fault(
        name="drops-unusual-names",
        does="drops queries for names with underscores or octets beyond ASCII",
        roles=PATH,
        on_query=dropping(_is_unusual),
    ),
    Fault(
        name="drops-cookies-on-path",
        does="drops queries with COOKIE",
        roles=PATH,
        on_query=dropping(lambda message: any(int(one.otype) == COOKIE for one in message.options)),
    ),
    Fault(
        name="drops-updates",
        does="drops NOTIFY and UPDATE",
        roles=(*PATH, "proxy"),
        on_query=dropping(lambda message: message.opcode() in {dns.opcode.NOTIFY, dns.opcode.UPDATE}),
    ),
    Fault(
        name="answers-chaos",
        does="answers queries of class CHAOS itself",
        roles=PATH,
        on_response=refusing(
            lambda message: any(one.rdclass == dns.rdataclass.CH for one in message.question), dns.rcode.REFUSED
        ),
    ),
    Fault(
        name="blocks-foreign-names",
        does="gives another address for names that are on a list",
        roles=(*PATH, "proxy"),
        on_response=changing(lambda message: _rewrite(message, RdataType.A), _is_listed),
    ),
    Fault(
        name="lowers-ttl",
        does="lowers TTLs to a minute",
        roles=PATH,
        on_response=changing(_lower_ttl),
    ),
    Fault(
        name="strips-signatures-of-keys",
        does="takes signatures out of responses to queries for DS and DNSKEY",
        roles=PATH,
        on_response=changing(_strip_signatures, _asks(OF_CHAIN)),
    ),
    Fault(
        name="strips-signatures-of-types-in-use",
        does="takes signatures out of responses to queries for TXT, SRV, CAA, TLSA, SVCB and HTTPS",
        roles=PATH,
        on_response=changing(_strip_signatures, _asks(IN_USE)),
    ),
    Fault(
        name="strips-options-but-errors",
        does="takes EDNS options out of responses, and leaves extended DNS errors",
        roles=PATH,
        on_response=changing(_keep_errors_alone),
    ),
    Fault(
        name="strips-opt-of-unsigned",
        does="takes OPT out of responses without signatures to queries with DO",
        roles=PATH,
        on_response=unchanged_if_unreadable(_strip_opt_of_unsigned),
    ),
    Fault(
        name="forgets-udp",
        does="drops responses by UDP that take more than a second",
        roles=PATH,
        on_query=_remember,
        on_response=_forget,
    ),
    Fault(
        name="truncates-unsigned",
        does="truncates responses by UDP without signatures beyond 512 octets to queries with DO",
        roles=PATH,
        on_response=unchanged_if_unreadable(_cut_unsigned),
    ),
)

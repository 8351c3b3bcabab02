"""Faults of DNS proxies that show with some messages alone: of a type, a name, a transport, without DO, denials."""

from collections.abc import Callable

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rdataclass
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import (
    asking,
    asking_by_tcp,
    changing,
    changing_by_tcp,
    changing_denials,
    clear_do,
    dropping,
    without_types,
)
from dnsrig.verification.faults.fault import Change, Fault, Passage
from dnsrig.verification.item import Role

PROXY: tuple[Role, ...] = ("proxy",)
RARE = {RdataType.PTR, RdataType.NAPTR, RdataType.SSHFP, RdataType.OPENPGPKEY, RdataType.URI}
SERVICES = {
    RdataType.TXT,
    RdataType.SRV,
    RdataType.CAA,
    RdataType.TLSA,
    RdataType.SVCB,
    RdataType.HTTPS,
    RdataType.SSHFP,
}
"""Types that are not about hosts, mail and delegations."""
SMALL_PAYLOAD, LARGE_PAYLOAD = 512, 65_535
LONG_NAME = 100
CROWD = 20
OTHER_NAME = dns.name.from_text("other.example.")


def _has_no_do(query: dns.message.Message) -> bool:
    return query.edns < 0 or not query.ednsflags & dns.flags.DO


def _set_aa(message: dns.message.Message) -> None:
    message.flags |= dns.flags.AA


def _without_opt(message: dns.message.Message) -> None:
    message.use_edns(False)


def _without_rrsig(message: dns.message.Message) -> None:
    message.answer = without_types(message.answer, RdataType.RRSIG)
    message.authority = without_types(message.authority, RdataType.RRSIG)


def _without_proofs(message: dns.message.Message) -> None:
    message.authority = without_types(message.authority, RdataType.RRSIG, RdataType.NSEC, RdataType.NSEC3)


def _clear_ad(message: dns.message.Message) -> None:
    message.flags &= ~dns.flags.AD


def _clear_ra(message: dns.message.Message) -> None:
    message.flags &= ~dns.flags.RA


def _ask_other(message: dns.message.Message) -> None:
    message.question = [dns.rrset.RRset(OTHER_NAME, dns.rdataclass.IN, RdataType.A)]


def _add_client_subnet(message: dns.message.Message) -> None:
    if message.edns == 0:
        subnet = dns.edns.ECSOption("192.0.2.0", 24)
        message.use_edns(0, message.ednsflags, message.payload, options=[*message.options, subnet])


def _with_payload(octets: int) -> Callable[[dns.message.Message], None]:
    def change(message: dns.message.Message) -> None:
        if message.edns >= 0:
            message.use_edns(message.edns, message.ednsflags & 0xFFFF, octets, options=list(message.options))

    return change


def _drop_section(section: str) -> Callable[[dns.message.Message], None]:
    return lambda message: getattr(message, section).clear()


def _asks(*types: RdataType) -> Callable[[dns.message.Message], bool]:
    return lambda message: any(rrset.rdtype in types for rrset in message.question)


def _has_underscore(message: dns.message.Message) -> bool:
    return any(label.startswith(b"_") for rrset in message.question for label in rrset.name.labels)


def _has_long_name(message: dns.message.Message) -> bool:
    return any(len(rrset.name.to_wire() or b"") > LONG_NAME for rrset in message.question)


def _set_rd(message: dns.message.Message) -> None:
    message.flags |= dns.flags.RD


def _has_no_question(message: dns.message.Message) -> bool:
    return not message.question


def _as_query(passage: Passage) -> bytes:
    """Take a message for an ordinary query, whatever its opcode."""
    query = bytearray(passage.query)
    query[2] &= 0x87
    return bytes(query)


def _fault(name: str, does: str, on_query: Change | None = None, on_response: Change | None = None) -> Fault:
    return Fault(name=f"proxy-{name}", does=does, roles=PROXY, on_query=on_query, on_response=on_response)


FAULTS = (
    _fault("sets-aa", "sets AA in responses", None, changing(_set_aa)),
    _fault("strips-opt-by-tcp", "takes OPT out of responses by TCP", None, changing_by_tcp(_without_opt)),
    _fault("strips-rrsig-by-tcp", "takes signatures out of responses by TCP", None, changing_by_tcp(_without_rrsig)),
    _fault("clears-do-by-tcp", "clears DO in queries by TCP", asking_by_tcp(clear_do)),
    _fault("clears-do-in-denials", "clears DO in denials", None, changing_denials(clear_do)),
    _fault("strips-opt-of-denials", "takes OPT out of denials", None, changing_denials(_without_opt)),
    _fault("clears-ad-in-denials", "clears AD in denials", None, changing_denials(_clear_ad)),
    _fault("strips-proofs", "takes signatures and proofs out of denials", None, changing_denials(_without_proofs)),
    _fault("other-question", "responds with another question", None, changing(_ask_other)),
    _fault("adds-client-subnet", "adds the client's network to queries with EDNS", asking(_add_client_subnet)),
    _fault("lowers-payload", "asks with a payload size of 512", asking(_with_payload(SMALL_PAYLOAD))),
    _fault("raises-payload", "asks with a payload size of 65535", asking(_with_payload(LARGE_PAYLOAD))),
    _fault(
        "drops-authority-without-do",
        "empties the authority section for clients without DO",
        None,
        changing(_drop_section("authority"), _has_no_do),
    ),
    _fault(
        "drops-additional-without-do",
        "empties the additional section for clients without DO",
        None,
        changing(_drop_section("additional"), _has_no_do),
    ),
    _fault("drops-rare-types", "drops queries for PTR, NAPTR, SSHFP, OPENPGPKEY and URI", dropping(_asks(*RARE))),
    _fault(
        "strips-rrsig-of-types",
        "takes signatures out of answers of type TXT, SRV, CAA, TLSA, SVCB, HTTPS and SSHFP",
        None,
        changing(_without_rrsig, _asks(*SERVICES)),
    ),
    _fault(
        "clears-do-of-types",
        "clears DO in queries for TXT, SRV, CAA, TLSA, SVCB, HTTPS and SSHFP",
        asking(clear_do, _asks(*SERVICES)),
    ),
    _fault(
        "clears-ra-of-types",
        "clears RA in responses of type TXT, SRV, CAA, TLSA, SVCB, HTTPS and SSHFP",
        None,
        changing(_clear_ra, _asks(*SERVICES)),
    ),
    _fault("drops-any", "drops queries for ANY", dropping(_asks(RdataType.ANY))),
    _fault("drops-underscores", "drops queries for names with underscores", dropping(_has_underscore)),
    _fault("drops-long-names", "drops queries for names of more than 100 octets", dropping(_has_long_name)),
    _fault("sets-rd", "sets RD in queries", asking(_set_rd)),
    _fault("drops-no-question", "drops queries without a question", dropping(_has_no_question)),
    Fault(
        name="proxy-needs-whole-responses",
        does="takes responses by TCP for missing that come in more than one segment",
        roles=PROXY,
        needs_whole_responses=True,
    ),
    Fault(
        name="proxy-serves-one-connection",
        does="lets TCP connections wait until another one is closed",
        roles=PROXY,
        serves_one_connection=True,
    ),
    _fault("answers-opcodes", "answers unknown opcodes as if they were queries", _as_query),
    Fault(
        name="proxy-mixes-answers",
        does="mixes responses up when it has more than twenty queries at a time",
        roles=PROXY,
        swaps_beyond=CROWD,
        delay_s=0.2,
    ),
)

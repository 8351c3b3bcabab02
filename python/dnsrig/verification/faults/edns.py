"""Faults of authoritative servers in EDNS: versions, flags, options."""

import dns.edns
import dns.flags
import dns.message
import dns.rcode

from dnsrig.verification.faults.changes import changing, dropping, refusing
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.item import Role

AUTHORITATIVE: tuple[Role, ...] = ("authoritative",)
ADDITIONAL = slice(10, 12)
"""Where a message counts the records of its additional section."""
OPT_TYPE = b"\0\0\x29"
"""How an OPT record begins: the root's name, and the type."""
OPT_OCTETS = 11
"""Of an OPT record without options."""
FIRST_UNKNOWN_OPTION = 100
"""Options from here on no server that is right knows either."""
COOKIE, ECS = dns.edns.OptionType.COOKIE, dns.edns.OptionType.ECS
OTHER_COOKIE = bytes(range(24))


def _unknown_options(message: dns.message.Message) -> list[dns.edns.Option]:
    return [option for option in message.options if int(option.otype) >= FIRST_UNKNOWN_OPTION]


def _has_unknown_flags(message: dns.message.Message) -> bool:
    return message.edns >= 0 and bool(message.ednsflags & 0x7FFF)


def _has_other_version(message: dns.message.Message) -> bool:
    return message.edns > 0


def _has_do(message: dns.message.Message) -> bool:
    return message.edns >= 0 and bool(message.ednsflags & dns.flags.DO)


def _set_options(message: dns.message.Message, options: list[dns.edns.Option]) -> None:
    # Flags hold version and the upper bits of the response code, and stay as they are.
    flags = message.ednsflags
    message.use_edns(message.edns, 0, message.payload, options=options)
    message.ednsflags = flags


def _first_opt(passage: Passage) -> bytes:
    """Take the second of two OPT records off the end of a query, where these have no options."""
    query = passage.query
    is_meant = query[ADDITIONAL] == b"\0\2" and query[-2 * OPT_OCTETS :].startswith(OPT_TYPE)
    return query[: ADDITIONAL.start] + b"\0\1" + query[ADDITIONAL.stop : -OPT_OCTETS] if is_meant else query


def _echo_options(passage: Passage) -> bytes:
    answer = passage.answer
    if answer.edns >= 0:
        _set_options(answer, [*answer.options, *_unknown_options(passage.asked)])
    return wire_of(answer)


def _echo_flags(passage: Passage) -> bytes:
    answer, query = passage.answer, passage.asked
    if answer.edns >= 0 and query.edns >= 0:
        answer.ednsflags |= query.ednsflags & 0x7FFF
    return wire_of(answer)


def _echo_version(passage: Passage) -> bytes:
    answer, query = passage.answer, passage.asked
    if answer.edns >= 0 and query.edns > 0:
        answer.ednsflags |= query.edns << 16
    return wire_of(answer)


def _clear_do_in_response(message: dns.message.Message) -> None:
    if message.edns >= 0:
        message.ednsflags &= ~int(dns.flags.DO)


def _strip_if_truncated(passage: Passage) -> bytes:
    answer = passage.answer
    if not answer.flags & dns.flags.TC:
        return passage.response
    answer.use_edns(False)
    return wire_of(answer)


def _strip_by_tcp(passage: Passage) -> bytes:
    if passage.transport != "tcp":
        return passage.response
    answer = passage.answer
    answer.use_edns(False)
    return wire_of(answer)


def _add_nsid(passage: Passage) -> bytes:
    answer = passage.answer
    nsid = dns.edns.OptionType.NSID
    if answer.edns >= 0 and all(option.otype != nsid for option in answer.options):
        _set_options(answer, [*answer.options, dns.edns.GenericOption(nsid, b"faulty")])
    return wire_of(answer)


def _add_cookie(passage: Passage) -> bytes:
    answer = passage.answer
    if answer.edns >= 0:
        others = [option for option in answer.options if option.otype != COOKIE]
        _set_options(answer, [*others, dns.edns.GenericOption(COOKIE, OTHER_COOKIE)])
    return wire_of(answer)


def _wrong_cookie(passage: Passage) -> bytes:
    has_cookie = any(option.otype == COOKIE for option in passage.asked.options)
    return _add_cookie(passage) if has_cookie else passage.response


def _other_subnet(passage: Passage) -> bytes:
    """Give another client subnet than the query's to those that send one."""
    answer = passage.answer
    if answer.edns >= 0 and any(option.otype == ECS for option in passage.asked.options):
        others = [option for option in answer.options if option.otype != ECS]
        _set_options(answer, [*others, dns.edns.ECSOption("192.0.2.0", 24, 24)])
    return wire_of(answer)


def _bad_cookie(passage: Passage) -> bytes:
    """Give a cookie to those that have none, and do not take it again."""
    query = passage.asked
    given = next((option.to_wire() or b"" for option in query.options if option.otype == COOKIE), b"")
    if not given:
        return passage.response
    answer = passage.answer
    others = [option for option in answer.options if option.otype != COOKIE]
    _set_options(answer, [*others, dns.edns.GenericOption(COOKIE, given[:8] + OTHER_COOKIE[:16])])
    if len(given) > 8:
        answer.answer, answer.authority, answer.additional = [], [], []
        answer.set_rcode(dns.rcode.BADCOOKIE)
    return wire_of(answer)


FAULTS = (
    Fault(name="drops-do", does="drops queries with DO", roles=AUTHORITATIVE, on_query=dropping(_has_do)),
    Fault(
        name="clears-do-in-responses",
        does="does not give the DO flag back",
        roles=AUTHORITATIVE,
        on_response=changing(_clear_do_in_response),
    ),
    Fault(
        name="takes-first-opt",
        does="answers queries with two OPT records by the first one",
        roles=(*AUTHORITATIVE, "resolver"),
        seen_in="PowerDNS Authoritative Server 4.7",
        on_query=_first_opt,
    ),
    Fault(
        name="drops-edns-options",
        does="drops queries with EDNS options that it does not know",
        roles=AUTHORITATIVE,
        seen_in="firewalls of RFC 8906 section 4",
        on_query=dropping(lambda message: bool(_unknown_options(message))),
    ),
    Fault(
        name="formerr-to-edns-options",
        does="answers queries with EDNS options with FORMERR",
        roles=AUTHORITATIVE,
        on_response=refusing(lambda message: bool(message.options), dns.rcode.FORMERR),
    ),
    Fault(
        name="echoes-edns-options",
        does="gives EDNS options that it does not know back",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_echo_options),
    ),
    Fault(
        name="drops-edns-flags",
        does="drops queries with EDNS flags that it does not know",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=dropping(_has_unknown_flags),
    ),
    Fault(
        name="echoes-edns-flags",
        does="gives EDNS flags that it does not know back",
        roles=(*AUTHORITATIVE, "resolver"),
        on_response=unchanged_if_unreadable(_echo_flags),
    ),
    Fault(
        name="drops-edns-versions",
        does="drops queries of unknown EDNS versions",
        roles=(*AUTHORITATIVE, "resolver"),
        on_query=dropping(_has_other_version),
    ),
    Fault(
        name="formerr-to-edns-versions",
        does="answers queries of unknown EDNS versions with FORMERR",
        roles=(*AUTHORITATIVE, "resolver"),
        on_response=refusing(_has_other_version, dns.rcode.FORMERR),
    ),
    Fault(
        name="echoes-edns-version",
        does="gives the query's EDNS version back, though it does not know it",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_echo_version),
    ),
    Fault(
        name="strips-opt-when-truncated",
        does="leaves the OPT record out of truncated responses",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_strip_if_truncated),
    ),
    Fault(
        name="strips-opt-by-tcp",
        does="leaves the OPT record out of responses by TCP",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_strip_by_tcp),
    ),
    Fault(
        name="nsid-unasked",
        does="tells its NSID to everyone",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_add_nsid),
    ),
    Fault(
        name="cookie-unasked",
        does="gives cookies to those that send none",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_add_cookie),
    ),
    Fault(
        name="wrong-client-cookie",
        does="gives another client cookie back than it got",
        roles=(*AUTHORITATIVE, "resolver"),
        on_response=unchanged_if_unreadable(_wrong_cookie),
    ),
    Fault(
        name="ecs-of-another",
        does="gives another client subnet back than it got",
        roles=AUTHORITATIVE,
        on_response=unchanged_if_unreadable(_other_subnet),
    ),
    Fault(
        name="badcookie",
        does="does not take its own cookies again",
        roles=(*AUTHORITATIVE, "resolver"),
        seen_in="anycast instances with different secrets (RFC 9018 section 1)",
        on_response=unchanged_if_unreadable(_bad_cookie),
    ),
)

"""Unsigned zones whose servers use DNS cookies (RFC 7873), at an address of their own: resolvers remember who does."""

import hashlib

import dns.edns
import dns.message
import dns.rcode
import dns.rrset

from dnsrig.verification.tree.cases import ZonePlan
from dnsrig.verification.tree.misbehaviour import Bound, Misbehaviour, Scene
from dnsrig.verification.tree.seen import SeenQuery
from dnsrig.verification.tree.zones_spoofing import FORGED_HOST, LEAD_S

WITH_COOKIES = 7
"""Their address."""
DEMANDED = "cookies.unsigned."
"""Its server tells clients that use cookies to come again with its own."""
FORGED = "spoof-cookie.unsigned."
"""Its server's responses come behind forged ones with another client cookie."""
CLIENT_OCTETS = 8


def cookie_of(message: dns.message.Message | SeenQuery) -> bytes:
    """Give the content of a message's COOKIE option; b"" if it has none."""
    found = (one.to_wire() or b"" for one in message.options if one.otype == dns.edns.OptionType.COOKIE)
    return next(found, b"")


def put_cookie(message: dns.message.Message, cookie: bytes) -> None:
    """Give a message with EDNS this cookie alone; its response code is to be set afterwards."""
    option = dns.edns.GenericOption(dns.edns.OptionType.COOKIE, cookie)
    message.use_edns(message.edns, message.ednsflags, message.payload, options=[option])


def _right(client: bytes) -> bytes:
    return client + hashlib.sha256(b"dnsrig" + client).digest()[:CLIENT_OCTETS]


def _with_cookie(scene: Scene) -> dns.message.Message:
    client = cookie_of(scene.query)[:CLIENT_OCTETS]
    if client:
        put_cookie(scene.response, _right(client))
    return scene.response


def _demand(scene: Scene) -> dns.message.Message:
    """Answer who sends no cookie, as servers do that are not under attack, and who sends the right one."""
    given = cookie_of(scene.query)
    response = _with_cookie(scene)
    if given and given != _right(given[:CLIENT_OCTETS]) and scene.transport == "udp":
        response.answer, response.authority, response.additional = [], [], []
        response.set_rcode(dns.rcode.BADCOOKIE)
    return response


def _other_cookies(scene: Scene) -> list[bytes]:
    client = cookie_of(scene.query)[:CLIENT_OCTETS]
    if not client:
        return []
    forged = dns.message.make_response(scene.query)
    forged.flags = scene.response.flags
    forged.answer = [dns.rrset.from_text(scene.name, 300, "IN", "A", FORGED_HOST)]
    put_cookie(forged, _right(bytes(octet ^ 0xFF for octet in client)))
    return [forged.to_wire()]


def _plan(name: str, misbehaviour: Misbehaviour) -> ZonePlan:
    return ZonePlan(
        name=name,
        what=f"its server {misbehaviour.does}",
        chain="",
        records=("*.fresh IN A 198.18.2.85",),
        servers=(WITH_COOKIES,),
        bound=(Bound(misbehaviour, name, frozenset({WITH_COOKIES})),),
    )


PLANS = (
    _plan(
        DEMANDED,
        Misbehaviour(name="demands-cookies", does="wants its own cookie of those that send one", change=_demand),
    ),
    _plan(
        FORGED,
        Misbehaviour(
            name="spoof-cookie",
            does="is preceded by forged responses with another client cookie",
            change=_with_cookie,
            ahead=_other_cookies,
            delay_s=LEAD_S,
        ),
    ),
)

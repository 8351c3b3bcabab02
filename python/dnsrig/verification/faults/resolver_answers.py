"""Faults of resolvers seen by their clients alone: what one that believes forgeries, or gives up, would answer."""

from collections.abc import Callable, Sequence

import dns.edns
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.faults.fault import Change, Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.tree.zones_spoofing import FORGED_HOST, MISDIRECTED
from dnsrig.verification.tree.zones_ttls import ENDS_SOON, LONG_TTL_S, RAISED, RAISED_TTL_S

ADVISED = ("algorithm-14.nsec.", "algorithm-15.nsec.", "algorithm-16.nsec.", "digest-4.nsec.")
RSA_SHA2 = ("algorithm-8.nsec.", "algorithm-10.nsec.")


def _below(zones: Sequence[str], change: Callable[[Passage], bytes | None]) -> Change:
    """Change only what is asked for at and below some names."""
    names = [dns.name.from_text(zone) for zone in zones]

    def changed(passage: Passage) -> bytes | None:
        question = passage.asked.question
        fits = bool(question) and any(question[0].name.is_subdomain(name) for name in names)
        return change(passage) if fits else passage.response or passage.query

    return unchanged_if_unreadable(changed)


def _believe(passage: Passage) -> bytes:
    """Give the forged address."""
    answer = passage.answer
    if passage.asked.question[0].rdtype == RdataType.A:
        answer.set_rcode(dns.rcode.NOERROR)
        answer.answer = [dns.rrset.from_text(passage.asked.question[0].name, 300, "IN", "A", FORGED_HOST)]
        answer.authority = []
    return wire_of(answer)


def _fail(passage: Passage) -> bytes:
    refusal = dns.message.make_response(passage.asked, recursion_available=True)
    refusal.set_rcode(dns.rcode.SERVFAIL)
    return wire_of(refusal)


def _clear_ad(passage: Passage) -> bytes:
    """Say that a zone is insecure whose algorithms are not known."""
    answer = passage.answer
    answer.flags &= ~dns.flags.AD
    return wire_of(answer)


def _with_ttl(ttl_s: int) -> Callable[[Passage], bytes]:
    """Give answers with such a TTL, and with the signatures that they have."""

    def changed(passage: Passage) -> bytes:
        answer = passage.answer
        for rrset in answer.answer:
            rrset.ttl = ttl_s
        return wire_of(answer)

    return changed


def _blame_network(passage: Passage) -> bytes:
    """Say that no authority could be reached, whatever is wrong."""
    answer = passage.answer
    if answer.rcode() == dns.rcode.SERVFAIL and answer.edns >= 0:
        option = dns.edns.EDEOption(dns.edns.EDECode.NO_REACHABLE_AUTHORITY)
        answer.use_edns(0, answer.ednsflags, answer.payload, options=[option])
    return wire_of(answer)


def _response_faults() -> tuple[tuple[str, str, Change], ...]:
    forged = {
        "ids": ("spoof-id.unsigned.",),
        "questions": ("spoof-name.unsigned.", "spoof-type.unsigned."),
        "classes": ("spoof-class.unsigned.",),
        "sources": ("spoof-address.unsigned.", "spoof-port.unsigned."),
    }
    return (
        *(
            (f"believes-other-{word}", f"takes responses with other {word}", _below(zones, _believe))
            for word, zones in forged.items()
        ),
        (
            "believes-truncated-data",
            "takes data of truncated responses",
            _below(["spoof-truncated.unsigned."], _believe),
        ),
        ("believes-other-zones", "takes any zone's servers at their word", _below(["victim.unsigned."], _believe)),
        (
            "believes-other-servers",
            "lets servers tell of other zones' name servers",
            _below(["hijacked.unsigned.", "fresh.above.unsigned."], _believe),
        ),
        (
            "fails-lame",
            "gives up where a server is lame",
            _below(["fresh.lame.nsec.", "fresh.servfail.nsec.", "fresh.lame-upwards.nsec."], _fail),
        ),
        (
            "fails-unusable-server",
            "gives up where a server is silent, or its responses cannot be used",
            _below(["fresh.silent.nsec.", "fresh.wrong-id.nsec."], _fail),
        ),
        (
            "fails-bogus-server",
            "gives up where the data of a server do not validate",
            _below(["fresh.stale.nsec.", "fresh.strips-signatures.nsec.", "fresh.strips-proofs.nsec."], _fail),
        ),
        (
            "believes-any-alias",
            "follows any alias beside a DNAME record",
            _below([f"tree.{MISDIRECTED}"], _believe),
        ),
        ("keeps-servers-ttl", "keeps the TTLs that servers give", _below([RAISED], _with_ttl(RAISED_TTL_S))),
        ("outlives-signatures", "keeps data beyond their signatures", _below([ENDS_SOON], _with_ttl(LONG_TTL_S))),
        ("lacks-rsa-sha2", "does not know RSA/SHA-2", _below(RSA_SHA2, _fail)),
        ("lacks-advised-algorithms", "does not know P-384, Ed25519, Ed448 and SHA-384", _below(ADVISED, _clear_ad)),
        ("accuses-the-network", "says that no server can be reached, whatever is wrong", _below(["."], _blame_network)),
    )


FAULTS = (
    *(
        Fault(name=name, does=does, roles=("resolver",), on_response=change)
        for name, does, change in _response_faults()
    ),
    Fault(
        name="closes-tcp-at-once",
        does="closes a TCP connection after its first response",
        roles=("resolver",),
        closes_tcp_after_one=True,
    ),
    Fault(
        name="loses-pipelined",
        does="throws away what comes by TCP before a response has gone",
        roles=("resolver",),
        discards_pipelined=True,
    ),
)

"""An authoritative server and a zone that it serves."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import dns.flags
import dns.name
import dns.rcode
import dns.rrset
import dns.tsig
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DS import DS

from dnsrig.verification.asked_again import AskedAgain, ask_again
from dnsrig.verification.asker import Asker, name_below, random_label
from dnsrig.verification.doubts import Doubts, doubts_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.habits import Habits
from dnsrig.verification.kept import Kept, kept_property
from dnsrig.verification.landmarks import Landmarks, Place, find_landmarks
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.answers import Answers
from dnsrig.verification.subjects.survey import Survey
from dnsrig.verification.transfer import Transfer, transfer
from dnsrig.verification.verdicts import Outcome, failed, inconclusive

LARGE_PAYLOAD = 4096
Found = TypeVar("Found")
LANDMARKS = {
    "host": "name with usual records below its apex",
    "alias": "alias (CNAME record)",
    "dname": "DNAME record",
    "wildcard": "wildcard",
    "empty": "empty non-terminal",
    "delegation": "delegation without DS records",
    "secure_delegation": "delegation with DS records",
    "glue": "address below a delegation (glue)",
}
"""Landmarks that items need, in words."""
NAMED_BY = {"delegation": "--delegation", "empty non-terminal": "--empty"}
"""The options by which the user names what has such words; --name is for the rest."""
DNSSEC_NEEDS = {"signed", "signatures", "unsigned", "nsec", "nsec3"}


@dataclass
class AuthoritativeSubject:
    """What items of the role `authoritative` are run against."""

    asker: Asker
    landmarks: Landmarks
    peers: tuple[Asker, ...] = ()
    """Other servers of the zone, which should serve the same."""
    no_peers: str = "One server is known; further ones can be named by --ns."
    """Why there are none."""
    title: str = ""
    """The server's name and version, where the rig started it."""
    given_ds: tuple[DS, ...] | None = None
    """The parent zone's DS records for the zone, as the user gave them."""
    tsig: dns.tsig.Key | None = field(default=None, repr=False)
    """Signs queries for zone transfers; others go as anybody's."""
    may_resolve_for_us: bool = False
    """Whether this host may be one that the server resolves names for on purpose: it is near, and not the rig's."""
    is_primary: bool = False
    """Whether the server is known to have the zone from a file, and so no primary of its own."""
    now_s: float = field(default_factory=time.time)
    """The time by which signatures are judged, in seconds since 1970."""
    _kept: Kept = field(default_factory=Kept, repr=False)

    def __post_init__(self) -> None:
        if self.asker.habits is None:
            self.asker = replace(self.asker, habits=Habits())

    @property
    def origin(self) -> dns.name.Name:
        """The zone's name."""
        return self.landmarks.origin

    def absent_name(self) -> dns.name.Name:
        """Make a name directly below the apex that the zone has not, another one each time."""
        return name_below(self.origin, random_label().encode())

    @kept_property
    def answers(self) -> Answers:
        """What the server says to questions that several items ask; what is kept is no older than the SOA record."""
        _ = self.soa
        return Answers(self.asker, self._large)

    @kept_property
    def known_data(self) -> Landmarks:
        """The landmarks, or if those were found by asking and the server transfers the zone, the landmarks in that."""
        if self.landmarks.is_whole or self.transfer.zone is None:
            return self.landmarks
        nodes = self.transfer.zone.nodes.items()
        rrsets = ((name, rdataset.rdtype, rdataset) for name, node in nodes for rdataset in node.rdatasets)
        marks = self.landmarks
        return find_landmarks(
            self.origin, rrsets, told_cuts=marks.told_cuts, seed=marks.seed, doubts=self.transfer_doubts
        )

    @kept_property
    def transfer_doubts(self) -> Doubts:
        """What is doubtful in the zone's data as they are transferred."""
        return Doubts() if self.transfer.zone is None else doubts_of(self.transfer.zone)

    @kept_property
    def survey(self) -> Survey:
        """What the server says to questions all over the zone."""
        known = self.known_data
        marks = (self.landmarks.delegation, self.landmarks.secure_delegation)
        cuts = known.cuts | {cut for cut in marks if cut is not None}
        return Survey(self.answers, self.origin, known.places, cuts, self.is_signed and not self.uses_nsec3)

    @kept_property
    def transfer(self) -> Transfer:
        """The zone as the server transfers it, if it does; no older than the SOA record."""
        _ = self.soa
        return transfer(self.asker, self.origin, self.tsig)

    @kept_property
    def peer_answers(self) -> Sequence[Answers]:
        """The same of the zone's other servers."""
        return [Answers(asker, self._large) for asker in self.peers]

    @property
    def _large(self) -> Sequence[tuple[dns.name.Name, RdataType]]:
        """Questions that have the largest responses in signed zones: the keys, and the denial of a name."""
        denied = name_below(self.origin, self.denied_label)
        return (self.origin, RdataType.DNSKEY), (denied, RdataType.A)

    @kept_property
    def denied_label(self) -> bytes:
        """A label that the zone has not, the same for all items that share answers."""
        return random_label().encode()

    @property
    def ds(self) -> tuple[DS, ...]:
        """The parent zone's DS records for the zone, as far as they are known."""
        return self.given_ds or ()

    def once(self, what: str, make: Callable[[], Found]) -> Found:
        """Give what items work out of the answers once for all of them, by a name of their choice."""
        return self._kept.once(what, make)

    def renewed(self) -> "AuthoritativeSubject":
        """Give the same subject, of which nothing was asked; a zone too large to be transferred is not tried again."""
        again = replace(self, _kept=Kept())
        moved = self.__dict__.get("transfer")
        if isinstance(moved, Transfer) and moved.given_up:
            again.__dict__["transfer"] = moved
        return again

    def serial_of(self, exchange: Exchange) -> int | None:
        """Give the serial in a response for the zone's SOA record; None without."""
        rrset = rrset_of(exchange, "answer", self.origin, RdataType.SOA)
        return None if rrset is None else int(rrset[0].serial)

    @kept_property
    def soa(self) -> Exchange:
        """The response to a plain query for the SOA record."""
        return self.asker.ask(Query(name=self.origin, rtype=RdataType.SOA))

    @kept_property
    def dnskey(self) -> Exchange:
        """The response with the zone's keys and their signatures, also where only TCP gives them whole."""
        query = Query(name=self.origin, rtype=RdataType.DNSKEY, do=True, payload=LARGE_PAYLOAD)
        exchange = self.asker.ask(query)
        if rrset_of(exchange, "answer", self.origin, RdataType.DNSKEY) is None:
            by_tcp = self.asker.tcp(query)
            return by_tcp if by_tcp.message is not None else exchange
        return exchange

    @kept_property
    def nsec3param(self) -> Exchange:
        """The response with the parameters of the NSEC3 chain."""
        return self.asker.ask(Query(name=self.origin, rtype=RdataType.NSEC3PARAM, do=True))

    @property
    def is_signed(self) -> bool:
        """Whether the zone has DNSKEY records."""
        return rrset_of(self.dnskey, "answer", self.origin, RdataType.DNSKEY) is not None

    @property
    def _gives_signatures(self) -> bool:
        return rrset_of(self.dnskey, "answer", self.origin, RdataType.RRSIG, RdataType.DNSKEY) is not None

    @property
    def uses_nsec3(self) -> bool:
        """Whether the zone has NSEC3PARAM records."""
        return rrset_of(self.nsec3param, "answer", self.origin, RdataType.NSEC3PARAM) is not None

    def place(self, landmark: str) -> Place:
        """Give a landmark that `lacks` has found to be there."""
        found = getattr(self.landmarks, landmark)
        if not isinstance(found, Place):
            raise TypeError(f"{landmark} is no place")
        return found

    def name(self, landmark: str) -> dns.name.Name:
        """Give the name of a landmark that `lacks` has found to be there."""
        found = getattr(self.landmarks, landmark)
        return found.name if isinstance(found, Place) else found

    def lacks(self, need: str) -> str | None:
        """Say why an item is not applicable."""
        if need in DNSSEC_NEEDS:
            return self._lacks_dnssec(need)
        match need:
            case "zone":
                return self._not_served
            case "edns":
                return self._without_edns
            case "peers":
                return None if self.peers else self.no_peers
            case "ds":
                return None if self.ds else f"No DS records for {self.origin} are known; --ds gives them."
            case "transfer":
                why = self.transfer.refusal
                signed = "" if self.tsig else "; --tsig-file names a key that it may want"
                return f"The server does not transfer the zone to this address: {why}{signed}." if why else None
        return self.unknown(LANDMARKS[need]) if getattr(self.landmarks, need) is None else None

    def unknown(self, what: str, *, is_whole: bool = False) -> str:
        """Say that none of something is known in the zone, and what would show one.

        `is_whole` says whether all of the zone's data were looked at, where its landmarks do not say so.
        """
        if is_whole or self.landmarks.is_whole or self.landmarks.is_filled:
            return f"The zone {self.origin} has no {what}."
        option = next((option for words, option in NAMED_BY.items() if words in what), "--name")
        return f"No {what} is known in the zone {self.origin}; {option} may name one, --zone-file shows all."

    def _lacks_dnssec(self, need: str) -> str | None:
        if self.dnskey.rcode != dns.rcode.NOERROR:
            return f"Whether the zone {self.origin} is signed cannot be told: there is no usable response for DNSKEY."
        if need == "unsigned":
            return f"The zone {self.origin} is signed." if self.is_signed else None
        if not self.is_signed:
            return f"The zone {self.origin} is not signed."
        if need == "signatures" and not self._gives_signatures:
            return "The server gives no signatures at all; A-rrsig is about that."
        if need == "nsec" and self.uses_nsec3:
            return "The zone uses NSEC3."
        return "The zone uses NSEC." if need == "nsec3" and not self.uses_nsec3 else None

    @kept_property
    def _not_served(self) -> str | None:
        """Why nothing can be said of the zone's content: the server clearly does not serve it (see item A-plain)."""
        exchange = self.asker.ask(Query(name=self.origin, rtype=RdataType.SOA, payload=None))
        if exchange.rcode in {dns.rcode.REFUSED, dns.rcode.SERVFAIL, dns.rcode.NOTAUTH, dns.rcode.NXDOMAIN}:
            return f"The server does not serve the zone {self.origin}: it answers {dns.rcode.to_text(exchange.rcode)}."
        is_answered = rrset_of(exchange, "answer", self.origin, RdataType.SOA) is not None
        if exchange.rcode == dns.rcode.NOERROR and not is_answered:
            return f"The server does not serve the zone {self.origin}: it has no SOA record."
        return None

    @kept_property
    def _without_edns(self) -> str | None:
        """Why nothing can be said of the finer points of EDNS: the server clearly has none (see item A-edns)."""
        exchange = self.asker.udp(Query(name=self.origin, rtype=RdataType.SOA))
        if exchange.message is None:
            return None if self.silence() else "The server does not answer queries with EDNS."
        if exchange.message.edns < 0 or exchange.rcode in {dns.rcode.FORMERR, dns.rcode.NOTIMP}:
            return "The server does not use EDNS."
        return None

    def silence(self) -> str:
        """Ask for the SOA record once more, without EDNS."""
        again = self.asker.ask(Query(name=self.origin, rtype=RdataType.SOA, payload=None))
        return again.trouble

    def unanswered(self, exchange: Exchange) -> Outcome:
        """Judge a query without usable response: a failure if the server answers others, else no verdict."""
        if exchange.malformed:
            return failed(f"{_sentence(exchange.trouble)}.", exchange)
        silence = self.silence()
        if silence:
            return inconclusive(f"The server does not answer the simplest question either: {silence}.", exchange)
        again = self.asked_again(exchange.query if exchange.transport == "udp" else None)
        if again.is_doubtful:
            reason = f"{_sentence(exchange.trouble)}; others are unanswered now and then as well."
            return inconclusive(reason, exchange)
        if again.answered:
            reason = f"{_sentence(exchange.trouble)}; asked {again.tries} times more, it is answered {again.answered}."
            return inconclusive(reason, exchange)
        return failed(f"{_sentence(exchange.trouble)}, while others are answered.", exchange)

    def silent_by_tcp(self, exchange: Exchange) -> Outcome | None:
        """Judge a query by TCP without response; None where the connection was closed, or others have none either."""
        if not exchange.timed_out:
            return None
        # Whether the server answers by TCP at all is A-tcp's to tell.
        if self.asker.tcp(Query(name=self.origin, rtype=RdataType.SOA, payload=None)).response is None:
            return None
        again = self.asker.tcp(exchange.query)
        if not again.timed_out:
            return None
        return failed(f"{_sentence(again.trouble)}, while others are answered by TCP.", again)

    def asked_again(self, query: Query | None, control: Query | None = None) -> AskedAgain:
        """Ask by UDP many times more, in turn with a simple question: for the SOA record without EDNS unless given."""
        control = control or Query(name=self.origin, rtype=RdataType.SOA, payload=None)
        return ask_again(self.asker, query, control)


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


def rrset_of(
    exchange: Exchange, section: str, name: dns.name.Name, rtype: RdataType, covers: RdataType = RdataType.NONE
) -> dns.rrset.RRset | None:
    """Find an RRset in a section of the response; `covers` for the signatures of a type."""
    if exchange.message is None:
        return None
    for rrset in getattr(exchange.message, section):
        if rrset.name == name and rrset.rdtype == rtype and rrset.covers == covers:
            found: dns.rrset.RRset = rrset
            return found
    return None

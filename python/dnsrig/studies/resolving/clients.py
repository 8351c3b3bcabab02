"""Queries of clients at their times, for names of a simulated Internet: synthetic, or those of a capture.

They are kept in columns (`_core.AskedQueries`), as a minute of the published rates has millions of them.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import dns.exception
import dns.flags
import dns.message

from dnsrig import _core
from dnsrig.capture_losses import lost_of
from dnsrig.errors import InputError
from dnsrig.studies.resolving.room import left_octets
from dnsrig.studies.resolving.streams import DRAWN_AT_ONCE, MISSING_SHARE, OTHER_SEED_STEP, PTR

PORTS = (53,)
"""Ports that a capture's queries went to, unless others are named."""
READABLE = 0.97
"""Share of a capture's messages that surely can be asked: to look at each takes much longer than to count them."""
EXISTING, ADDRESS, MISSING = range(3)
"""Kinds of names, as `_core.StandIns` has them."""
CAPTURED_OCTETS = 150
"""About what a message of a capture takes of this process's memory while its queries are read."""
MESSAGES_KEPT = 1 << 16
"""Of a capture, what was read in them: the same questions come again and again."""

Question = tuple[str, int, int | None, bool]
"""Name, number of the type, EDNS size, DO bit."""


def synthetic(profile: str, rate_qps: float, span_s: float, seed: int) -> _core.AskedQueries:
    """Make traffic by one of `dnsrig traffic`'s profiles."""
    plan = {
        "rate_qps": rate_qps,
        "duration_s": span_s,
        "queries": None,
        "start_ns": 0,
        "seed": seed,
        "format": "text",
        "packets": "queries",
    }
    return _core.AskedQueries.synthesise(profile, json.dumps(plan))


@dataclass(frozen=True, slots=True)
class Captured:
    """The queries of a capture."""

    asked: _core.AskedQueries
    """In the order of their times."""
    left_out: int
    """Messages that are no queries, or cannot be read."""
    lost: dict[str, int]
    """What may have been queries and could not be taken out of the capture, as `lost_of` counts it."""
    cut_packet: int | None
    """The packet that the capture ends in, counted from 1."""

    def as_facts(self) -> dict[str, Any]:
        """Give what a run's manifest has of it."""
        return {
            "queries": len(self.asked),
            "left_out": self.left_out,
            "lost": self.lost,
            "cut_packet": self.cut_packet,
        }


def captured(path: str, span_s: float, ports: Sequence[int] = PORTS) -> Captured:
    """Read the queries that a capture has to these ports.

    What comes later than `span_s` and a moment after its beginning is not read.

    Raises:
        InputError: it holds no query, or more than there is memory for, or is no capture.

    """
    # Messages may stand out of their order.
    stream, summary = _messages(path, span_s + 1, ports)
    found = _core.AskedQueries()
    for index in range(len(stream)):
        question = _question(stream.message(index))
        if question is not None:
            found.push(stream.time_ns(index) or 0, stream.client(index) or 0, *question)
    if not len(found):
        raise InputError(
            f"{path}: the capture holds no query that can be asked: its {len(stream):,} messages cannot be read, or "
            "have no question"
        )
    return Captured(found, len(stream) - len(found), lost_of(summary), summary.get("cut_packet") or None)


def _messages(path: str, span_s: float, ports: Sequence[int]) -> tuple[_core.QueryStream, dict[str, Any]]:
    """Read the beginning of a capture, with times, and its summary.

    Raises:
        InputError: there is no memory for it, or it is no capture.

    """
    most = int(left_octets() / CAPTURED_OCTETS)
    options = {"max_span_ns": round(span_s * 1e9), "max_queries": most + 1, "ports": list(ports)}
    stream, summary = _core.QueryStream.from_capture(path, json.dumps(options))
    if len(stream) > most:
        raise InputError(
            f"{path}: the first {span_s:g} s of the capture have more than {most:,} messages, and there is no memory "
            f"for more: each takes about {CAPTURED_OCTETS} octets while it is read. Take shorter or fewer parts "
            "(--load-seconds, --periods), or a machine with more memory"
        )
    return stream, json.loads(summary)


@lru_cache(MESSAGES_KEPT)
def _question(octets: bytes) -> Question | None:
    """Read what a message asks for; None: it cannot be read, or asks for nothing."""
    try:
        message = dns.message.from_wire(octets, ignore_trailing=True)
    except dns.exception.DNSException:
        # Signed with a key that nobody here has (RFC 8945), of two OPT records, or cut.
        return None
    if not message.question:
        return None
    question = message.question[0]
    size = message.payload if message.edns >= 0 else None
    return question.name.to_text().lower(), question.rdtype, size, bool(message.ednsflags & dns.flags.DO)


@dataclass(frozen=True, slots=True)
class CaptureLength:
    """How much of clients' traffic there is."""

    queries: int
    """Those in the part of it that is wanted."""
    lasting_s: float
    """How long all of it that was read lasts."""
    is_most: bool = False
    """Whether there may be less of it: it is by times of messages alone, some of which cannot be asked."""

    def rate_in(self, span_s: float) -> float:
        """Give the queries per second of its first `span_s`, which is what `queries` are of."""
        return self.queries / min(self.lasting_s, span_s)


def length_at_most(path: str, span_s: float, ports: Sequence[int] = PORTS) -> CaptureLength:
    """Give how much a capture may have in its first `span_s`, by times of messages alone.

    Raises:
        InputError: it holds no query, or all of them have one time, or there is no memory for them, or it is no
            capture.

    """
    # As much as is read to ask them: the first that can be asked need not be the first message.
    stream, _ = _messages(path, span_s + 1, ports)
    fewest = max(2, int(READABLE * len(stream)))
    return CaptureLength(len(stream), lasting_s(_recorded_s(path, stream), fewest), is_most=True)


def rate_of_capture(path: str, span_s: float, ports: Sequence[int] = PORTS) -> int:
    """Give how many queries a second the beginning of a capture surely has, at least 1, by times of messages alone.

    Raises:
        InputError: it holds no query, or all of them have one time, or there is no memory for them, or it is no
            capture.

    """
    stream, _ = _messages(path, span_s, ports)
    length = CaptureLength(len(stream), lasting_s(_recorded_s(path, stream), len(stream)))
    return max(1, int(READABLE * length.rate_in(span_s)))


def _recorded_s(path: str, stream: _core.QueryStream) -> float:
    if not stream.span_ns:
        raise InputError(
            f"{path}: the beginning of the capture has {len(stream)} queries, all at one time: give a longer one, or "
            "cut off what is before a pause (editcap -A)"
        )
    return stream.span_ns / 1e9


def lasting_s(recorded_s: float, queries: int) -> float:
    """Give how long traffic lasts, from the time between its ends: its last query has a pause after it, too."""
    return recorded_s * queries / max(1, queries - 1)


def sampled(asked: _core.AskedQueries, share: float, seed: int) -> bytes:
    """Draw clients to keep, each with all its queries or none, so that hits and bursts stay real (ISC-2022).

    Give an octet for each client, 1 if it is kept.
    """
    draw = random.Random(seed)
    return bytes(draw.random() < share for _ in range(asked.client_count))


def names_on(internet: _core.Internet, asked: _core.AskedQueries, seed: int) -> _core.StandIns:
    """Give each name of traffic a question of an Internet, `name type`, of its own.

    A share of them, drawn name by name, does not exist. Names of addresses become such (RFC 1035 section 3.5), if the
    Internet has any. The others are taken as they are drawn, so that the first ones of the traffic, which are asked
    most, become popular ones.

    Raises:
        InputError: the Internet has too few names.

    """
    draw = random.Random(seed)
    has_addresses = f" {PTR}\n" in internet.questions(DRAWN_AT_ONCE, seed, 0.0)

    def kind(address: int) -> int:
        # It is drawn for addresses, too: another Internet may have none.
        is_missing = draw.random() < MISSING_SHARE
        if address and has_addresses:
            return ADDRESS
        return MISSING if is_missing else EXISTING

    return _core.StandIns.draw(
        internet,
        bytes(map(kind, asked.addresses())),
        batch=DRAWN_AT_ONCE,
        seed=seed,
        missing_seed=seed + OTHER_SEED_STEP,
    )


@dataclass(frozen=True, slots=True)
class Part:
    """A part of traffic, with an Internet's names."""

    asked: _core.AskedQueries
    names: _core.StandIns
    """Of the Internet, as `names_on` gives them."""
    begin_s: float
    """In seconds after the first query of the traffic."""
    end_s: float
    kept: bytes | None = None
    """Clients, as `sampled` gives them; None: all."""

    def write(self, path: Path) -> None:
        """Write its queries, with times that count from its beginning.

        Raises:
            InputError: there is no query in it.

        """
        start_ns, end_ns = (round(time_s * 1e9) for time_s in (self.begin_s, self.end_s))
        if not self.asked.write_text(path, self.names, start_ns=start_ns, end_ns=end_ns, kept=self.kept):
            raise InputError(
                f"the traffic has no query from {self.begin_s:g} to {self.end_s:g} s: take fewer --periods, or a "
                "higher --rate, or a capture without a pause"
            )

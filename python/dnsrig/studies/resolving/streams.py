"""Queries of clients for names of a simulated Internet: with and without times, with a set share of cache hits."""

import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dns.flags
import dns.message
import dns.rdatatype

from dnsrig import _core
from dnsrig.errors import InputError
from dnsrig.runs.folder import RunFolder

EDNS_SIZE = 1232
"""What stub resolvers and forwarders offer since DNS flag day 2020."""
MISSING_SHARE = 0.1
"""Share of names that do not exist; of the published capture it is not known."""
DRAWN_AT_ONCE = 200_000
MOST_DRAWS = 40
"""Batches without which an Internet is too small for as many different names as are wanted."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
KEPT_TYPES = frozenset({"A", "AAAA", "HTTPS"})
"""Types for which a name of a capture is asked again by other clients, with the Internet's name in its place."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of a capture, or of synthetic traffic: when in seconds, by whom, for what."""

    time_s: float
    client: str
    name: str
    rtype: str
    options: str = ""


def write_stream(
    run: RunFolder, name: str, lines: Iterable[str], *, do_bit: bool = False, edns: bool = True
) -> _core.QueryStream:
    """Keep a stream's queries, a line each, among the run's inputs, and give the stream.

    A run that is resumed reads what it has.
    """
    path = run.path / "inputs" / f"{name}.txt"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        with path.open("w", encoding="ascii") as file:
            file.writelines(f"{line}\n" for line in lines)
        run.add_input(path)
    message = {"edns_size": EDNS_SIZE, "do_bit": do_bit} if edns else {}
    return _core.QueryStream.from_text(path, message=json.dumps(message))[0]


def questions(internet: _core.Internet, seed: int, missing_share: float = MISSING_SHARE) -> Iterator[str]:
    """Give questions that clients would ask, `name type`, as popular as the Internet has them, without end."""
    batch = 0
    while True:
        yield from internet.questions(DRAWN_AT_ONCE, seed + batch, missing_share).splitlines()
        batch += 1


def distinct(internet: _core.Internet, seed: int, count: int, missing_share: float = 0.0) -> list[str]:
    """Give so many different questions.

    Raises:
        InputError: the Internet has too few domains for them.

    """
    found: dict[str, None] = {}
    for batch in range(MOST_DRAWS):
        for line in internet.questions(DRAWN_AT_ONCE, seed + batch, missing_share).splitlines():
            found.setdefault(line)
            if len(found) == count:
                return list(found)
    raise InputError(
        f"the Internet has too few names for {count:,} different questions; take more --domains, or shorter loads"
    )


def with_hits(hot: Sequence[str], fresh: Sequence[str], hit_share: float, count: int, seed: int) -> Iterator[str]:
    """Mix questions that a warm resolver knows with new ones, each of which is asked once.

    Args:
        hot: questions that it has been asked before.
        fresh: new ones; as many as the share that misses takes.
        hit_share: share of `hot`.
        count: how many in all.
        seed: of which is which.

    """
    draw = random.Random(seed)
    new = iter(fresh)
    for _ in range(count):
        yield draw.choice(hot) if draw.random() < hit_share else next(new)


def missing_below(domain: str, count: int, seed: int) -> Iterator[str]:
    """Ask for names below a domain that do not exist, each different and made at random."""
    draw = random.Random(seed)
    for number in range(count):
        yield f"{''.join(draw.choices(LETTERS, k=9))}{number}.{domain} A"


def sampled(queries: Iterable[Asked], share: float, seed: int) -> list[Asked]:
    """Keep a share of the clients, each with all its queries or none, so that hits and bursts stay real (ISC-2022)."""
    drawn: dict[str, bool] = {}
    draw = random.Random(seed)
    kept = []
    for query in queries:
        if query.client not in drawn:
            drawn[query.client] = draw.random() < share
        if drawn[query.client]:
            kept.append(query)
    return kept


def on_internet(queries: Sequence[Asked], internet: _core.Internet, seed: int) -> Iterator[str]:
    """Put names of an Internet in the place of a capture's: each of its names becomes one of them, always the same.

    Times, clients and how often each name comes stay; the Internet's names are taken as they are drawn, so that the
    first ones, which are asked most, are its popular ones.
    """
    drawn = _different(questions(internet, seed))
    names: dict[str, str] = {}
    first = queries[0].time_s if queries else 0.0
    for query in queries:
        if query.name not in names:
            names[query.name] = next(drawn)
        name, _, rtype = names[query.name].partition(" ")
        rtype = query.rtype if query.rtype in KEPT_TYPES else rtype
        yield f"{name} {rtype} {query.options}time={query.time_s - first:.9f} client={query.client}"


def _different(lines: Iterable[str]) -> Iterator[str]:
    """Leave out questions for names that came before."""
    seen: set[str] = set()
    for line in lines:
        name = line.partition(" ")[0]
        if name not in seen:
            seen.add(name)
            yield line


def synthetic(profile: str, rate_qps: float, span_s: float, seed: int) -> list[Asked]:
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
    with tempfile.TemporaryDirectory(prefix="dnsrig-") as folder:
        path = Path(folder) / "traffic.txt"
        _core.traffic_synthesise(profile, json.dumps(plan), path)
        with path.open(encoding="ascii") as file:
            return [_read(line) for line in file if not line.startswith((";", "#"))]


def _read(line: str) -> Asked:
    name, rtype, *options = line.split()
    values = dict(option.split("=", 1) for option in options)
    edns = "".join(f"{key}={values[key]} " for key in ("edns", "do") if key in values)
    return Asked(float(values["time"]), values["client"], name, rtype, edns)


def captured(path: str) -> list[Asked]:
    """Read the queries of a capture.

    Raises:
        InputError: it holds none, or is no capture.

    """
    stream, _ = _core.QueryStream.from_capture(path)
    found = []
    for index in range(len(stream)):
        message = dns.message.from_wire(stream.message(index), ignore_trailing=True)
        if message.question:
            question = message.question[0]
            rtype = dns.rdatatype.to_text(question.rdtype)
            edns = f"edns={message.payload} " if message.edns >= 0 else ""
            edns += "do=1 " if message.ednsflags & dns.flags.DO else ""
            name = question.name.to_text().lower()
            found.append(Asked((stream.time_ns(index) or 0) / 1e9, str(stream.client(index)), name, rtype, edns))
    if not found:
        raise InputError(f"{path}: the capture holds no query")
    return found


def split(lines: Iterable[str], part_s: float, parts: int) -> list[list[str]]:
    """Cut the lines of a timed stream into parts of equal length, each of which begins at time 0."""
    found: list[list[str]] = [[] for _ in range(parts)]
    for line in lines:
        head, _, rest = line.partition("time=")
        time_text, _, client = rest.partition(" ")
        part = int(float(time_text) // part_s)
        if part < parts:
            found[part].append(f"{head}time={float(time_text) - part * part_s:.9f} {client}")
    return found

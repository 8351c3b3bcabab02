"""Queries of clients for names of a simulated Internet: with and without times, with a set share of cache hits."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.rdatatype

from dnsrig import _core
from dnsrig.errors import InputError
from dnsrig.runs.folder import RunFolder
from dnsrig.runs.writing import write_whole
from dnsrig.scratch import scratch_folder

EDNS_SIZE = 1232
"""What stub resolvers and forwarders offer since DNS flag day 2020."""
MISSING_SHARE = 0.1
"""Share of names that do not exist; of the published capture it is not known."""
READABLE = 0.97
"""Share of a capture's messages that surely can be asked: to look at each takes much longer than to count them."""
DRAWN_AT_ONCE = 200_000
MOST_DRAWS = 40
"""Batches without which an Internet is too small for as many different names as are wanted."""
OTHER_SEED_STEP = 1 << 32
"""Between the seeds of draws that have nothing in common: each batch of a draw has a seed of its own, one more."""
MOST_QUERIES = 20_000_000
QUERY_OCTETS = 500
"""About what a query of a stream takes of this process's memory while the stream is made."""
PTR = "PTR"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CERTAIN_HOSTS = frozenset({"", "www"})
"""What every domain has of the hosts that the Internet's clients ask for: itself, and www."""
RENAMED = "old"
"""Domain below a domain that only those have that were renamed (DNAME)."""
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
        write_whole(path, lambda partial: _write_lines(partial, lines))
    # Also one that was there: the run may have been broken off in between.
    run.add_input(path)
    message = {"edns_size": EDNS_SIZE, "do_bit": do_bit} if edns else {}
    return _core.QueryStream.from_text(path, message=json.dumps(message))[0]


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)


def questions_of(stream: _core.QueryStream) -> list[str]:
    """Give the questions of a stream, `name type`, in its order."""
    asked = (dns.message.from_wire(stream.message(index)).question[0] for index in range(len(stream)))
    return [f"{question.name} {dns.rdatatype.to_text(question.rdtype)}" for question in asked]


def refuse_too_many(queries: float, what: str) -> None:
    """Raise InputError for more queries than fit into this process's memory; `what` says what makes them so many."""
    if queries > MOST_QUERIES:
        raise InputError(
            f"{what} make {queries:,.0f} queries, for which about {queries * QUERY_OCTETS / 1e9:,.0f} GB of memory "
            f"are needed: {MOST_QUERIES:,} are allowed; take fewer"
        )


def questions(internet: _core.Internet, seed: int, missing_share: float = MISSING_SHARE) -> Iterator[str]:
    """Give questions that clients would ask, `name type`, as popular as the Internet has them, without end."""
    batch = 0
    while True:
        yield from internet.questions(DRAWN_AT_ONCE, seed + batch, missing_share).splitlines()
        batch += 1


def distinct(internet: _core.Internet, seed: int, count: int, missing_share: float = 0.0) -> list[str]:
    """Give so many different questions; with no share of missing ones, for names that exist.

    Raises:
        InputError: the Internet has too few domains for them, or clients ask for no hosts that every domain has.

    """
    hosts = set(internet.hosts)
    if not missing_share and hosts.isdisjoint(CERTAIN_HOSTS):
        raise InputError(
            f"clients.hosts of the Internet's profile has {', '.join(sorted(hosts))}: which domains have these is not "
            'known; add "www", or "" for domains themselves'
        )
    uncertain = tuple(f"{host}." for host in hosts - CERTAIN_HOSTS)
    found: dict[str, None] = {}
    for batch in range(MOST_DRAWS):
        for line in internet.questions(DRAWN_AT_ONCE, seed + batch, missing_share).splitlines():
            if not missing_share and not _exists(line, uncertain):
                continue
            found.setdefault(line)
            if len(found) == count:
                return list(found)
    raise InputError(
        f"the Internet has too few names for {count:,} different questions; take more --domains, or shorter loads"
    )


def _exists(line: str, uncertain: tuple[str, ...]) -> bool:
    """Say whether the name of a question that the Internet has drawn exists for certain: with no such host in front."""
    # Half of the addresses that are asked for are any, and few of these have names.
    return not line.endswith(f" {PTR}") and not line.startswith(uncertain) and line.split(".")[1] != RENAMED


def with_hits(hot: Sequence[str], fresh: Sequence[str], hit_share: float, count: int, seed: int) -> Iterator[str]:
    """Mix questions that a warm resolver knows with new ones, each of which is asked once.

    Args:
        hot: questions that it has been asked before.
        fresh: new ones; `misses` says how many it takes.
        hit_share: share of `hot`.
        count: how many in all.
        seed: of which is which.

    """
    draw = random.Random(seed)
    new = iter(fresh)
    places = set(draw.sample(range(count), misses(count, hit_share)))
    for place in range(count):
        yield next(new) if place in places else draw.choice(hot)


def misses(count: int, hit_share: float) -> int:
    """Give how many of so many questions are new ones."""
    return round(count * (1 - hit_share))


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


def names_on(internet: _core.Internet, queries: Iterable[Asked], seed: int) -> dict[str, str]:
    """Give each name of a capture a question of an Internet, `name type`, of its own.

    A share of them, drawn name by name, does not exist. Names of addresses become such (RFC 1035 section 3.5), if the
    Internet has any. The others are taken as they are drawn, so that the first ones of a capture, which are asked
    most, become popular ones.

    Raises:
        InputError: the Internet has too few names.

    """
    draw = random.Random(seed)
    has_addresses = f" {PTR}\n" in internet.questions(DRAWN_AT_ONCE, seed, 0.0)
    kinds: dict[str, str] = {}
    for query in queries:
        if query.name not in kinds:
            kind = "missing" if draw.random() < MISSING_SHARE else "existing"
            is_address = has_addresses and query.name.endswith(".arpa.")
            kinds[query.name] = "address" if is_address else kind
    wanted = Counter(kinds.values())
    existing, addresses = _drawn(internet, seed, 0.0, (wanted["existing"], wanted["address"]))
    missing, _ = _drawn(internet, seed + OTHER_SEED_STEP, 1.0, (wanted["missing"], 0))
    drawn = {"existing": iter(existing), "address": iter(addresses), "missing": iter(missing)}
    return {name: next(drawn[kind]) for name, kind in kinds.items()}


def _drawn(
    internet: _core.Internet, seed: int, missing_share: float, wanted: tuple[int, int]
) -> tuple[list[str], list[str]]:
    """Draw questions for different names: so many of names, and so many of addresses (PTR)."""
    found: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for batch in range(MOST_DRAWS):
        if all(len(some) >= count for some, count in zip(found, wanted, strict=True)):
            break
        for line in internet.questions(DRAWN_AT_ONCE, seed + batch, missing_share).splitlines():
            name, _, rtype = line.partition(" ")
            found[rtype == PTR].setdefault(name, line)
    for some, count, what in zip(found, wanted, ("names", "addresses with names"), strict=True):
        if len(some) < count:
            raise InputError(
                f"the Internet has too few {what} for the {count:,} of the traffic: take more --domains, or shorter "
                "loads, or lower rates"
            )
    return list(found[False].values()), list(found[True].values())


def on_internet(queries: Sequence[Asked], names: Mapping[str, str], first_s: float) -> Iterator[str]:
    """Put names of an Internet in the place of a capture's, as `names_on` has them.

    Clients, times (counted from `first_s` on) and how often each name comes stay.
    """
    for query in queries:
        name, _, rtype = names[query.name].partition(" ")
        rtype = query.rtype if query.rtype in KEPT_TYPES else rtype
        yield f"{name} {rtype} {query.options}time={query.time_s - first_s:.9f} client={query.client}"


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
    with scratch_folder() as folder:
        path = folder / "traffic.txt"
        _core.traffic_synthesise(profile, json.dumps(plan), path)
        with path.open(encoding="ascii") as file:
            return [_read(line) for line in file if not line.startswith((";", "#"))]


def _read(line: str) -> Asked:
    name, rtype, *options = line.split()
    values = dict(option.split("=", 1) for option in options)
    edns = "".join(f"{key}={values[key]} " for key in ("edns", "do") if key in values)
    return Asked(float(values["time"]), values["client"], name, rtype, edns)


def captured(path: str, span_s: float) -> tuple[list[Asked], int]:
    """Read the queries of a capture, in the order of their times; count messages that are none or cannot be read.

    What comes later than `span_s` and a moment after its beginning is not read.

    Raises:
        InputError: it holds no query, or too many, or is no capture.

    """
    # Messages may stand out of their order.
    options = {"max_span_ns": round((span_s + 1) * 1e9)}
    stream, _ = _core.QueryStream.from_capture(path, json.dumps(options))
    refuse_too_many(len(stream), f"{path}: the messages of the capture")
    found = []
    for index in range(len(stream)):
        try:
            message = dns.message.from_wire(stream.message(index), ignore_trailing=True)
        except dns.exception.DNSException:
            # Signed with a key that nobody here has (RFC 8945), of two OPT records, or cut.
            continue
        if message.question:
            question = message.question[0]
            rtype = dns.rdatatype.to_text(question.rdtype)
            edns = f"edns={message.payload} " if message.edns >= 0 else ""
            edns += "do=1 " if message.ednsflags & dns.flags.DO else ""
            name = question.name.to_text().lower()
            found.append(Asked((stream.time_ns(index) or 0) / 1e9, str(stream.client(index)), name, rtype, edns))
    if not found:
        raise InputError(f"{path}: the capture holds no query")
    return sorted(found, key=lambda query: query.time_s), len(stream) - len(found)


def rate_of_capture(path: str, span_s: float) -> int:
    """Give how many queries a second the beginning of a capture surely has, at least 1, by times of messages alone.

    Raises:
        InputError: it holds no query, or all of them have one time, or it is no capture.

    """
    stream, _ = _core.QueryStream.from_capture(path, json.dumps({"max_span_ns": round(span_s * 1e9)}))
    times_ns = [stream.time_ns(index) or 0 for index in range(len(stream))]
    recorded_s = (max(times_ns, default=0) - min(times_ns, default=0)) / 1e9
    if not recorded_s:
        raise InputError(f"{path}: the capture has {len(times_ns)} queries, all at one time: give a longer one")
    return max(1, int(READABLE * len(times_ns) / min(lasting_s(recorded_s, len(times_ns)), span_s)))


def lasting_s(recorded_s: float, queries: int) -> float:
    """Give how long traffic lasts, from the time between its ends: its last query has a pause after it, too."""
    return recorded_s * queries / max(1, queries - 1)


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

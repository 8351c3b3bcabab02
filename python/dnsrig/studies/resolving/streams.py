"""Queries of clients for names of a simulated Internet: kept among a run's inputs, and with a set share of cache hits.

Those with times and clients are made in `clients`.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import dns.message
import dns.rdatatype

from dnsrig import _core
from dnsrig.errors import InputError
from dnsrig.runs.folder import RunFolder
from dnsrig.runs.writing import write_whole

EDNS_SIZE = 1232
"""What stub resolvers and forwarders offer since DNS flag day 2020."""
MISSING_SHARE = 0.1
"""Share of names that do not exist; of the published capture it is not known."""
DRAWN_AT_ONCE = 200_000
MOST_DRAWS = 40
"""Batches without which an Internet is too small for as many different names as are wanted."""
OTHER_SEED_STEP = 1 << 32
"""Between the seeds of draws that have nothing in common: each batch of a draw has a seed of its own, one more."""
PTR = "PTR"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CERTAIN_HOSTS = frozenset({"", "www"})
"""What every domain has of the hosts that the Internet's clients ask for: itself, and www."""
RENAMED = "old"
"""Domain below a domain that only those have that were renamed (DNAME)."""


def write_stream(
    run: RunFolder, name: str, lines: Iterable[str], *, do_bit: bool = False, edns: bool = True
) -> _core.QueryStream:
    """Keep a stream's queries, a line each, among the run's inputs, and give the stream.

    A run that is resumed reads what it has.
    """
    keep_queries(run, name, lambda partial: _write_lines(partial, lines))
    return read_stream(run, name, do_bit=do_bit, edns=edns)


def keep_queries(run: RunFolder, name: str, write: Callable[[Path], None]) -> None:
    """Have `write` fill the file of a stream's queries among the run's inputs, unless it is there already."""
    path = _path(run, name)
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        write_whole(path, write)
    note_queries(run, name)


def has_queries(run: RunFolder, name: str) -> bool:
    """Say whether a stream's queries are among the run's inputs already."""
    return _path(run, name).exists()


def note_queries(run: RunFolder, name: str) -> None:
    """Note a stream's queries in the manifest, also old ones: the run may have been broken off in between."""
    run.add_input(_path(run, name))


def read_stream(run: RunFolder, name: str, *, do_bit: bool = False, edns: bool = True) -> _core.QueryStream:
    """Give the stream whose queries are among the run's inputs.

    Args:
        run: has the inputs.
        name: of the stream.
        do_bit: whether queries that say nothing of it ask for DNSSEC's records.
        edns: whether those that say nothing of EDNS have it.

    """
    message = {"edns_size": EDNS_SIZE, "do_bit": do_bit} if edns else {}
    return _core.QueryStream.from_text(_path(run, name), message=json.dumps(message))[0]


def read_shared_stream(run: RunFolder, name: str, most_clients: int) -> tuple[_core.QueryStream, bool]:
    """Give a stream without EDNS of its own, in which so many clients ask for all, and whether there are more."""
    stream, summary = _core.QueryStream.from_text(_path(run, name), most_clients=most_clients)
    return stream, json.loads(summary)["clients"] > most_clients


def _path(run: RunFolder, name: str) -> Path:
    return run.path / "inputs" / f"{name}.txt"


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)


def questions_of(stream: _core.QueryStream) -> list[str]:
    """Give the questions of a stream, `name type`, in its order."""
    asked = (dns.message.from_wire(stream.message(index)).question[0] for index in range(len(stream)))
    return [f"{question.name} {dns.rdatatype.to_text(question.rdtype)}" for question in asked]


def questions(internet: _core.Internet, seed: int, missing_share: float = MISSING_SHARE) -> Iterator[str]:
    """Give questions that clients would ask, `name type`, as popular as the Internet has them, without end."""
    batch = 0
    while True:
        yield from internet.questions(DRAWN_AT_ONCE, seed + batch, missing_share).splitlines()
        batch += 1


def distinct(
    internet: _core.Internet, seed: int, count: int, missing_share: float = 0.0, *, least: int | None = None
) -> list[str]:
    """Give so many different questions; with no share of missing ones, for names that exist.

    With `least`, so many suffice where the Internet has no more.

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
    if least is not None and len(found) >= least:
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

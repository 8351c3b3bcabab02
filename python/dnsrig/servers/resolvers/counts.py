"""What a resolver counts itself, in the words of each kind, brought to the same terms."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dnsrig.errors import SubjectFailedError

KNOT_QUESTION = (
    "tojson((function() local said = stats.list(); for name, value in pairs(cache.stats()) do said[name] = value end; "
    "said.size = cache.current_size; return said end)())"
)
"""For kresd's control channel: what it counts, what its cache holds, and the cache's size in octets."""


@dataclass(frozen=True, slots=True)
class ResolverCounts:
    """Counters of a resolver since its start, and what its cache holds now."""

    queries: int
    """Queries of clients."""
    cache_hits: int
    """Those that were answered from a cache, without a query to any server."""
    cache_octets: int | None
    """Memory that its caches of records and messages take, by its own account; None: it does not say."""
    cache_entries: int | None
    """RRsets, or whatever it counts, in its cache; None: it does not say."""

    def hit_share_since(self, before: "ResolverCounts") -> float | None:
        """Give the share of cache hits of the queries since an earlier time; None without any."""
        queries = self.queries - before.queries
        return (self.cache_hits - before.cache_hits) / queries if queries > 0 else None


def read_unbound(text: str) -> ResolverCounts:
    """Read what `unbound-control stats_noreset` says (unbound-control(8)).

    What it denies from NSEC records that it knows (RFC 8198) it counts as misses, and apart as aggressive answers. It
    makes such also for queries of its own, so there may be more of them than misses.
    """
    found = _pairs(text, "=")
    queries = _whole(found, "total.num.queries")
    denied = sum(int(value) for name, value in found.items() if name.startswith("num.query.aggressive."))
    return ResolverCounts(
        queries=queries,
        cache_hits=min(queries, _whole(found, "total.num.cachehits") + denied),
        cache_octets=_whole(found, "mem.cache.rrset") + _whole(found, "mem.cache.message"),
        cache_entries=_whole(found, "rrset.cache.count"),
    )


def read_powerdns(text: str, octets: str) -> ResolverCounts:
    """Read what `rec_control get-all` says; answers of the packet cache are not among `cache-hits`.

    `octets` is what `rec_control get` says of the memory of each cache, a line each: they are not in `get-all`, as it
    takes a look at each entry to tell them. A version that does not know one says UNKNOWN.
    """
    found = _pairs(text, "\t")
    return ResolverCounts(
        queries=_whole(found, "questions"),
        cache_hits=_whole(found, "cache-hits") + _whole(found, "packetcache-hits"),
        cache_octets=_sum(octets.split()),
        cache_entries=_whole(found, "cache-entries") + _whole(found, "packetcache-entries"),
    )


def read_knot(text: str) -> ResolverCounts:
    """Read what kresd's control channel says to `KNOT_QUESTION`: its prompts, and JSON in quotes."""
    try:
        said = json.loads(text.strip("> \n'"))
        return ResolverCounts(
            # Its own are counted when they begin: answers less these are too few while one is under way.
            queries=int(said["request.total"]) - int(said["request.internal"]),
            cache_hits=int(said["answer.cached"]),
            cache_octets=round(said["size"] * said["usage_percent"] / 100),
            cache_entries=int(said["count_entries"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise SubjectFailedError(f"kresd's statistics cannot be read ({error}): {text[:200]!r}") from error


def together(processes: Sequence[ResolverCounts]) -> ResolverCounts:
    """Add what the processes of one resolver count; the cache that they share is as the first one says."""
    return replace(
        processes[0],
        queries=sum(counts.queries for counts in processes),
        cache_hits=sum(counts.cache_hits for counts in processes),
    )


def read_bind(text: str) -> ResolverCounts:
    """Read the last statistics in the file that `rndc stats` appends to."""
    last = text.rpartition("+++ Statistics Dump +++")[2]
    requests = _section(last, "Incoming Requests")
    server = _section(last, "Name Server Statistics")
    cache = _section(last, "Cache Statistics")
    entries = [int(line.split()[0]) for line in _lines(last, "Cache DB RRsets")]
    # Its own `cache hits (from query)` counts look-ups, of which a query can make several.
    octets = [
        count for name, count in cache.items() if name in {"cache tree memory in use", "cache heap memory in use"}
    ]
    return ResolverCounts(
        queries=requests.get("QUERY", 0),
        cache_hits=requests.get("QUERY", 0) - server.get("queries caused recursion", 0),
        cache_octets=sum(octets) if octets else None,
        cache_entries=sum(entries),
    )


def _section(text: str, title: str) -> dict[str, int]:
    """Read the lines `number name` of a section of BIND's statistics."""
    found: dict[str, int] = {}
    for line in _lines(text, title):
        number, _, name = line.partition(" ")
        found[name] = found.get(name, 0) + int(number)
    return found


def _lines(text: str, title: str) -> list[str]:
    section = re.search(rf"^\+\+ {title} \+\+$(.*?)(?=^\+\+ |^--- |\Z)", text, re.MULTILINE | re.DOTALL)
    if section is None:
        raise SubjectFailedError(f"BIND's statistics have no section {title}")
    return [line.strip() for line in section[1].splitlines() if re.match(r"\s+\d+ ", line)]


def _pairs(text: str, separator: str) -> dict[str, str]:
    parts = (line.partition(separator) for line in text.splitlines())
    return {name.strip(): value.strip() for name, found, value in parts if found}


def _sum(numbers: Sequence[str]) -> int | None:
    """Add numbers; None if there are none, or one is not."""
    return sum(map(int, numbers)) if numbers and all(number.isdecimal() for number in numbers) else None


def _whole(found: Mapping[str, str | int], name: str) -> int:
    if name not in found:
        raise SubjectFailedError(f"the resolver's statistics do not have {name}")
    return int(found[name])

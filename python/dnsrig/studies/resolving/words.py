"""Sentences that the studies of resolvers share in their reports."""

from dnsrig.servers.resolvers import knot_resolver
from dnsrig.studies.resolving.memory import MADE_TOLERATED, SHARE_OF_FREE
from dnsrig.studies.resolving.settings import MIB, ResolverStudySettings
from dnsrig.studies.wording import repetitions
from dnsrig.wording import counted


def internet(settings: ResolverStudySettings) -> str:
    """Say what the resolver resolves against."""
    domains = f" with {settings.domains:,} second-level domains" if settings.domains is not None else ""
    distances = (
        "Its servers are in the mean as far away as the profile says (a single answer up to 4 ms or a fifth of its way "
        "less or more), and lose as many packets"
        if settings.distances
        else "Its servers answer each query as soon as they have read it, and lose nothing (--distances changes that); "
        "latencies of cache misses are shorter than on the Internet"
    )
    packets = (
        " Answers of up to 1,232 octets over UDP are written as whole packets, where the system permits it, and reach "
        "the resolver as if from a network card; the system sends others."
        if settings.whole_packets
        else ""
    )
    asked = (
        "all resolvers, validating and not as they are measured, are asked each stream once (those that answer fewer "
        "queries a second not to its end)"
        if settings.rehearses_each
        else "a validating resolver is asked each stream once"
    )
    return (
        f"The resolver asks a simulated Internet of the profile {settings.profile}{domains}: one process answers for "
        "all servers of a hierarchy that follows from the seed, signed as the profile says. "
        f"{distances}.{packets} Before anything is measured, {asked}, so that zones, signatures and answers are there "
        "already, as far as the Internet's memory reaches "
        f"({_memory(settings)}). A load in which it makes zones or signatures for more than "
        f"{MADE_TOLERATED * 100:g} % of what it is asked is marked: there making them is waited for."
    )


def _memory(settings: ResolverStudySettings) -> str:
    if settings.internet_memory_mib is None:
        return f"{SHARE_OF_FREE * 100:g} % of what the machine has free, for all Internets of a run"
    return f"{settings.internet_memory_mib:,} MiB"


def resolver(settings: ResolverStudySettings, cached: str) -> str:
    """Say how the resolver runs and what is read from it; `cached` says what its cache holds when a load begins."""
    cache = "its cache as it ships" if settings.cache_mib is None else f"a cache of {settings.cache_mib:,} MiB"
    if settings.memory_limit_mib is not None:
        cache += (
            f", at most {settings.memory_limit_mib:,} MiB of memory of its own (RLIMIT_DATA, which counts what an "
            "allocator reserves, used or not)"
        )
    limit = ""
    if settings.upstream_queries is not None and "bind" in settings.servers:
        limit = (
            f" BIND may send {settings.upstream_queries} queries for one of a client's (max-recursion-queries): the 50 "
            "that it ships with do not suffice while its cache is empty, and it answers SERVFAIL."
        )
    offered = "" if settings.udp_size is None else f", offers to take {settings.udp_size:,} octets by UDP (EDNS)"
    threads = counted(settings.server_threads, "thread")
    if settings.server_threads > 1 and knot_resolver.KnotResolver.name in settings.servers:
        threads += " (Knot Resolver: processes, which share a cache)"
    return (
        "Clients, resolver and Internet are in a network namespace each, with links of 1500 octets between them. The "
        f"resolver has {threads}, {cache}, prefetch "
        f"{'on' if settings.prefetch else 'off'}, serve-stale "
        f"{'on' if settings.serve_stale else 'off'}{offered}, and processors of its own where the machine has two or "
        f"more. It is started anew for every load; when that begins, its cache holds {cached}.{limit} CPU time is read "
        "from the kernel at both ends of the load; cache hits and the size of the cache are the resolver's own counts; "
        "sockets, octets and packets are those of its namespace; upstream queries are the Internet's account."
    )


def closed_loop(settings: ResolverStudySettings) -> str:
    """Say how the load is sent."""
    gathers_us = settings.loop_gathers_us
    gathered = (
        f" While it lasts, the Internet reads queries over UDP that come close together {gathers_us / 1000:g} ms later "
        "at most, to answer them at once: a cache miss that takes several, one after the other, waits as often, while "
        "others are under way."
        if gathers_us
        else ""
    )
    return (
        f"Each load is a closed loop over UDP: {settings.outstanding} queries outstanding from "
        f"{counted(settings.clients, 'socket')}, for {settings.load_s:g} s; a truncated answer is asked for again "
        f"over TCP, by a connection that is closed afterwards.{gathered}"
    )


def order(settings: ResolverStudySettings) -> str:
    """Say how often and in which order the cases are measured."""
    return repetitions(settings).replace(
        "In each repetition a server is started once with each of its configurations, and the cases of that "
        "configuration follow one another, beginning with another one each time. The order of the configurations",
        "The order of the cases",
    )


def limits(settings: ResolverStudySettings) -> tuple[str, ...]:
    """Say what such a run cannot tell."""
    found = [
        "The Internet is simulated: shares of signed zones, hosting, TTLs and popularity are those of a profile, "
        "most of "
        "them estimates (dnsrig internet profile NAME names their sources).",
        "Clients, resolver and Internet share one machine and its memory bandwidth; packets pass virtual links, not "
        "network cards. Compare cases, not absolute rates.",
        "The CPU time of the simulated Internet stands beside the resolver's (\"CPU of the simulated Internet / of the "
        'resolver"); a fifth is aimed at. Where it is more, mostly where few queries are answered from the cache at a '
        "low rate, it is what the machine takes to send and to receive a packet that comes by itself. It is on other "
        "processors than the resolver's, and the same in the cases that are compared.",
    ]
    if not settings.distances:
        found.append(
            "Without distances a cache miss takes as long as its work does, that of the simulated Internet "
            "included, which answers queries one after another. Fewer resolutions are under way at the same time than "
            "on the Internet, and memory for them and sockets in use are less."
        )
    else:
        found.append(
            "Answers that are due at about the same time reach the resolver together, up to 4 ms away from the next "
            "ones: where few queries come, it is woken less often than on the Internet, and takes less CPU time for a "
            "query."
        )
    if "unbound" in settings.servers:
        found.append(
            "Unbound gives no answer at all where it took longer than 1.9 s (discard-timeout; from 1.21 on, and in "
            "Debian's 1.17.1): these queries time out, and its latencies end there."
        )
    if "unbound" in settings.servers and settings.cache_octets is None:
        found.append(
            'Unbound ships with 4 MiB for records and 4 MiB for messages: where "Cache, by its own account" is about '
            "8 MiB, it is full, and records are dropped to make room. BIND may take most of the machine's memory, Knot "
            "Resolver 100 MiB, PowerDNS Recursor a million entries; --cache-mib gives all the same."
        )
    if settings.memory_limit_mib is not None and knot_resolver.KnotResolver.name in settings.servers:
        found.append(_outside_limit(settings.memory_limit_mib, settings.cache_octets))
    return tuple(found)


def _outside_limit(limit_mib: int, cache_octets: int | None) -> str:
    """Say that the limit of memory leaves Knot Resolver's cache out, and what that adds."""
    octets = cache_octets or knot_resolver.CACHE_OCTETS
    most = f"up to {octets / MIB:,.0f} MiB"
    more = " and more than the limit itself" if octets > limit_mib * MIB else ""
    return (
        f"Knot Resolver's cache ({most}{more}) is a file that it maps, which the limit of {limit_mib:,} MiB does not "
        "count: under the limit it is not to be compared with resolvers whose cache is in their own memory."
    )

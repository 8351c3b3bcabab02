"""Sentences that the studies of resolvers share in their reports."""

from dnsrig.studies.resolving.settings import ResolverStudySettings
from dnsrig.studies.wording import repetitions
from dnsrig.wording import counted


def internet(settings: ResolverStudySettings) -> str:
    """Say what the resolver resolves against."""
    domains = f" with {settings.domains:,} second-level domains" if settings.domains is not None else ""
    distances = (
        "Its servers are as far away as the profile says, and lose as many packets"
        if settings.distances
        else "Its servers answer at once and lose nothing (--distances changes that), so that the resolver's own work "
        "shows; latencies of cache misses are shorter than on the Internet"
    )
    return (
        f"The resolver asks a simulated Internet of the profile {settings.profile}{domains}: one process answers "
        "for all "
        f"servers of a hierarchy that follows from the seed, signed as the profile says. {distances}. Before anything "
        "is measured, a validating resolver is asked each stream once, so that zones and signatures are there already "
        "and making them is not what is waited for."
    )


def resolver(settings: ResolverStudySettings, cached: str) -> str:
    """Say how the resolver runs and what is read from it; `cached` says what its cache holds when a load begins."""
    cache = "its cache as it ships" if settings.cache_mib is None else f"a cache of {settings.cache_mib:,} MiB"
    if settings.memory_limit_mib is not None:
        cache += f", at most {settings.memory_limit_mib:,} MiB of memory of its own (RLIMIT_DATA)"
    return (
        "Clients, resolver and Internet are in a network namespace each, with links of 1500 octets between them. The "
        f"resolver has {counted(settings.server_threads, 'thread')}, {cache}, prefetch "
        f"{'on' if settings.prefetch else 'off'}, and processors of its own where the machine has two or more. "
        f"It is started anew for every load; when that begins, its cache holds {cached}. CPU time is read from the "
        "kernel at both ends of the load; cache hits and the size of the cache are the resolver's own counts; sockets, "
        "octets and packets are those of its namespace; upstream queries are the Internet's account."
    )


def closed_loop(settings: ResolverStudySettings) -> str:
    """Say how the load is sent."""
    return (
        f"Each load is a closed loop over UDP: {settings.outstanding} queries outstanding from "
        f"{counted(settings.clients, 'socket')}, for {settings.load_s:g} s; a truncated answer is asked for again "
        "over TCP."
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
    ]
    if not settings.distances:
        found.append(
            "Without distances a cache miss takes as long as its work does: fewer resolutions are under way at the "
            "same "
            "time than on the Internet, and memory for them and sockets in use are less."
        )
    return tuple(found)

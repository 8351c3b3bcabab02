"""The figures of JPRS-2010's performance cases 1 to 4 (resolvers), and what a run has that is like them."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from dnsrig.report.figures import (
    CACHE_OCTETS,
    COLD_TO_HOT,
    CPU,
    MEMORY_GROWTH,
    QPS,
    RESPONSE_BYTES,
    SERVER_CPU,
    UPSTREAM,
    ratio_text,
)
from dnsrig.report.layout import PublishedClaim
from dnsrig.studies.resolving.published import NEGLIGIBLE, NO_DIFFERENCE, SMALL, near, read_published

FILE = "jprs-2010"
JPRS = "JPRS-2010"
HARDWARE = "absolute rates belong to the hardware of 2010"
Picks = Mapping[str, object]
"""Values that pick a case."""


def case_1(lowest: tuple[Picks, Picks], denied: tuple[Picks, Picks], steady_s: float) -> tuple[PublishedClaim, ...]:
    """Give the claims on rates by cache hits, and on memory.

    Args:
        lowest: at the lowest share of cache hits that was asked for, the case with validation and that without.
        denied: validating at the fixed rate, the case of names that NSEC3 denies and that of names that exist.
        steady_s: how long memory was looked at, in seconds.

    """
    case = read_published(FILE)["case1_resolver"]
    rate, memory = case["qps_ratio_dnssec_on_to_off"], case["memory_growth_ratio_nsec3_nxdomain"]
    return (
        PublishedClaim(
            JPRS,
            ("case1_resolver.qps_ratio_dnssec_on_to_off",),
            "rate with validation to that without",
            ratio_text(rate),
            QPS.key,
            *lowest,
            near(rate),
            above="a resolver keeps what it has validated, so that a miss costs mostly what it costs without",
            below="at this share of cache hits more of the queries are misses, and are validated, than in the query "
            "log of 2010, whose share of hits is not told",
            evidence=(CPU.key, UPSTREAM.key),
        ),
        PublishedClaim(
            JPRS,
            ("case1_resolver.memory_growth_ratio_nsec3_nxdomain",),
            "growth of memory where NSEC3 denies to that where names exist, validating",
            ratio_text(memory),
            MEMORY_GROWTH.key,
            *denied,
            near(memory),
            above="what names that exist take is there before the load begins: the cache is filled with hot names",
            below="today's resolvers bound their caches and keep one NSEC3 record for all names that it denies, zones "
            f"have few iterations (RFC 9276), and this is a load of {steady_s:g} s",
            evidence=(CACHE_OCTETS.key,),
        ),
    )


def case_2(signed: Sequence[tuple[str, Picks, Picks]]) -> tuple[PublishedClaim, ...]:
    """Give the claims on the size of the cache: `signed` are keys in words, with cases signed and unsigned."""
    least = read_published(FILE)["case2_resolver"]["cache_size_ratio_signed_to_unsigned_at_least"]
    key = ("case2_resolver.cache_size_ratio_signed_to_unsigned_at_least",)
    said = f"more than {ratio_text(least)}"
    what = "size of the cache with signed zones to that with unsigned ones"
    claims = [
        PublishedClaim(
            JPRS,
            key,
            f"{what}, {label}",
            said,
            CACHE_OCTETS.key,
            of,
            to,
            (least, None),
            below="an entry of a cache has more than records, which signatures do not enlarge; and of the answers to a "
            "few seconds of queries many are the same delegations",
            evidence=(UPSTREAM.key,),
        )
        for label, of, to in signed
    ]
    if not claims:
        claims = [
            PublishedClaim(JPRS, key, what, said, lacking="unsigned and signed zones were not both asked (--key)")
        ]
    return (
        *claims,
        PublishedClaim(
            JPRS,
            ("case2_resolver.load_difference",),
            "load with signed zones to that with unsigned ones",
            "hidden by cache hits",
            lacking="here no name comes twice, so that cache hits hide nothing; what each cell costs stands in a table",
        ),
    )


def case_3(on: Picks, off: Picks) -> tuple[PublishedClaim, ...]:
    """Give the claims on a cold start: `on` and `off` pick the case without a warm-up with validation and without."""
    found = read_published(FILE)["case3_cold_start"]
    return (
        PublishedClaim(
            JPRS,
            ("case3_cold_start.load_dnssec_on_to_off",),
            "CPU per query with validation to that without, from a cold start on",
            found["load_dnssec_on_to_off"],
            CPU.key,
            on,
            off,
            (1 - NEGLIGIBLE, 1 + SMALL),
            above="more of the domains that are asked for are signed than in 2010, when few were",
            below="the resolver denies from NSEC records that it has validated (RFC 8198), and asks less",
            evidence=(UPSTREAM.key,),
        ),
        PublishedClaim(
            JPRS,
            ("case3_cold_start.load_dnssec_on_to_off_at_full_hits",),
            "the same at 100 % cache hits",
            found["load_dnssec_on_to_off_at_full_hits"],
            lacking="this study's cache is never all there is to ask; resolver-cost measures it (--hit-share 100)",
        ),
        PublishedClaim(
            JPRS,
            ("case3_cold_start.cold_start",),
            "mean latency of the first seconds to that of the end, validating",
            found["cold_start"],
            COLD_TO_HOT.key,
            on,
            taken_as=(1 + NEGLIGIBLE, None),
            below="as many queries at the end of this load as at its beginning are for names that the cache has not",
        ),
        PublishedClaim(
            JPRS,
            ("case3_cold_start.warm_up",),
            "a way to warm up",
            found["warm_up"],
            lacking="it is a wish; what two ways save is told in this report",
        ),
    )


def full_hits(on: Picks, off: Picks) -> PublishedClaim:
    """Give case 3's claim on a full cache: cases of 100 % cache hits with validation and without."""
    said = read_published(FILE)["case3_cold_start"]["load_dnssec_on_to_off_at_full_hits"]
    return PublishedClaim(
        JPRS,
        ("case3_cold_start.load_dnssec_on_to_off_at_full_hits",),
        "extra load of validation at 100 % cache hits (CPU per query, to that without)",
        said,
        CPU.key,
        on,
        off,
        NO_DIFFERENCE,
        above="this resolver does more for an answer from its cache when it validates, such as to see if it is secure",
        below="validating, this resolver finds the answers in a quicker one of its caches",
    )


def case_4(with_do: Picks, plain: Picks) -> tuple[PublishedClaim, ...]:
    """Give the claims on a full cache: the case with DO and that of plain queries, both validating."""
    case = read_published(FILE)["case4_appliance_full_cache"]
    name, octets = "case4_appliance_full_cache", case["response_bytes"]
    rates = fmean(case["qps_plain"]), fmean(case["qps_dnssec"])
    loads = fmean(case["cpu_percent_plain"]), fmean(case["cpu_percent_dnssec"])
    cases = with_do, plain
    return (
        PublishedClaim(
            JPRS,
            (f"{name}.qps_plain", f"{name}.qps_dnssec"),
            "rate with DO to that of plain queries",
            ratio_text(rates[1] / rates[0]),
            QPS.key,
            *cases,
            near(rates[1] / rates[0]),
            above="to copy a larger answer is less of the work for it than at the published appliance",
            below="the work for signatures in an answer is more of what is left: most of a plain answer's is the "
            "kernel's, and this rate is that of a processor that does nothing else",
            evidence=(CPU.key, RESPONSE_BYTES.key),
        ),
        PublishedClaim(
            JPRS,
            (f"{name}.response_bytes",),
            "size of an answer with DO to that of a plain one",
            ratio_text(octets["dnssec"] / octets["plain"]),
            RESPONSE_BYTES.key,
            *cases,
            near(octets["dnssec"] / octets["plain"]),
            above="answers here have aliases too, whose every RRset has its own signature",
            below=f"the published plain answers had {octets['plain']} octets, so short names, and signatures of "
            "RSA; names here are longer, and those signatures that are of ECDSA P-256 have 64 octets",
        ),
        PublishedClaim(
            JPRS,
            (f"{name}.cpu_percent_plain", f"{name}.cpu_percent_dnssec"),
            "CPU in use with DO to that with plain queries",
            ratio_text(loads[1] / loads[0]),
            SERVER_CPU.key,
            *cases,
            NO_DIFFERENCE,
            above="plain queries did not keep the resolver's processor busy: the generator was the bottleneck",
            below="queries with DO did not keep the resolver's processor busy: the generator was the bottleneck",
        ),
        PublishedClaim(
            JPRS,
            (f"{name}.qps_plain", f"{name}.qps_dnssec"),
            "rates themselves",
            f"{rates[0]:,.0f} and {rates[1]:,.0f} qps",
            lacking=HARDWARE,
        ),
    )

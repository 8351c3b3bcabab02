"""Every published figure that studies of resolvers are about gets a verdict, or a reason why there is none."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from dnsrig.report.figures import FIGURES
from dnsrig.report.layout import PublishedClaim
from dnsrig.studies.registry import study
from dnsrig.studies.resolving.published import read_published
from resolver_runs import settings

STUDIES = ("resolver-cost", "resolver-matrix", "cold-start", "full-cache", "validation-cost")
SET_UP = {
    "case3_cold_start.sampled_queries",
    "case4_appliance_full_cache.generator",
    "study",
    "qps",
    "seconds",
    "repetitions",
}
"""What was done, not what was found."""


def claims(name: str, **more: Any) -> tuple[PublishedClaim, ...]:
    return study(name).text(settings(name, **more)).claims


def keys(table: Mapping[str, Any], depth: int, before: str = "") -> Iterator[str]:
    for key, value in table.items():
        if depth and isinstance(value, dict):
            yield from keys(value, depth - 1, f"{before}{key}.")
        else:
            yield before + key


@pytest.mark.parametrize(
    ("file", "sections", "compared_by"),
    [
        ("jprs-2010", ("case1", "case2", "case3", "case4"), STUDIES[:4]),
        ("isc-2022", ("",), STUDIES[4:]),
    ],
)
def test_every_published_figure_has_a_claim(file: str, sections: tuple[str, ...], compared_by: tuple[str, ...]) -> None:
    published = {key for key in keys(read_published(file), 1) if key.startswith(sections)} - SET_UP
    claimed = {key for name in compared_by for claim in claims(name) for key in claim.keys}
    assert claimed == published


@pytest.mark.parametrize("name", STUDIES)
def test_claims_are_of_cases_and_figures_that_there_are(name: str) -> None:
    axes = [dict(case.axes) for block in study(name).blocks(settings(name)) for case in block.cases]
    compared = [claim for claim in claims(name) if not claim.lacking]
    assert compared
    for claim in compared:
        assert claim.figure in FIGURES and set(claim.evidence) <= set(FIGURES)
        for picked in (claim.of, claim.to):
            if picked is not None:
                assert sum(picked.items() <= case.items() for case in axes) == 1, (claim.what, picked)
        low, high = claim.taken_as
        # Whatever is measured beyond the range is told why.
        assert (low is None or claim.below) and (high is None or claim.above)
        assert (low, high) != (None, None)


def test_a_full_cache_is_compared_where_it_is_asked_for() -> None:
    key = "case3_cold_start.load_dnssec_on_to_off_at_full_hits"
    for shares, has in (((0, 100), True), ((0, 90), False)):
        assert any(key in claim.keys for claim in claims("resolver-cost", hit_shares=shares)) is has


def test_last_minutes_are_compared_at_their_rates_alone() -> None:
    def lacking(*rates: int) -> dict[str, bool]:
        found = claims("validation-cost", rates=rates, periods=3)
        return {key: bool(claim.lacking) for claim in found for key in claim.keys if key.startswith("last_minute")}

    assert set(lacking(300).values()) == {True}
    some = lacking(3000, 9000)
    assert {key for key, is_lacking in some.items() if not is_lacking} == {
        "last_minute_mean.9k udp_sockets",
        "last_minute_mean.9k received_mib_per_second",
    }
    of_9000 = [claim for claim in claims("validation-cost", rates=(9000, 12_000)) if "at 9,000" in claim.what]
    assert {claim.of["traffic"] for claim in of_9000} == {"9000-profile-udp-3"}
    (memory,) = [
        claim for claim in claims("validation-cost", rates=(9000, 12_000)) if "memory_increase" in claim.keys[0]
    ]
    assert memory.of["traffic"] == "12000-profile-udp-3"
    assert memory.taken_as == pytest.approx((1.05, 1.15))


def test_signed_and_unsigned_zones_have_to_be_asked_both() -> None:
    (cache,) = [claim for claim in claims("resolver-matrix", keys=("p-256",)) if "cache_size" in claim.keys[0]]
    assert "(--key)" in cache.lacking

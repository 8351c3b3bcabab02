"""bench/internet_cost: what one more query costs, from loads at several rates."""

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench" / "internet_cost"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """Give the bench as a module, without bytecode beside it."""
    loader = SourceFileLoader("internet_cost", str(BENCH))
    spec = spec_from_loader("internet_cost", loader)
    assert spec is not None
    module = module_from_spec(spec)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


def cost(bench: ModuleType, rate_qps: int, zones: str, internet_us: float, *, idle_share: float = 0.02) -> object:
    """Make a load of 10 s with twice as many upstream queries as questions; an echo takes 10 us and 0.01 CPUs."""
    upstream_qps = 2 * rate_qps
    return bench.Cost(
        bench.Case(rate_qps, False, zones),
        internet_s=10 * (idle_share + internet_us * upstream_qps / 1e6),
        resolver_s=5.0,
        load_s=10.0,
        upstream=10 * upstream_qps,
        answered=10 * rate_qps,
        echo_us=10 + 0.01 / upstream_qps * 1e6,
    )


def test_the_slope_is_what_one_more_query_costs_beyond_the_echo(bench: ModuleType) -> None:
    costs = [cost(bench, rate, "known", 25.0) for rate in (500, 1000, 2000)]
    (said,) = bench.slopes(costs)
    assert "25.0 us for one more upstream query, a bare echo 10.0, its own 15.0" in said
    assert "without any 0.020 CPUs, the echo 0.010 (1,000 to 4,000 upstream queries a second, 3 loads)" in said


def test_cases_have_lines_of_their_own_and_a_single_rate_none(bench: ModuleType) -> None:
    costs = [cost(bench, rate, zones, us) for zones, us in (("known", 25.0), ("new", 90.0)) for rate in (500, 2000)]
    said = bench.slopes([*costs, cost(bench, 500, "beforehand", 25.0)])
    assert [line.split()[1:4] for line in said] == [["known", "25.0", "us"], ["new", "90.0", "us"]]


def test_the_least_squares_of_points_that_are_no_line(bench: ModuleType) -> None:
    line = bench.line_through([(0.0, 0.1), (1000.0, 0.1), (1000.0, 0.3), (2000.0, 0.3)])
    assert (line.us_a_query, line.idle_share) == pytest.approx((100.0, 0.1))

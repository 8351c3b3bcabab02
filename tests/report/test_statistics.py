"""Statistics: known values, coverage, false alarms, and honesty with few repetitions."""

import math

import numpy as np
import pytest
from dnsrig.report.statistics import (
    Estimate,
    bootstrap_interval,
    estimate,
    holm,
    overall_ratio,
    paired_ratio,
    unpaired_ratio,
)
from dnsrig.report.student import t_quantile, t_two_sided_p
from hypothesis import given
from hypothesis import strategies as st

POSITIVE = st.floats(1e-3, 1e9)
SAMPLES = st.lists(POSITIVE, min_size=2, max_size=30)


@pytest.mark.parametrize(
    ("probability", "degrees", "expected"),
    # Fisher and Yates, table III.
    [(0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 4, 2.776), (0.975, 9, 2.262), (0.95, 5, 2.015)],
)
def test_quantiles_of_students_t(probability, degrees, expected):
    assert t_quantile(probability, degrees) == pytest.approx(expected, abs=6e-4)


def test_students_t_with_many_degrees_is_normal():
    assert t_quantile(0.975, 1e6) == pytest.approx(1.959966, abs=1e-5)


def test_p_of_the_cauchy_distribution_is_exact():
    for t in (0.1, 1.0, 7.0, 1000.0):
        assert t_two_sided_p(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, rel=1e-9)


@given(st.floats(0.501, 0.9999), st.floats(1, 500))
def test_quantile_and_p_are_inverse(probability, degrees):
    assert 1 - t_two_sided_p(t_quantile(probability, degrees), degrees) / 2 == pytest.approx(probability)


@given(SAMPLES, st.integers(0, 2**31))
def test_an_interval_holds_the_median_and_repeats_with_its_seed(values, seed):
    first, again = estimate(values, seed), estimate(values, seed)
    assert first == again
    assert first.low <= first.median <= first.high
    assert first.n == len(values)


@given(SAMPLES, st.floats(0.01, 100))
def test_an_interval_scales_with_its_unit(values, factor):
    plain, scaled = estimate(values, 1), estimate([value * factor for value in values], 1)
    for name in ("low", "median", "high"):
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name) * factor, rel=1e-6)


def test_one_repetition_has_no_interval():
    assert estimate([5.0], 1) == Estimate(5.0, None, None, 1)
    # Without logarithms, as one is 0, an interval would reach far below.
    values = [0.0, 3.0, 9.0]
    free, bounded = estimate(values, 1), estimate(values, 1, 0.0)
    assert free.low is not None and free.low < 0
    assert bounded == Estimate(3.0, 0.0, free.high, 3)


def test_equal_values_have_an_interval_of_no_width():
    assert estimate([7.0] * 4, 1) == Estimate(7.0, 7.0, 7.0, 4)


@pytest.mark.parametrize("n", [3, 5, 7, 10, 15, 30])
def test_intervals_cover_the_true_median_about_as_often_as_they_claim(n):
    rng = np.random.default_rng(20101)
    trials, true_median = 600, 1000.0
    covered = 0
    for trial in range(trials):
        found = estimate(rng.lognormal(math.log(true_median), 0.05, n), trial)
        covered += found.low <= true_median <= found.high
    assert 0.92 <= covered / trials <= 0.985


def test_the_bootstrap_alone_would_claim_too_much_for_three_values():
    rng = np.random.default_rng(3)
    covered = 0
    for trial in range(300):
        low, high = bootstrap_interval(rng.normal(10, 1, 3), trial)
        covered += low <= 10 <= high
    assert covered / 300 < 0.85


@pytest.mark.parametrize("n", [3, 5, 10])
@pytest.mark.parametrize("tails", ["normal", "heavy"])
def test_false_alarms_of_equal_cases_are_about_five_percent_or_fewer(n, tails):
    rng = np.random.default_rng(4)
    trials, alarms = 1000, {"paired": 0, "unpaired": 0}
    for _ in range(trials):
        noise = rng.normal(0, 0.03, (2, n)) if tails == "normal" else 0.02 * rng.standard_t(2.5, (2, n))
        ours, theirs = np.exp(noise) * 5000
        pairs = paired_ratio(dict(enumerate(ours)), dict(enumerate(theirs)))
        alarms["paired"] += pairs.p < 0.05
        alarms["unpaired"] += unpaired_ratio(ours, theirs).p < 0.05
    for name, count in alarms.items():
        assert count / trials < 0.07, name


@pytest.mark.parametrize("n", [3, 5, 10])
def test_intervals_of_a_ratio_cover_it(n):
    rng = np.random.default_rng(5)
    covered = {"paired": 0, "unpaired": 0}
    for _ in range(600):
        ours, theirs = 1.3 * rng.lognormal(0, 0.04, n), rng.lognormal(0, 0.04, n)
        for name, ratio in (
            ("paired", paired_ratio(dict(enumerate(ours)), dict(enumerate(theirs)))),
            ("unpaired", unpaired_ratio(ours, theirs)),
        ):
            covered[name] += ratio.low <= 1.3 <= ratio.high
    for count in covered.values():
        assert 0.92 <= count / 600 <= 0.985


def test_the_smallest_visible_difference_is_seen_four_times_out_of_five():
    rng = np.random.default_rng(6)
    visible = np.median(
        [unpaired_ratio(rng.lognormal(0, 0.03, 5), rng.lognormal(0, 0.03, 5)).smallest_visible for _ in range(400)]
    )
    seen = sum(
        unpaired_ratio((1 + visible) * rng.lognormal(0, 0.03, 5), rng.lognormal(0, 0.03, 5)).p < 0.05
        for _ in range(1000)
    )
    assert 0.7 <= seen / 1000 <= 0.9


def test_pairing_cancels_a_drift_of_the_machine():
    drift = np.linspace(1, 0.6, 6)
    ours = dict(enumerate(1000 * drift * [1.0, 1.001, 0.999, 1.0, 1.001, 1.0]))
    theirs = dict(enumerate(900 * drift * [1.0, 0.999, 1.0, 1.001, 1.0, 1.0]))
    paired = paired_ratio(ours, theirs)
    assert paired.p < 0.001
    assert paired.ratio == pytest.approx(1000 / 900, rel=0.01)
    assert unpaired_ratio(list(ours.values()), list(theirs.values())).p > 0.05


@given(SAMPLES, SAMPLES)
def test_swapping_sides_inverts_the_ratio(first, second):
    forward, backward = unpaired_ratio(first, second), unpaired_ratio(second, first)
    assert forward.ratio * backward.ratio == pytest.approx(1)
    assert forward.p == pytest.approx(backward.p, abs=1e-9)
    assert forward.low <= forward.ratio <= forward.high
    assert forward.low * backward.high == pytest.approx(1)


def test_exact_figures_differ_when_they_differ_at_all():
    same = unpaired_ratio([600.0] * 3, [600.0] * 3)
    other = unpaired_ratio([601.0] * 3, [600.0] * 3)
    assert (same.exact, same.ratio, same.p) == (True, 1.0, 1.0)
    assert (other.exact, other.p) == (True, 0.0)
    assert other.ratio == pytest.approx(601 / 600)
    assert paired_ratio({0: 601.0, 1: 601.0}, {0: 600.0, 1: 600.0}).p == 0.0


def test_one_repetition_claims_nothing():
    for ratio in (paired_ratio({0: 2.0}, {0: 1.0}), unpaired_ratio([2.0], [1.0, 1.1])):
        assert (ratio.p, ratio.low, ratio.smallest_visible, ratio.largest_compatible) == (None,) * 4
        assert ratio.ratio > 1


def test_repetitions_without_a_partner_are_left_out():
    assert paired_ratio({0: 2.0, 1: 2.0, 5: 99.0}, {0: 1.0, 1: 1.0, 7: 1.0}).ratio == pytest.approx(2.0)
    assert paired_ratio({0: 2.0}, {1: 2.0}) is None


def test_zero_has_no_ratio():
    assert paired_ratio({0: 0.0, 1: 1.0}, {0: 1.0, 1: 1.0}) is None
    assert unpaired_ratio([1.0, 0.0], [1.0, 1.0]) is None
    assert unpaired_ratio([], [1.0]) is None


def test_holm_adjusts_as_in_the_paper():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=30))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p_values):
    adjusted = holm(p_values)
    assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    ranked = [adjusted[index] for index in order]
    assert ranked == sorted(ranked)


def test_many_cases_together_see_what_one_cannot():
    rng = np.random.default_rng(8)
    ratios = [unpaired_ratio(1.06 * rng.lognormal(0, 0.03, 3), rng.lognormal(0, 0.03, 3)) for _ in range(9)]
    overall = overall_ratio(ratios)
    assert overall.p < 0.001
    assert sum(ratio.p < 0.001 for ratio in ratios) == 0
    assert overall.low < 1.06 < overall.high
    assert overall_ratio([]) is None


def test_false_alarms_over_all_cases():
    rng = np.random.default_rng(9)
    alarms = 0
    for _ in range(400):
        ratios = [unpaired_ratio(rng.lognormal(0, 0.03, 3), rng.lognormal(0, 0.03, 3)) for _ in range(9)]
        alarms += overall_ratio(ratios).p < 0.05
    assert alarms / 400 < 0.08

"""The trial before a run that has no rates: what it finds, and that a run measures at what it found."""

import pytest
from dnsrig.studies.placement import place
from dnsrig.studies.resolving.trial import CARRIED, carried
from resolver_runs import by_case, run_study, settings
from test_validation_cost import NAME, capture  # noqa: F401 (a fixture)


def tried(label: str, of_server: float, of_others: float = 0.01):
    """Make what `carried` reads of a measurement, by shares of the processors that each has."""
    where = place(1)
    return {
        "case": {"server": label},
        "server": {"cpu_share": of_server * len(where.server)},
        "generator": {"cpu_share": of_others * len(where.generator)},
    }


def test_each_resolver_carries_what_its_processors_suffice_for():
    found = carried([tried("bind", 0.35), tried("unbound", 0.1)], 1000, 1)
    assert found == pytest.approx({"bind": CARRIED * 1000 / 0.35, "unbound": CARRIED * 1000 / 0.1}, abs=1)


def test_the_internet_that_costs_most_counts():
    assert carried([tried("bind", 0.2), tried("bind", 0.4), tried("bind", 0.3)], 1000, 1) == {"bind": 1750}


def test_the_generator_has_to_carry_it_too():
    assert carried([tried("unbound", 0.1, of_others=0.5)], 1000, 1) == {"unbound": 1400}


def test_nothing_is_carried_of_no_trial():
    assert carried([], 1000, 1) == {}


def test_a_capture_is_replayed_at_its_own_rate_and_a_third_of_it(capture):  # noqa: F811
    assert settings(NAME, capture=capture, load_s=1.0, periods=4).rates == (3, 9)


def test_a_run_measures_at_what_the_trial_found(tmp_path):
    run, summary = run_study(NAME, tmp_path, load_s=1.0, periods=1)
    assert summary["status"] == "complete"
    manifest = run.manifest()
    low, high = manifest["settings"]["rates"]
    assert 100 <= low < high <= 9000
    trial = manifest["facts"]["trial"]
    assert trial["rate_qps"] == 1000
    # In whole hundreds, as far as there are any.
    assert 0 <= min(trial["carried_qps"]["unbound"], 9000) - high < 100
    assert {item["case"]["traffic"] for item in by_case(run).values()} == {
        f"{rate}-profile-udp-1" for rate in (low, high)
    }


def test_no_trial_where_rates_are_chosen(tmp_path):
    run, _ = run_study(NAME, tmp_path, load_s=1.0, periods=1, rates=(200,))
    assert "trial" not in run.manifest()["facts"]

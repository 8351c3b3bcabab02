"""The trial before a run that has no rates: what it finds, and that a run measures at what it found."""

import time

import dns.message
import pytest
from dnsrig import _core
from dnsrig.errors import InputError
from dnsrig.runs.folder import RunFolder
from dnsrig.studies import validation_cost
from dnsrig.studies.placement import place
from dnsrig.studies.registry import study
from dnsrig.studies.resolving.cases import TREE
from dnsrig.studies.resolving.trial import CARRIED, carried
from resolver_runs import Quiet, as_chosen, by_case, run_study, settings, write_capture
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


@pytest.mark.parametrize("at_s", [0.0, 5.0])
def test_the_trial_of_a_capture_asks_no_faster_than_its_beginning_does(tmp_path, monkeypatch, at_s):
    """`at_s` is when most of the queries come."""
    packets = [query(number) for number in range(600)]
    times_s = sorted([at_s + number / 200 for number in range(400)] + [number / 20 for number in range(200)])
    path = write_capture(tmp_path / "uneven.pcap", *packets, times_s=times_s)
    seen = []
    monkeypatch.setattr(validation_cost, "measured_once", lambda study, short, watcher: seen.append(short) or [])
    chosen = as_chosen(NAME, capture=path, load_s=2.0, periods=5)
    fitted = study(NAME).fitted(chosen)
    assert study(NAME).tried(fitted, chosen, Quiet()) == (fitted, {})
    [short] = seen
    assert 10 <= short.rates[0] <= (220 if at_s == 0.0 else 20)
    # It does not refuse what it was given.
    run = RunFolder.create(tmp_path / "runs", NAME, argv=[], settings={}, seed=1)
    internet = _core.Internet("small", seed=1, signed_at_s=int(time.time()), domains=2000, distances=False)
    study(NAME).streams(short, run, {TREE: internet})


def test_a_capture_without_length_is_refused(tmp_path):
    path = write_capture(tmp_path / "one.pcap", query(1))
    with pytest.raises(InputError, match="has 1 queries, all at one time"):
        settings(NAME, capture=path)


def query(number: int) -> bytes:
    return dns.message.make_query(f"n{number}.example", "A").to_wire()


def test_a_run_measures_at_what_the_trial_found(tmp_path):
    run, summary = run_study(NAME, tmp_path, load_s=2.0, periods=1)
    most = max(settings(NAME, load_s=2.0, periods=1).rates)
    assert summary["status"] == "complete"
    manifest = run.manifest()
    low, high = manifest["settings"]["rates"]
    assert 100 <= low < high <= 9000
    trial = manifest["facts"]["trial"]
    assert trial["rate_qps"] == 1000
    # In whole hundreds, as far as there are any.
    assert 0 <= min(trial["carried_qps"]["unbound"], most) - high < 100
    assert {item["case"]["traffic"] for item in by_case(run).values()} == {
        f"{rate}-profile-udp-1" for rate in (low, high)
    }


def test_no_trial_where_rates_are_chosen(tmp_path):
    run, _ = run_study(NAME, tmp_path, load_s=1.0, periods=1, rates=(200,))
    assert "trial" not in run.manifest()["facts"]

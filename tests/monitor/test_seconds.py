"""Means over the seconds of a load, which do not count what is waited for afterwards."""

import pytest
from dnsrig.monitor.seconds import mean_by_second
from dnsrig.report.figures import FIGURES, SERVER_CPU

SERIES = {"time_s": [1.0, 2.0, 2.5], "cpu_share": [0.2, 0.4, 0.8], "internet_octets_in": [100.0, 300.0, 600.0]}


def test_a_value_counts_for_as_long_as_its_interval():
    assert mean_by_second(SERIES, "cpu_share", None) == pytest.approx((0.2 + 0.4 + 0.4) / 2.5)
    assert mean_by_second(SERIES, "internet_octets_in", None) == pytest.approx(700 / 2.5)


@pytest.mark.parametrize("series", [{}, {"time_s": [], "cpu_share": []}, {"time_s": [1.0]}])
def test_without_seconds_there_is_none_but_that_of_the_whole(series):
    assert mean_by_second(series, "cpu_share", None) is None
    assert mean_by_second(series, "cpu_share", 0.1) == 0.1


def test_a_lost_query_that_is_waited_for_makes_no_rate_less():
    measurement = {
        "by_second": SERIES,
        "server": {"cpu_share": 0.1},
        "machine": {"wall_us": 7.5e6},
        "network": {"internet": {"bytes_in": 750}},
    }
    rate = FIGURES["internet_octets_in_per_s"]
    assert rate.of(measurement) == pytest.approx(280.0)
    assert SERVER_CPU.of(measurement) == pytest.approx(0.4)
    short = {**measurement, "by_second": {}}
    assert (rate.of(short), SERVER_CPU.of(short)) == (pytest.approx(100.0), 0.1)

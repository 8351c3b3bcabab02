"""How a resolver goes from cold to hot is told by spans of seconds that get longer."""

import pytest
from dnsrig.report.cases import CaseResult
from dnsrig.report.warming import by_span, lines_of, spans, spans_of, warming_summary


@pytest.mark.parametrize(
    ("length_s", "ends"),
    [
        (1, [1]),
        (2, [1, 2]),
        (4, [1, 2, 4]),
        (5, [1, 2, 5]),
        (10, [1, 2, 5, 10]),
        (60, [1, 2, 5, 10, 20, 50, 60]),
        (600, [1, 2, 5, 10, 20, 50, 100, 200, 500, 600]),
    ],
)
def test_spans_follow_one_another_to_the_end_of_the_load(length_s, ends):
    found = spans(length_s)
    assert [end for _, end in found] == ends
    assert [begin for begin, _ in found] == [0, *ends[:-1]]


def case(*shares):
    """Make a case with one repetition for each list of shares of cache hits by second."""
    measurements = tuple(
        {
            "cold_start": {
                "by_second": {
                    "start_s": [number + 0.0002 for number in range(len(of_one))],
                    "cache_hit_share": of_one,
                    **{key: [None] * len(of_one) for key in ("latency_p50_ns", "latency_p99_ns", "upstream_per_query")},
                }
            }
        }
        for of_one in shares
    )
    return CaseResult("unbound-none", {"server": "unbound"}, measurements)


def test_a_span_has_the_mean_of_its_seconds_and_the_median_of_the_repetitions():
    found = case([0.1, 0.5, 0.6, 0.7], [0.3, 0.5, 0.8, 0.9], [0.2, None, None, 0.5])
    assert spans_of([found]) == [(0, 1), (1, 2), (2, 4)]
    assert by_span(found, "cache_hit_share", spans_of([found])) == pytest.approx([0.2, 0.5, 0.65])
    assert warming_summary(found)["warming"]["latency_p50_ns"] == [None] * 3


def test_seconds_that_are_not_known_are_not_drawn():
    ((times, values),) = lines_of("cache_hit_share", 0.01)(case([0.25, None, 0.5]))
    assert times == pytest.approx([0.5, 2.5], abs=0.001)
    assert values == [25, 50]


def test_other_studies_say_nothing_of_it():
    other = CaseResult("unbound-plain", {"server": "unbound"}, ({"load": {}},))
    assert spans_of([other]) == []
    assert warming_summary(other) == {}

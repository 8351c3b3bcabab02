"""What the studies of resolvers watch while a load runs: silence, series by second, latency of each repetition."""

import json
from dataclasses import asdict
from importlib import resources
from types import SimpleNamespace

import jsonschema
import pytest
from dnsrig.errors import SubjectFailedError
from dnsrig.monitor.proc import Interface
from dnsrig.monitor.usage import ProcessCounters
from dnsrig.report.latency import LatencyCurve
from dnsrig.report.pictures.latency import latency_band
from dnsrig.studies.resolving import timeline
from dnsrig.studies.resolving.asked import by_size
from dnsrig.studies.resolving.pictures import MIB, SERIES, lines_of, upstream_lines
from dnsrig.studies.resolving.place import MOST_OPERATORS, OTHER_OPERATORS, Reading
from dnsrig.studies.resolving.silence import SILENT_S, Silence
from dnsrig.studies.resolving.timeline import Timeline


def rows(*answered, sent=100):
    return [{"start_s": float(at), "length_s": 1.0, "sent": sent, "answered": some} for at, some in enumerate(answered)]


def test_a_resolver_that_stops_answering_is_given_up_and_not_before():
    silence = Silence("Unbound")
    for row in rows(50, 30, *[0] * (int(SILENT_S) - 1)):
        silence.note(row)
        silence.refuse()
    silence.note(rows(*[0] * 20)[-1])
    with pytest.raises(SubjectFailedError, match=r"Unbound has stopped .* 15 s, from second 2 .*, 80 answers before"):
        silence.refuse()


@pytest.mark.parametrize("answers", [[10, 0, 0, 10, *[0] * 14], [10] * 30])
def test_pauses_are_no_silence(answers):
    silence = Silence("Unbound")
    for row in rows(*answers):
        silence.note(row)
    silence.refuse()


def test_seconds_without_queries_are_no_silence():
    silence = Silence("Unbound")
    for row in rows(*[0] * 40, sent=0):
        silence.note(row)
    assert silence.silent_s == 0


def test_seconds_in_which_queries_only_wait_are_silence():
    silence = Silence("Unbound")
    # Clients wait for 5 s.
    for row in [*rows(100, 0), *rows(*[0] * 6, sent=0)[2:], {"start_s": 6.0, "length_s": 1.0, "timed_out": 100}]:
        silence.note(row)
    assert silence.silent_s == 6


@pytest.mark.parametrize("end", ["timed_out", "refused"])
def test_one_query_without_an_answer_before_a_pause_is_no_silence(end):
    silence = Silence("Unbound")
    lost = {"start_s": 1.0, "length_s": 1.0, "sent": 1, end: 1}
    for row in [*rows(100), lost, *rows(*[0] * 40, sent=0)[2:]]:
        silence.note(row)
        silence.refuse()
    assert silence.silent_s == 1


def curve(*latencies):
    return LatencyCurve((50.0, 90.0, 99.0)[: len(latencies)], latencies, 0.0)


def test_the_band_is_where_two_repetitions_are():
    assert latency_band([curve(1, 5, 9), curve(2, 4)]) == [(50.0, 1, 2), (90.0, 4, 5)]
    assert latency_band([curve(1, 5, 9)]) == []


def test_lines_are_in_the_units_of_their_picture():
    of = lines_of("memory_octets", MIB)
    case = SimpleNamespace(measurements=[{"by_second": {"time_s": [1, 2], "memory_octets": [MIB, 3 * MIB]}}, {}])
    assert of(case) == [([1, 2], [1.0, 3.0])]


def test_upstream_queries_are_rates_at_the_time_of_their_readings():
    case = SimpleNamespace(
        measurements=[{"upstream": {"by_second": [30, 10, 3]}, "by_second": {"time_s": [1.5, 2.5, 2.5]}}, {}],
    )
    assert upstream_lines(case) == [([0.75, 2.0], [20.0, 10.0]), ([], [])]


class Machine:
    """Stands for the reader of the resolver's namespace: counters grow by 1000 octets and 10 packets a reading."""

    def __init__(self, pid):
        self.pid, self.reads, self.closed = pid, 0, False

    def read(self, *, all_counters):
        assert all_counters
        self.reads += 1
        counters = Interface(1000 * self.reads, 10 * self.reads, 0, 2000 * self.reads, 20 * self.reads, 0)
        return SimpleNamespace(interfaces={"clients": counters}, udp_sockets=self.reads, tcp_sockets=2, tcp_time_wait=3)

    def close(self):
        self.closed = True


def test_series_are_rates_by_link_and_levels(monkeypatch):
    clock = iter([98.0, 100.0, 102.0, 103.0])
    used = iter([(0, 0), (0, 0), (2_000_000_000, 500_000_000), (3_000_000_000, 1_500_000_000)])
    counters = (ProcessCounters(time_ns, cpu_ns, 4096, None, 1, 1, "test") for time_ns, cpu_ns in used)
    monkeypatch.setattr(timeline.GroupReader, "read", lambda self, with_pss: next(counters))
    monkeypatch.setattr(timeline, "MachineReader", Machine)
    monkeypatch.setattr(timeline.time, "monotonic", lambda: next(clock))
    asked = iter([1, 5, 25, 26])
    place = SimpleNamespace(upstream_queries=lambda: next(asked))
    began_s = iter([None, 99.0, 99.0, 99.0])
    ago = SimpleNamespace(read=round, close=lambda: None)
    monkeypatch.setattr(timeline, "TimeWaitReader", lambda _: ago)
    with Timeline(place, [1 << 30], began_s=lambda: next(began_s)) as found:
        # What was before is not told, and times count from the load's own beginning.
        found.begin(0.5)
        for phase, length_s in (("measure", 2.0), ("measure", 1.0), ("measure", 0.1), ("drain", 5.0)):
            found.note({"phase": phase, "length_s": length_s})
    series = found.by_second()
    assert found.upstream_by_second == [20, 1]
    assert series["time_s"] == [2.5, 3.5]
    assert (series["clients_octets_in"], series["clients_octets_out"]) == ([500.0, 1000.0], [1000.0, 2000.0])
    assert series["clients_packets_out"] == [10.0, 20.0]
    assert series["internet_octets_in"] == [0.0, 0.0]
    assert (series["cpu_share"], series["memory_octets"]) == ([0.25, 1.0], [4096, 4096])
    # Those of the load alone, from its first part on.
    assert (series["udp_sockets"], series["tcp_time_wait"]) == ([3, 4], [3, 4])
    assert {key for key, *_ in SERIES} < set(series)


def account(operator: str, queries: int, transport: str = "udp") -> dict[str, object]:
    octets = {"query_octets": 40 * queries, "answer_octets": 100 * queries, "answers": queries, "truncated": 0}
    sizes = {"answer_sizes": {"512": queries - 1, "1232": 1}}
    return {"operator": operator, "type": "A", "transport": transport, "queries": queries, **octets, **sizes}


def test_answers_by_size_stand_in_the_order_of_sizes() -> None:
    sizes = {"512": 2, "1232": 0, "1472": 9}
    assert by_size({"answer_sizes": sizes}) == {
        "0 to 512 octets": 2,
        "513 to 1,232 octets": 0,
        "1,233 to 1,472 octets": 9,
    }
    assert by_size({}) == {}


def test_queries_since_a_reading_are_counted_by_operator() -> None:
    state = {"signatures": 0, "zones": 0, "dropped": 0}
    before = Reading((account(".", 2), account("quiet", 5)), 0, state)
    many = [account(f"operator-{number}", number + 1) for number in range(MOST_OPERATORS + 2)]
    after = Reading((account(".", 102), account(".", 7, "tcp"), account("quiet", 5), *many), 0, state)
    used = after.since(before)
    assert used["answer_sizes"]["1232"] == 1 + len(many)
    assert sum(used["answer_sizes"].values()) == used["answers"]
    found = used["by_operator"]
    assert found["."] == {"queries": 107, "query_octets": 4280, "answer_octets": 10700, "tcp_queries": 7}
    assert "quiet" not in found
    assert list(found)[1] == f"operator-{MOST_OPERATORS + 1}"
    # The three that were asked least.
    assert (len(found), found[OTHER_OPERATORS]["queries"]) == (MOST_OPERATORS + 1, 1 + 2 + 3)


@pytest.mark.parametrize(
    ("group", "change", "fits"),
    [
        ("network", {}, True),
        ("network", {"udp_socket": 1}, False),
        ("network", {"clients": {"octets_in": 1}}, False),
        ("network", {"tcp_time_wait": None}, False),
        ("cold_start", {}, True),
        ("cold_start", {"hot_after_s": None}, True),
        ("cold_start", {"hot_after": 1.0}, False),
    ],
)
def test_what_a_measurement_holds_of_a_resolver_is_described(group: str, change: dict[str, object], fits: bool) -> None:
    link = asdict(Interface(1, 2, 3, 4, 5, 6))
    groups = {
        "network": {"udp_sockets": 1.5, "tcp_sockets": 0, "tcp_time_wait": 0.0, "clients": link, "internet": {}},
        "cold_start": {"hot_after_s": 3.0},
    }
    schema = json.loads(resources.files("dnsrig.schemas").joinpath("measurement.json").read_text(encoding="utf-8"))
    described = {**schema["properties"][group], "$defs": schema["$defs"]}
    assert jsonschema.Draft202012Validator(described).is_valid({**groups[group], **change}) is fits

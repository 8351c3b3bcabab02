"""encrypted-cost: whether loads and answers were what their case says."""

from types import SimpleNamespace

import dns.message
import dns.rrset
import pytest
from dnsrig.studies.encrypted.answers import check_transport
from dnsrig.studies.encrypted.cases import all_cases
from dnsrig.studies.encrypted.settings import EncryptedSettings
from dnsrig.studies.encrypted.soundness import beside_taints, both_at_ease, case_faults, reworded
from dnsrig.studies.placement import Placement

ALL = frozenset(("dot", "doh", "doq"))
SETTINGS = EncryptedSettings(servers=("nsd",), seed=3, threads=(1,), steps=(1, 64))


def load_report(**connections):
    sessions = dict.fromkeys(("tried", "opened", "failed", "closed", "full", "resumed"), 0) | connections
    return {
        "answered": 10,
        "rcodes": {"NOERROR": 10},
        "bytes": {"sent": 260, "received": 940},
        "connections": sessions,
        "duration_s": 1.0,
        "generator": {"cpu_share": 0.3, "run_delay_share": 0.0},
        "tainted": [],
    }


def case_of(kind):
    return next(case for case in all_cases(SETTINGS, ALL) if case.kind == kind)


@pytest.mark.parametrize(
    ("kind", "sessions", "said"),
    [
        ("dot-resumed", {"full": 4, "resumed": 96}, ""),
        ("dot-resumed", {"full": 6, "resumed": 94}, "full handshakes, not resumed"),
        ("dot-new", {"full": 100}, ""),
        ("dot-new", {"full": 99, "resumed": 1}, "resumed where all should be new"),
        ("dot-reused", {"full": 24, "closed": 16}, ""),
        ("dot-reused", {"full": 23, "closed": 15}, "fewer than 2 sessions each"),
        ("abandoned", {"tried": 1790}, ""),
        ("abandoned", {"tried": 1416}, "as many attempts a second as asked"),
        ("tcp", {}, ""),
    ],
)
def test_loads_that_are_not_what_their_case_says_are_tainted(kind, sessions, said):
    faults = case_faults(case_of(kind), load_report(**sessions), None, 94)
    assert len(faults) == bool(said) and said in "".join(faults)


def test_answers_of_another_size_or_rcode_are_tainted():
    assert "another size" in case_faults(case_of("tcp"), load_report(), None, 93)[0]
    refused = load_report() | {"rcodes": {"REFUSED": 10}}
    assert case_faults(case_of("tcp"), refused, None, 94) == ["the load got answers of REFUSED"]
    silent = load_report(closed=0) | {"answered": 0}
    assert case_faults(case_of("udp+dot-1"), load_report(), silent, 94) == ["the load beside it got no answer"]


def test_distrust_of_the_load_beside_is_kept_and_named():
    report = load_report() | {"tainted": ["other programs kept the generator from its CPU for 31 % of the time"]}
    (said,) = beside_taints(case_of("udp+dot-1").beside, report)
    assert said == "the load beside it: other programs kept the generator from its CPU"
    alone, two = Placement(frozenset({0}), frozenset({1})), Placement(frozenset({0}), frozenset({1, 2}))
    reason = "other programs kept the generator from its CPU"
    assert reworded([reason], alone) == ["the load beside it, or other programs, kept the generator from its CPU"]
    assert reworded([reason], two) == [reason]


def test_attempts_that_are_to_be_refused_may_fail():
    report = load_report() | {"tainted": ["100 % of the attempts to open a session failed"]}
    assert beside_taints(case_of("udp+refused").beside, report) == []
    assert len(beside_taints(case_of("udp+abandoned").beside, report)) == 1


@pytest.mark.parametrize(
    ("server", "generator", "disturbances", "tainted"),
    [(0.4, 0.3, [], True), (0.95, 0.3, [], False), (0.4, 0.85, [], False), (0.4, 0.3, ["others"], False)],
)
def test_a_rate_at_which_both_ends_idle_is_no_maximum(server, generator, disturbances, tainted):
    load = load_report() | {"generator": {"cpu_share": generator, "run_delay_share": 0.0}}
    observed = SimpleNamespace(server={"cpu_share": server}, disturbances=disturbances)
    assert bool(both_at_ease(load, observed, Placement(frozenset({0}), frozenset({1})))) == tainted


def test_answers_over_transports_are_compared_with_those_over_udp(monkeypatch):
    query = dns.message.make_query("abcd.com.", "A")
    answers = {name: dns.message.make_response(query) for name in ("udp", "tcp", "dot")}
    answers["dot"].answer.append(dns.rrset.from_text("abcd.com.", 60, "IN", "A", "192.0.2.1"))
    monkeypatch.setattr(
        "dnsrig.studies.encrypted.answers._ASK", {name: lambda *_, name=name: answers[name] for name in answers}
    )
    endpoints = dict.fromkeys(("udp", "tcp", "dot", "doq"), ("127.0.0.1", 5300))
    found = {name: check_transport(endpoints, name, query.to_wire()) for name in endpoints}
    assert {check.octets for check in found.values()} == {len(query.to_wire())}
    assert [name for name, check in found.items() if check.faults] == ["dot"]
    assert found["dot"].faults == ("the answer over DoT is not the one over UDP",)

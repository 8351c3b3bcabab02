"""What is asked before anything is measured: every stream, by every resolver as it is measured."""

import math

import pytest
from dnsrig.errors import SubjectFailedError
from dnsrig.studies import conduct
from dnsrig.studies.registry import study
from dnsrig.studies.resolving import words
from dnsrig.studies.resolving.bench import ResolverBench
from dnsrig.studies.resolving.rehearsal import FIRST_AT_LEAST_S, FIRST_LONGER, LONGER, longest_s, rehearsals
from resolver_runs import Quiet, by_case, run_study, settings, skip_without

SERVERS = ("bind", "unbound", "bind")
STUDIES = ("validation-cost", "resolver-cost", "resolver-matrix", "cold-start", "full-cache")
SHORT = {"rates": (100,), "periods": 2, "load_s": 1.0}


def blocks_of(name, **more):
    return study(name).blocks(settings(name, SERVERS, **more))


@pytest.mark.parametrize("name", STUDIES)
def test_every_resolver_asks_each_of_its_streams_once(name):
    blocks = blocks_of(name)
    wanted = {
        (block.program, case.tree, case.validates, stream)
        for block in blocks
        for case in block.cases
        for stream in (*case.warm_up, case.traffic.stream)
    }
    asked = [
        (one.program, one.case.tree, one.case.validates, stream)
        for one in rehearsals(blocks)
        for stream in one.lasting_s
    ]
    assert sorted(asked) == sorted(wanted)


def test_parts_of_a_load_are_asked_in_one_start_and_by_those_that_validate_first():
    blocks = blocks_of("validation-cost", rates=(300,), periods=3, load_s=7.0)
    found = rehearsals(blocks)
    assert [(one.program, one.case.validates) for one in found] == [
        ("bind", True),
        ("unbound", True),
        ("bind", False),
        ("unbound", False),
    ]
    for one in found:
        assert one.lasting_s == {part.traffic.stream: 7.0 for part in blocks[0].cases}
        assert one.about_s == 3 * 7.0


def test_only_the_first_one_is_waited_for():
    assert longest_s(1.0, is_first=True) == FIRST_AT_LEAST_S
    assert longest_s(60.0, is_first=True) == 60.0 * FIRST_LONGER
    assert longest_s(60.0, is_first=False) == 60.0 * LONGER
    assert longest_s(None, is_first=False) == math.inf


@pytest.fixture
def asked(monkeypatch):
    """List what is asked unmeasured: by whom, validating or not, the stream, and for how long at most."""
    found = []
    ask_through = ResolverBench._ask_through

    def listening(self, server, where, traffic, *more):
        found.append((server.name, server.settings.validate, traffic.stream, traffic.load_s))
        ask_through(self, server, where, traffic, *more)

    monkeypatch.setattr(ResolverBench, "_ask_through", listening)
    return found


PARTS = [f"clients-100-profile-part{number}" for number in (1, 2)]


def rehearsed(program, *, validates, at_most_s):
    return [(program, validates, part, at_most_s) for part in PARTS]


def test_nothing_is_left_to_be_made_when_it_is_measured(tmp_path, asked):
    run, _ = run_study("validation-cost", tmp_path, servers=("unbound", "bind"), **SHORT)
    assert asked == [
        *rehearsed("unbound", validates=True, at_most_s=FIRST_AT_LEAST_S),
        *rehearsed("bind", validates=True, at_most_s=LONGER),
        *rehearsed("unbound", validates=False, at_most_s=LONGER),
        *rehearsed("bind", validates=False, at_most_s=LONGER),
    ]
    made = {
        case_id: item["upstream"]["zones"] + item["upstream"]["signatures"] for case_id, item in by_case(run).items()
    }
    assert len(made) == 8
    assert not any(made.values()), made


def test_a_run_begun_before_goes_on_with_one_that_validates(tmp_path, asked):
    run_study("validation-cost", tmp_path, servers=("unbound", "bind"), rehearses_each=False, **SHORT)
    assert asked == rehearsed("unbound", validates=True, at_most_s=FIRST_AT_LEAST_S)
    said = [words.internet(settings("validation-cost", rehearses_each=each)) for each in (False, True)]
    assert ["all resolvers, validating and not" in text for text in said] == [False, True]


def test_a_run_that_goes_on_rehearses_what_it_lacks(tmp_path, monkeypatch, asked):
    skip_without("unbound", "bind")
    chosen = settings("validation-cost", ("unbound", "bind"), **SHORT)
    measure_case = ResolverBench._measure_case

    def ends_at_the_last(self, block, case_id, server):
        if block is self._blocks[-1]:
            raise KeyboardInterrupt
        return measure_case(self, block, case_id, server)

    with monkeypatch.context() as patch:
        patch.setattr(ResolverBench, "_measure_case", ends_at_the_last)
        with pytest.raises(KeyboardInterrupt):
            conduct.start("validation-cost", chosen, tmp_path, ["dnsrig"], Quiet())
    asked.clear()
    (folder,) = tmp_path.iterdir()
    conduct.resume(folder, Quiet())
    assert asked == rehearsed("bind", validates=True, at_most_s=FIRST_AT_LEAST_S)


def test_one_that_fails_leaves_the_rest_to_others_and_says_what_was_not_asked(tmp_path, monkeypatch, asked):
    skip_without("unbound", "bind")
    listening = ResolverBench._ask_through

    def fails_at_the_second(self, server, where, traffic, *more):
        if server.name == "unbound" and server.settings.validate and traffic.stream == PARTS[1]:
            raise SubjectFailedError("as if it hung")
        listening(self, server, where, traffic, *more)

    monkeypatch.setattr(ResolverBench, "_ask_through", fails_at_the_second)
    heard = Quiet()
    chosen = settings("validation-cost", ("unbound", "bind"), **SHORT)
    conduct.start("validation-cost", chosen, tmp_path, ["dnsrig"], heard)
    assert heard.problems == [f"not rehearsed: {PARTS[1]}, by Unbound, validating: as if it hung"]
    # The next one is then the first that is asked it.
    assert ("bind", True, PARTS[0], LONGER) in asked
    assert ("bind", True, PARTS[1], FIRST_AT_LEAST_S) in asked

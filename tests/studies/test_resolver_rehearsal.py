"""What is asked before anything is measured: every stream, by every resolver as it is measured."""

import math

import pytest
from dnsrig.studies import conduct
from dnsrig.studies.registry import study
from dnsrig.studies.resolving.bench import ResolverBench
from dnsrig.studies.resolving.rehearsal import LONGER_THAN_LOADS, rehearsals
from resolver_runs import Quiet, settings, skip_without

SERVERS = ("unbound", "bind", "unbound")
STUDIES = ("validation-cost", "resolver-cost", "resolver-matrix", "cold-start", "full-cache")


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
        (one.program, one.case.tree, one.case.validates, stream) for one in rehearsals(blocks) for stream in one.streams
    ]
    assert sorted(asked) == sorted(wanted)


def test_parts_of_a_load_are_asked_in_one_start_and_to_their_ends():
    blocks = blocks_of("validation-cost", rates=(300,), periods=3, load_s=7.0)
    found = rehearsals(blocks)
    assert [(one.program, one.case.validates) for one in found] == [
        ("unbound", False),
        ("bind", False),
        ("unbound", True),
        ("bind", True),
    ]
    for one in found:
        assert list(one.streams) == [
            part.traffic.stream for part in blocks_of("validation-cost", rates=(300,))[0].cases
        ]
        assert set(one.streams.values()) == {math.inf}
        assert one.seconds == 3 * 7.0


def test_a_closed_loop_is_asked_to_its_end_by_one_and_for_a_time_by_others():
    load_s = 3.0
    limits = {
        (one.program, one.case.validates): one.streams["hits-0"]
        for one in rehearsals(blocks_of("resolver-cost", load_s=load_s))
        if "hits-0" in one.streams
    }
    limited = LONGER_THAN_LOADS * load_s
    assert limits == {
        ("unbound", False): math.inf,
        ("bind", False): limited,
        ("unbound", True): limited,
        ("bind", True): limited,
    }


class Listening(Quiet):
    """Keeps what was rehearsed."""

    def __init__(self) -> None:
        super().__init__()
        self.rehearsed: list[str] = []

    def phase(self, text: str) -> None:
        if text.startswith("rehearsing"):
            self.rehearsed.append(text)


def test_a_run_that_goes_on_rehearses_what_it_lacks(tmp_path, monkeypatch):
    skip_without("unbound", "bind")
    chosen = settings("validation-cost", ("unbound", "bind"), rates=(100,), periods=1, load_s=1.0)
    measure_case = ResolverBench._measure_case

    def ends_at_the_last(self, block, case_id, server):
        if block is self._blocks[-1]:
            raise KeyboardInterrupt
        return measure_case(self, block, case_id, server)

    begun, resumed = Listening(), Listening()
    with monkeypatch.context() as patch:
        patch.setattr(ResolverBench, "_measure_case", ends_at_the_last)
        with pytest.raises(KeyboardInterrupt):
            conduct.start("validation-cost", chosen, tmp_path, ["dnsrig"], begun)
    (folder,) = tmp_path.iterdir()
    conduct.resume(folder, resumed)
    assert begun.rehearsed == [
        "rehearsing with Unbound, not validating, 1 of 4",
        "rehearsing with BIND 9 (named), not validating, 2 of 4",
        "rehearsing with Unbound, validating, 3 of 4",
        "rehearsing with BIND 9 (named), validating, 4 of 4",
    ]
    assert resumed.rehearsed == ["rehearsing with BIND 9 (named), validating, 1 of 1"]
    assert not resumed.problems

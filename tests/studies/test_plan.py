"""What a run says it will measure, and how long it says that takes."""

import pytest
from dnsrig.studies.plan import Plan, PlannedCase, TimeLeft, about

PLAN = Plan((PlannedCase("quick", 2.0, 1.0), PlannedCase("slow", 30.0, 20.0)), repetitions=3, preparing_s=5.0)


def waiting(plan, done):
    every = {(case.case_id, repetition) for case in plan.cases for repetition in range(plan.repetitions)}
    return every - done


def test_the_sentence_counts_measurements_and_time():
    assert PLAN.seconds == 5 + 2 + 1 + 1 + 30 + 20 + 20
    assert PLAN.sentence == "2 cases, 3 times: 6 measurements, about 79 s"
    assert Plan(PLAN.cases[:1], 1).sentence == "1 case, once: 1 measurement, about 2 s"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.1, "about 1 s"), (99, "about 99 s"), (100, "about 2 min"), (3600, "about 60 min"), (9000, "about 2.5 h")],
)
def test_times_are_given_roughly(seconds, said):
    assert about(seconds) == said


def test_before_anything_is_measured_the_plan_holds():
    assert TimeLeft(PLAN).left_s(waiting(PLAN, set())) == 74


def test_a_case_takes_as_long_as_it_took():
    left = TimeLeft(PLAN)
    left.took("quick", 0, 4.0)
    left.took("slow", 0, 15.0)
    # Twice and half of what was planned for the first time; the later ones are shorter in proportion.
    assert left.left_s({("quick", 1), ("quick", 2)}) == pytest.approx(4.0)
    assert left.left_s({("slow", 1)}) == pytest.approx(10.0)


def test_a_case_not_measured_yet_takes_as_much_longer_than_planned_as_the_others():
    left = TimeLeft(PLAN)
    left.took("quick", 0, 6.0)
    assert left.left_s({("slow", 0)}) == pytest.approx(90.0)
    assert left.left_s(set()) == 0

"""Runs that several tests read; made once a session."""

import pytest
from dnsrig.report.build import build_report
from example_studies import DENIAL_COST, NSEC3_ITERATIONS
from synthetic import Model, make_run, percentiles

ITERATIONS = (0, 1, 5, 10, 50, 100)


@pytest.fixture(scope="session")
def full_run(tmp_path_factory):
    """Three servers x three kinds of denial x three streams x five repetitions, with its report."""
    run = make_run(tmp_path_factory.mktemp("runs"), name="20261121-214500-denial-cost")
    build_report(run, DENIAL_COST, percentiles)
    return run


@pytest.fixture(scope="session")
def iterations_run(tmp_path_factory):
    model = Model(
        servers=("nsd", "knot"),
        denials=tuple(("nsec3", number) for number in ITERATIONS),
        repetitions=3,
        seconds=2,
        study="nsec3-iterations",
        argv=("dnsrig", "run", "nsec3-iterations", "--quick"),
    )
    run = make_run(tmp_path_factory.mktemp("runs"), model, name="20261121-220000-nsec3-iterations")
    build_report(run, NSEC3_ITERATIONS, percentiles)
    return run

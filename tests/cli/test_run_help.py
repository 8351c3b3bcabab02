"""The help of `dnsrig run` says which studies have an option, and which options a study has."""

import re

import pytest
from click.testing import CliRunner
from dnsrig.cli.run import run
from dnsrig.studies.registry import studies


def options(*arguments: str) -> list[str]:
    """Give the options that the help lists, in its order."""
    shown = CliRunner().invoke(run, [*arguments, "--help"], prog_name="dnsrig run").output
    return re.findall(r"^  (?:-\w, )?(--[a-z-]+)", shown, re.MULTILINE)


def test_every_option_stands_once() -> None:
    listed = options()
    assert len(listed) == len(set(listed))
    assert set(listed) == {one.opts[-1] for one in run.params if one.opts[0].startswith("-")} | {"--help"}


@pytest.mark.parametrize(
    ("study", "has", "lacks"),
    [
        ("cold-start", "--warm-up", "--salt"),
        ("signing", "--signer", "--server"),
        ("denial-cost", "--salt", "--profile"),
        ("functionality", "--role", "--load-seconds"),
        ("encrypted-cost", "--transport", "--queries"),
    ],
)
def test_after_a_study_its_own_options_are_listed(study: str, has: str, lacks: str) -> None:
    listed = options(study)
    assert {has, "--quick", "--seed", "--out", "--json"} <= set(listed)
    assert lacks not in listed


def test_every_option_is_one_of_a_study_or_of_all_runs() -> None:
    assert set(options()) == {option for study in studies() for option in options(study.name)}

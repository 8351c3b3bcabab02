"""`dnsrig verify --only-failures`: what a reader may have to do something about, and nothing else."""

import json
from datetime import UTC, datetime

import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.items.catalogue import items
from dnsrig.verification.output.comparison import Comparison
from dnsrig.verification.output.terminal import print_comparison, print_verification
from dnsrig.verification.runner import Result
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, not_applicable, passed, passed_by_tcp
from dnsrig.verification.verification import Verification

BEGAN = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
PASSING = (passed("It holds."), passed_by_tcp("It holds by TCP."), not_applicable("There is none."))


def verified(target: str, *outcomes: Outcome) -> Verification:
    first = items("authoritative")[: len(outcomes)]
    results = [Result(one.item, outcome) for one, outcome in zip(first, outcomes, strict=True)]
    return Verification("authoritative", target, None, None, results, 1.0, began=BEGAN)


def test_a_table_of_failures_has_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    verification = verified("nsd", *PASSING, failed("It broke."), inconclusive("Nothing came."))
    ids = [result.item.id for result in verification.results]
    print_verification(verification, only_failures=True)
    told = capsys.readouterr().out
    assert "It broke." in told and "Nothing came." in told
    assert [line.split()[0] for line in told.splitlines() if line.split()[0] in ids] == ids[3:]
    assert ": 1 fail, 1 inconclusive, 1 pass by TCP, 1 pass, 1 not applicable; 1.0 s" in told
    print_verification(verified("nsd", *PASSING), only_failures=True)
    assert capsys.readouterr().out == "authoritative nsd: 1 pass by TCP, 1 pass, 1 not applicable; 1.0 s\n"


def test_a_comparison_has_what_any_target_fails(capsys: pytest.CaptureFixture[str]) -> None:
    one = verified("nsd", passed("Yes."), passed("Yes."), failed("No."), passed("Yes."))
    other = verified("bind", passed("Yes."), inconclusive("Who knows."), failed("No."), not_applicable("None."))
    ids = [result.item.id for result in one.results]
    print_comparison(Comparison([one, other]), only_failures=True)
    told = capsys.readouterr().out
    assert "targets differ (1)" in told and "targets are alike (1)" in told
    shown = {line.split()[0] for line in told.splitlines() if line.startswith("  ")}
    assert shown & set(ids) == {ids[1], ids[2]}
    assert told.count("authoritative ") == 2, "each has its summary"


def test_json_holds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["verify", "authoritative", "embedded", "--item", "A-soa", "--only-failures"]
    assert run_command_line([*command, "--json"]) == 0
    assert [item["id"] for item in json.loads(capsys.readouterr().out)["items"]] == ["A-soa"]
    assert run_command_line(command) == 0
    assert capsys.readouterr().out.startswith("authoritative embedded")

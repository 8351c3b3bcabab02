"""Published figures beside measured ones: which verdict each gets, and what a report and a summary say of it."""

from typing import Any

import pytest
from dnsrig.report.cases import CaseResult
from dnsrig.report.claim_tables import published_section
from dnsrig.report.claims import compare_published, range_text, verdict_on
from dnsrig.report.grid import Grid
from dnsrig.report.layout import Axis, PublishedClaim, StudyText
from dnsrig.report.notes import Notes
from dnsrig.report.sections import Findings

ON, OFF = {"validation": "on"}, {"validation": "off"}


def claim(**more: Any) -> PublishedClaim:
    fields = {
        "figure": "qps",
        "of": ON,
        "to": OFF,
        "taken_as": (0.54, 0.66),
        "above": "it is quicker",
        "below": "slower",
    }
    return PublishedClaim("JPRS-2010", ("case.ratio",), "rate with validation", "0.60", **{**fields, **more})


def text_of(*claims: PublishedClaim) -> StudyText:
    axes = Axis("validation", "Validation"), Axis("asked", "Queries")
    return StudyText("s", "S", "?", (), "source", *axes, baseline="off", baseline_label="off", claims=claims)


def case(state: str, rates: list[float], server: str = "unbound", tainted: str = "") -> CaseResult:
    measurements = tuple(
        {
            "repetition": number,
            "load": {"qps": rate, "answered": 1, "sent": 1},
            "server": {},
            "tainted": [tainted] if tainted else [],
            "server_cpu_us_per_query": 1e6 / rate if rate else None,
        }
        for number, rate in enumerate(rates)
    )
    axes = {"server": server, "server_title": server.title(), "validation": state, "asked": "all"}
    return CaseResult(f"{server}-{state}", axes, measurements)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.55, 0.65, "as published"),
        (0.54, 0.66, "as published"),
        (0.50, 0.60, "not decided"),
        (0.10, 1.90, "not decided"),
        (0.67, 0.70, "other"),
        (0.10, 0.53, "other"),
        (None, None, "not decided"),
    ],
)
def test_a_verdict_follows_from_the_whole_interval(low: float | None, high: float | None, verdict: str) -> None:
    assert verdict_on(low, high, claim()) == verdict


def test_a_range_without_an_end_has_none() -> None:
    more = claim(taken_as=(2.0, None))
    assert [verdict_on(low, low + 1, more) for low in (0.5, 1.5, 2.0, 99.0)] == [
        "other", "not decided", "as published", "as published",
    ]  # fmt: skip
    assert [range_text(claim(taken_as=ends)) for ends in ((2.0, None), (None, 2.0), (None, None), (1.0, 2.0))] == [
        "2.00 or more", "2.00 or less", "-", "1.00\N{EN DASH}2.00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rates", "verdict", "because"),
    [
        ([60.0, 60.5, 59.5], "as published", ""),
        ([90.0, 90.5, 89.5], "other", "it is quicker (server CPU per query: 1.11 times)"),
        ([30.0, 30.5, 29.5], "other", "slower (server CPU per query: 3.33 times)"),
        ([55.0, 70.0, 62.0], "not decided", "its interval reaches out of that range"),
        ([60.0], "not decided", "one repetition has no interval"),
        ([0.0, 0.0, 0.0], "not compared", "what it is made of was not measured, or is 0"),
    ],
)
def test_a_published_ratio_is_compared_with_that_of_two_cases(rates: list[float], verdict: str, because: str) -> None:
    evidence = ("server_cpu_us_per_query",)
    cases = [case("on", rates), case("off", [100.0] * len(rates))]
    (found,) = compare_published(text_of(claim(evidence=evidence)), cases)
    assert (found.verdict, found.because, found.server) == (verdict, because, "unbound")
    assert found.as_json()["verdict"] == verdict


def test_a_figure_that_is_a_ratio_already_is_of_one_case() -> None:
    alone = claim(to=None, taken_as=(90.0, 110.0))
    (found,) = compare_published(text_of(alone), [case("on", [100.0, 101.0, 99.0])])
    assert (found.verdict, found.ratio, found.n) == ("as published", 100.0, 3)


def test_what_is_not_compared_says_why() -> None:
    lacking = claim(lacking="absolute rates belong to the hardware of 2010")
    found = compare_published(text_of(lacking, claim()), [case("on", [60.0, 60.0]), case("on", [60.0, 60.0], "bind")])
    assert [(item.server, item.verdict) for item in found] == [
        (None, "not compared"), ("unbound", "not compared"), ("bind", "not compared"),
    ]  # fmt: skip
    assert [item.because for item in found] == [
        "absolute rates belong to the hardware of 2010", *["this run has not the cases for it"] * 2,
    ]  # fmt: skip


def test_a_report_has_each_verdict_with_its_reason_and_marks_tainted_figures() -> None:
    text = text_of(claim(), claim(lacking="nobody knows"))
    cases = [
        case("on", [90.0, 90.5, 89.5]), case("off", [100.0] * 3),
        case("on", [60.0, 60.5, 59.5], "bind", "a noisy neighbour"), case("off", [100.0] * 3, "bind"),
    ]  # fmt: skip
    notes = Notes()
    section = published_section(Findings(Grid(text, cases, 1), notes), ("A word.",))
    (table,) = section.tables
    assert table.header == ("", "published", "taken as that", "Unbound", "Bind")
    rows = [[(cell.text, cell.detail, cell.mark) for cell in row] for row in table.rows]
    dash = "\N{EN DASH}"
    assert rows[0][1:3] == [("0.60", "", ""), (f"0.54{dash}0.66", "", "")]
    assert rows[0][3] == (f"0.90 (0.89{dash}0.91)", "other", "")
    assert rows[0][4] == (f"0.60 (0.59{dash}0.61)", "as published", "a")
    assert rows[1][3:] == [("-", "not compared", "")] * 2
    assert table.notes == (("a", "a noisy neighbour"),)
    assert section.paragraphs[0] == "A word."
    assert section.remarks == (
        "Rate with validation, published 0.60, Unbound: other, because it is quicker.",
        "Rate with validation, published 0.60: not compared, because nobody knows.",
    )

"""Verifications as JSON, JUnit XML, pages and on a terminal."""

import io
import json
import re
import sys
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from importlib import resources
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from xml.etree import ElementTree as ET

import click
import dns.edns
import dns.message
import dns.name
import jsonschema
import pytest
from dns.rdatatype import RdataType
from dnsrig import __version__
from dnsrig.cli.app import run_command_line
from dnsrig.cli.verify_options import Wishes, verify_each
from dnsrig.cli.verify_trial import typed_command
from dnsrig.console import UNBOUNDED
from dnsrig.errors import EnvironmentLacksError, InputError, SubjectFailedError
from dnsrig.items.catalogue import items
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import Known
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.item import ROLES
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.output.as_json import comparison_as_json, verification_as_json
from dnsrig.verification.output.comparison import Comparison
from dnsrig.verification.output.junit import junit_xml
from dnsrig.verification.output.page import page
from dnsrig.verification.output.terminal import SHORT, _same_reason, _side_by_side, print_comparison, print_verification
from dnsrig.verification.output.untried import not_tried
from dnsrig.verification.queries import Query
from dnsrig.verification.runner import Result
from dnsrig.verification.subjects.authoritative import LANDMARKS, AuthoritativeSubject
from dnsrig.verification.targets import merged
from dnsrig.verification.transcript import transcript
from dnsrig.verification.verdicts import (
    Evidence,
    Severity,
    Verdict,
    failed,
    inconclusive,
    not_applicable,
    passed,
    passed_by_tcp,
)
from dnsrig.verification.verification import Verification
from rich.console import Console

BEGAN = datetime(2026, 3, 1, 12, 30, tzinfo=timezone(timedelta(hours=9)))
KNOWN = "It does so <as shipped>."


def some(target="192.0.2.1", known=MappingProxyType({})):
    """Give a verification with every kind of end, in the first items there are."""
    outcomes = (
        failed("It said <no> & \x07.", Evidence("soa", "$ dig <script>\n;; \x00")),
        passed("It holds."),
        not_applicable("There is none."),
        inconclusive("Nothing came."),
    )
    first = items("authoritative")[: len(outcomes)]
    results = [Result(one.item, outcome) for one, outcome in zip(first, outcomes, strict=True)]
    return Verification("authoritative", target, None, "example.", results, 1.25, known, began=BEGAN)


def some_known(target="192.0.2.1"):
    """The same, of a server that is known to fail what it failed, and to fail what it passed."""
    return some(target, {result.item.id: [Known(KNOWN, "It said")] for result in some().results})


def fits(found, name="verification"):
    """Check an object by one of dnsrig's schemas."""
    schema = json.loads(resources.files("dnsrig.schemas").joinpath(f"{name}.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)


def test_json_is_as_its_schema_says():
    found = verification_as_json(some())
    fits(found)
    assert found["summary"] == {"pass": 1, "pass_by_tcp": 0, "fail": 1, "not_applicable": 1, "inconclusive": 1}
    assert [item["verdict"] for item in found["items"]] == ["fail", "pass", "not_applicable", "inconclusive"]


def test_what_to_know_of_a_target_stands_in_each_report(capsys):
    told = replace(some(), remark="It is <asked> from here.")
    found = verification_as_json(told)
    fits(found)
    assert found["remark"] == told.remark and verification_as_json(some())["remark"] is None
    assert "It is &lt;asked&gt; from here." in page([told], [])
    print_verification(told)
    assert told.remark in capsys.readouterr().out.splitlines()


def test_junit_can_be_read_whatever_servers_say():
    text = junit_xml([some()], Severity.NOTICE)
    suite = ET.fromstring(text)[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "2")
    failure = suite.find("testcase/failure")
    assert "<no> &" in failure.get("message") and "dig <script>" in failure.text


def test_junit_has_errors_where_inconclusive_items_are_to_fail():
    suite = ET.fromstring(junit_xml([some()], Severity.NOTICE, fails_on_inconclusive=True))[0]
    counts = tuple(suite.get(name) for name in ("tests", "failures", "errors", "skipped"))
    assert counts == ("4", "1", "1", "1")
    assert suite.find("testcase/error").get("type") == "inconclusive"
    assert len(suite.findall("testcase/skipped")) == 1


def test_known_deviations_stand_beside_failures_and_nowhere_else(capsys):
    verification = some_known()
    print_verification(verification)
    told = capsys.readouterr().out
    assert told.count(f"known: {KNOWN}") == 1
    assert "fail (1, 1 known of this version)" in told and ": 1 fail (1 known), 1 inconclusive" in told
    print_comparison(Comparison([some_known("nsd"), some("bind")]))
    told = capsys.readouterr().out
    assert told.count("FAIL (known)") == 2 and told.count(f"known: {KNOWN}") == 1 and told.count("FAIL") == 4
    found = verification_as_json(verification)["items"]
    assert [item["known_deviation"] for item in found] == [KNOWN, None, None, None]
    assert page([some_known("nsd"), some("bind")]).count("Known of this version: It does so &lt;as shipped&gt;.") == 2
    failure = ET.fromstring(junit_xml([verification], Severity.NOTICE))[0].find("testcase/failure")
    assert f"known: {KNOWN}" in failure.text
    # A known failure is a failure.
    assert verification.fails_at(verification.of(Verdict.FAIL)[0].item.severity)


def test_failures_below_the_threshold_do_not_count():
    verification = some()
    severity = verification.of(Verdict.FAIL)[0].item.severity
    assert verification.fails_at(severity)
    above = [other for other in Severity if other.rank > severity.rank]
    assert not any(verification.fails_at(other) for other in above)
    for other in above:
        assert ET.fromstring(junit_xml([verification], other))[0].get("failures") == "0"


ODD_TARGET = "\x1b[31m\udcff\u202e"
"""A control character, an octet that is no UTF-8, as names of files may have them, and a reversal of the direction."""


def test_what_is_typed_spoils_no_report():
    odd = replace(some(ODD_TARGET), command=("dnsrig", "--zone-file", "\udcff.zone"), began=BEGAN)
    not_verified = [(ODD_TARGET, f"'{ODD_TARGET}' is no host name")]
    suites = ET.fromstring(junit_xml([odd], Severity.NOTICE, not_verified).encode())
    assert [suite.get("name").split()[-1] for suite in suites] == [r"\x1b[31m\xff\u202e"] * 2
    assert r"\xff.zone" in [one.get("value") for one in suites.iter("property")][1]
    text = page([odd], not_verified)
    text.encode()
    assert "\x1b" not in text and "\u202e" not in text and r"\x1b[31m\xff\u202e" in text


def test_options_of_servers_do_not_turn_text_round():
    query = Query(name=dns.name.from_text("a.example."), rtype=RdataType.TXT)
    message = dns.message.make_response(dns.message.from_wire(query.wire(1)))
    message.use_edns(options=[dns.edns.EDEOption(1, "\u202eevil")])
    exchange = Exchange(Endpoint("192.0.2.1", 53), "udp", query, b"", message.to_wire(), 1, 1.0)
    shown = transcript(exchange)
    assert r"\u202eevil" in shown and "\u202e" not in shown


def test_pages_escape_what_servers_say():
    text = page([some(), some("192.0.2.2")])
    assert "<script>" not in text and "&lt;script&gt;" in text
    assert text.count("192.0.2.2") >= 2


@pytest.fixture
def command(capsys):
    def run(*arguments, code=0):
        capsys.readouterr()
        assert run_command_line(["verify", *map(str, arguments)]) == code
        return capsys.readouterr()

    return run


def test_lists_and_explanations(command):
    found = json.loads(command("authoritative", "--list", "--json").out)
    fits(found, "items")
    listed = found["items"]
    for item in listed:
        fits(item, "item")
    assert json.loads(command("authoritative", "--explain", "a-85", "--json").out) in listed
    assert {"A-85", "A-86", "A-87"} <= {item["id"] for item in listed}
    explained = command("authoritative", "--explain", "a-85").out
    assert "RFC 6891" in explained and "dig @" in explained
    assert "--list" in command("authoritative", "--explain", "A-0", code=2).err


def test_all_roles_are_listed_and_explained_together(command):
    found = json.loads(command("--list", "--json").out)
    fits(found, "items")
    assert {item["role"] for item in found["items"]} == set(ROLES)
    assert json.loads(command("--explain", "n-85", "--json").out) in found["items"]
    said = command("--list").out
    assert all(f"dnsrig verify {role}\n" in said for role in ROLES) and "N-answers" in said and "F-85" in said
    assert command("--explain", "n-85").out == command("path", "--explain", "N-85").out
    assert "dnsrig verify --list names them all" in command("--explain", "X-1", code=2).err
    assert "dnsrig verify path --list" in command("--list", "path", code=2).err
    assert "--json goes with" in command("--json", code=2).err


def test_usage_errors_say_what_to_do(command):
    assert "TARGET" in command("authoritative", code=2).err
    assert "--zone" in command("authoritative", "127.0.0.1", code=2).err
    assert "no address" in command("authoritative", "no-such-host.invalid", "--zone", "example", code=2).err
    assert "no domain name" in command("authoritative", "127.0.0.1", "--zone", "a..b", code=2).err


def verified(target, *outcomes):
    known = items("authoritative")[: len(outcomes)]
    results = [Result(one.item, outcome) for one, outcome in zip(known, outcomes, strict=True)]
    return Verification("authoritative", target, None, None, results, 1.0, began=BEGAN)


def test_comparison_shows_first_where_targets_differ():
    one = verified("nsd", passed("Yes."), failed("No."), passed("Yes."))
    other = verified("nsd", passed("Yes."), failed("Nor here."), inconclusive("Who knows."))
    comparison = Comparison([one, other])
    ids = [known.item.id for known in items("authoritative")[:3]]
    assert comparison.columns == ["nsd", "nsd#2"]
    assert [row.item.id for row in comparison.rows] == [ids[2], ids[1], ids[0]]
    assert [row.item.id for row in comparison.differing] == [ids[2]]
    assert [(name, result.item.id, result.outcome.reason) for name, result in comparison.reasons()] == [
        ("nsd#2", ids[2], "Who knows."),
        ("nsd", ids[1], "No."),
        ("nsd#2", ids[1], "Nor here."),
    ]
    found = comparison_as_json([one, other], [("bind", "BIND 9 is not installed")])
    fits(found, "verifications")
    for of_target in found["verifications"]:
        fits(of_target)
    assert found["comparison"][0]["verdicts"] == {"nsd": "pass", "nsd#2": "inconclusive"}
    assert [row["differs"] for row in found["comparison"]] == [True, False, False]
    assert found["not_verified"] == [{"target": "bind", "reason": "BIND 9 is not installed"}]


def test_comparison_of_targets_by_different_items():
    comparison = Comparison([verified("a", passed("Yes."), passed("Yes.")), verified("b", passed("Yes."))])
    fits(comparison_as_json(comparison.verifications, ()), "verifications")
    assert [row.verdicts for row in comparison.rows] == [(Verdict.PASS, None), (Verdict.PASS, Verdict.PASS)]
    assert "Targets differ (1)" in page(comparison.verifications)


def wishes(*, html=None, junit=None, **more):
    return Wishes("authoritative", (), Severity.ERROR, False, html, junit, True, **more)


def test_a_target_that_cannot_be_verified_leaves_the_others(capsys):
    def verify(target, keep):
        if target != "nsd":
            raise EnvironmentLacksError(f"{target} is not installed")
        keep(verified(target, passed("Yes.")))

    assert verify_each(["bind", "nsd"], verify, wishes()) == 3
    out, err = capsys.readouterr()
    assert [one["target"] for one in json.loads(out)["verifications"]] == ["nsd"]
    assert err == "not verified: bind: bind is not installed\n"
    assert verify_each(["bind", "knot"], verify, wishes()) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["verifications"] == []
    assert [one["target"] for one in json.loads(out)["not_verified"]] == ["bind", "knot"]
    assert err.count("not verified: ") == 2


def test_targets_of_the_same_name_are_told_apart_in_junit():
    twice = [verified("nsd", passed("Yes.")), verified("nsd", passed("Yes."))]
    suites = ET.fromstring(junit_xml(twice, Severity.NOTICE))
    expected = ["authoritative nsd", "authoritative nsd#2"]
    assert [suite.get("name") for suite in suites] == [f"dnsrig verify {name}" for name in expected]
    classes = [case.get("classname") for case in suites.iter("testcase")]
    assert classes == ["dnsrig.authoritative.nsd", "dnsrig.authoritative.nsd#2"]


def test_addresses_are_no_packages_in_junit():
    (suite,) = ET.fromstring(junit_xml([verified("192.0.2.1", passed("Yes."))], Severity.NOTICE))
    assert {case.get("classname") for case in suite.iter("testcase")} == {"dnsrig.authoritative.192_0_2_1"}


def test_one_target_cannot_be_compared():
    with pytest.raises(click.UsageError, match="two TARGETs"):
        verify_each(["nsd"], verified, wishes(compare=True))


def test_compare_on_the_command_line(capsys):
    command = ["verify", "authoritative", "--compare", "embedded", "embedded", "--item", "A-85"]
    assert run_command_line(command) == 0
    assert "embedded#2" in capsys.readouterr().out


COMMAND = ("dnsrig", "verify", "authoritative", "192.0.2.1", "-p", "5300")


def circumstantial(**more):
    return replace(some(), endpoint=Endpoint("192.0.2.1", 5300), command=COMMAND, **more)


def test_every_output_says_when_where_and_by_what():
    verification = circumstantial(incomplete="interrupted")
    found = verification_as_json(verification)
    fits(found)
    assert (found["address"], found["port"], found["began"]) == ("192.0.2.1", 5300, "2026-03-01T03:30:00Z")
    assert (found["dnsrig_version"], found["command"]) == (__version__, list(COMMAND))
    assert found["incomplete"] == "interrupted" and verification_as_json(some())["incomplete"] is None
    (suite,) = ET.fromstring(junit_xml([verification], Severity.NOTICE))
    told = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert told == {
        "dnsrig_version": __version__,
        "command": " ".join(COMMAND),
        "zone": "example.",
        "address": "192.0.2.1",
        "port": "5300",
        "incomplete": "interrupted",
    }
    assert suite.get("timestamp") == "2026-03-01T03:30:00"
    text = page([verification])
    assert "2026-03-01T03:30:00Z, 192.0.2.1 port 5300, dnsrig " in text
    assert " ".join(COMMAND) in text and "Incomplete: interrupted" in text


def test_what_could_not_be_verified_is_an_error_in_junit_and_said_on_the_page():
    suites = ET.fromstring(junit_xml([circumstantial(incomplete="cut")], Severity.NOTICE, [("bind", "it is missing")]))
    assert [(suite.get("tests"), suite.get("errors")) for suite in suites] == [("5", "1"), ("1", "1")]
    assert [error.get("message") for error in suites.iter("error")] == ["cut", "it is missing"]
    assert "Not verified: bind: it is missing" in page([some()], [("bind", "it is missing")])


def test_secrets_are_in_no_command_line(monkeypatch):
    typed = ["dnsrig", "verify", "--tsig", "hmac-sha256:key:c2VjcmV0", "x", "--tsig=key:c2VjcmV0", "--zone", "a"]
    monkeypatch.setattr(sys, "argv", typed)
    assert typed_command() == ("dnsrig", "verify", "--tsig", "***", "x", "--tsig=***", "--zone", "a")


def several_alike():
    why = "No DNAME record is known in the zone; --zone-file may show one."
    return verified(
        "nsd",
        *[not_applicable(why)] * 3,
        not_applicable("One server is known; --ns names others."),
        *[inconclusive("It was cut.")] * 2,
        passed("Yes."),
    )


def test_the_item_that_was_named_is_not_what_is_wanting():
    verification = verified("unbound", not_applicable("Run dnsrig verify resolver NAME --item ID for a verdict."))
    assert not_tried(verification) == ""


def test_the_same_reason_is_told_once(capsys):
    verification = several_alike()
    print_verification(verification)
    told = capsys.readouterr().out
    assert told.count("No DNAME record") == 1 and told.count("It was cut.") == 1
    ids = [result.item.id for result in verification.results]
    # The severest first, as elsewhere.
    line = told.splitlines()[told.splitlines().index(next(x for x in told.splitlines() if "No DNAME" in x)) + 1]
    assert sorted(line.strip().split(", ")) == sorted(ids[:3])
    assert "4 items were not tried for want of --zone-file (3), --ns (1)" in told
    assert all(item["reason"] for item in verification_as_json(verification)["items"])
    text = page([verification])
    print_comparison(Comparison([verification, verified("bind", inconclusive("It was cut."))]))
    told = capsys.readouterr().out
    # Once for each target.
    assert told.count("It was cut.") == 2 and "  2 items" in told
    assert text.count("No DNAME record") == 1 and all(f"<code>{id_}</code>" in text for id_ in ids)


def test_a_comparison_says_why_what_is_not_applicable_is_not(capsys):
    unserved, alone, both = "The server does not serve example.", "There is no DNAME record.", "None is known."
    one = verified(
        "nsd", passed("Yes."), *[not_applicable(unserved)] * 2, not_applicable(both), not_applicable("No X.")
    )
    other = verified(
        "bind", *[passed("Yes.")] * 2, not_applicable(alone), not_applicable(both), not_applicable("No Y.")
    )
    ids = [result.item.id for result in one.results]
    comparison = Comparison([one, other])
    print_comparison(comparison)
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("what is not applicable")
    assert lines[place + 1 : place + 4] == [
        f"  2 items, nsd: {unserved}",
        f"    {ids[1]}, {ids[2]}",
        "  3 more items, applicable to no target: why is in --html and --json",
    ]
    print_comparison(comparison, only_failures=True)
    assert unserved not in capsys.readouterr().out
    text = page([one, other])
    assert f"<td>nsd</td><td>{unserved}</td><td>{ids[1]}, {ids[2]}</td>" in text
    assert f"<td>nsd, bind</td><td>{both}</td><td>{ids[3]}</td>" in text


def test_what_ends_alike_is_not_filled_up_with_blanks():
    console = Console(width=UNBOUNDED, file=io.StringIO())
    console.print(_same_reason("None is known.", [result.item for result in several_alike().results]))
    ids = ", ".join(result.item.id for result in several_alike().results)
    assert [line.rstrip() for line in console.file.getvalue().splitlines()] == [
        "  7 items: None is known.",
        f"    {ids}",
    ]
    assert len(console.file.getvalue()) < 1000


def test_nothing_is_wrapped_where_no_terminal_is(capsys):
    long = "word " * 100
    verification = verified("nsd", failed(f"{long}."), passed("Yes."))
    print_verification(verification)
    lines = capsys.readouterr().out.splitlines()
    assert any(long in line for line in lines)
    assert not any(line.endswith(" ") for line in lines)
    print_comparison(Comparison([verification, verified("bind", failed(f"{long}."), passed("Yes."))]))
    assert any(long in line for line in capsys.readouterr().out.splitlines())


def keeping(*kept, then=None):
    """Give what verifies a target: keeps what is `kept`, and then is ended by an error."""

    def verify(target, keep):
        for one in kept:
            keep(one)
        if then is not None:
            raise then

    return verify


def test_where_nothing_was_found_out_is_no_success(capsys):
    open_items = (inconclusive("Messages are lost."), not_applicable("None."), inconclusive("Messages are lost."))
    lost = verified("nsd", *open_items)
    assert verify_each(["nsd"], keeping(lost), wishes()) == 1
    assert capsys.readouterr().err == "nothing found out: nsd: Messages are lost.\n"
    assert verify_each(["nsd", "bind"], keeping(lost, verified("bind", passed("Yes."))), wishes()) == 1
    assert verify_each(["nsd"], keeping(verified("nsd", *open_items, passed("Yes."))), wishes()) == 0
    assert verify_each(["nsd"], keeping(verified("nsd", *open_items, passed_by_tcp("So."))), wishes()) == 0


def test_each_zone_is_named_to_which_an_item_does_not_apply():
    known = items("authoritative")[:3]
    outcomes = (
        (not_applicable("No DNAME."), not_applicable("No DNAME."), not_applicable("No keys.")),
        (not_applicable("No DNAME."),) * 3,
        (not_applicable("No DNAME."), passed("Yes."), not_applicable("No DNAME.")),
    )
    by_zone = [
        [Result(one.item, outcomes[place][zone]) for place, one in enumerate(known)] for zone in range(len(outcomes))
    ]
    found = merged(known, by_zone, ("a.", "b.", "c."), {})
    assert [one.outcome.reason for one in found] == [
        "Zones a., b.: No DNAME. Zone c.: No keys.",
        "All zones: No DNAME.",
        "Zone b.: Yes.",
    ]


def test_reasons_that_name_their_zones_alone_are_one():
    known = items("authoritative")[:1]
    reasons = ("No alias is known in the zone a.", "No alias is known in the zone a.b.", "The zone x. has no c. alias.")
    by_zone = [[Result(known[0].item, not_applicable(reason))] for reason in reasons]
    found = merged(known, by_zone, ("a.", "a.b.", "c."), {})
    assert found[0].outcome.reason == (
        "Zones a., a.b.: No alias is known in the zone. Zone c.: The zone x. has no c. alias."
    )


def test_of_a_long_response_the_beginning_is_shown():
    query = Query(name=dns.name.from_text("a.example."), rtype=RdataType.TXT)
    lines = "\n".join(f"a.example. 60 IN TXT {number}" for number in range(5))
    message = dns.message.from_text(f"id 1\nopcode QUERY\nrcode NOERROR\nflags QR AA\n;ANSWER\n{lines}\n")
    exchange = Exchange(Endpoint("192.0.2.1", 53), "tcp", query, b"", message.to_wire(), 1, 1.0)
    shown = transcript(exchange, 2)
    assert shown.count('TXT "') == 2 and "ANSWER: 5" in shown and ";; ... 3 more" in shown
    assert transcript(exchange).count('TXT "') == 5


def test_where_nothing_is_applicable_nothing_is_verified(capsys):
    missing = verified("nsd", not_applicable("One server is known; --ns names others."))
    with pytest.raises(InputError, match="nothing could be verified: One server is known; --ns names others"):
        verify_each(["nsd"], keeping(missing), wishes())
    assert json.loads(capsys.readouterr().out)["summary"]["not_applicable"] == 1
    both = keeping(missing, verified("bind", passed("Yes.")))
    assert verify_each(["nsd"], both, wishes()) == 0


def test_of_a_target_that_does_not_answer_there_are_files(capsys, tmp_path):
    junit, html = tmp_path / "junit.xml", tmp_path / "page.html"
    with pytest.raises(SubjectFailedError):
        verify_each(["192.0.2.1"], keeping(then=SubjectFailedError("nobody is there")), wishes(junit=junit, html=html))
    found = json.loads(capsys.readouterr().out)
    fits(found)
    assert (found["items"], found["incomplete"]) == ([], "nobody is there")
    (suite,) = ET.fromstring(junit.read_text())
    assert suite.find("testcase/error").get("message") == "nobody is there"
    assert "Incomplete: nobody is there" in html.read_text()


def test_what_was_found_before_an_interruption_is_reported(capsys, tmp_path):
    def verify(target, keep):
        if target == "bind":
            raise KeyboardInterrupt
        keep(verified(target, failed("No.")))

    junit = tmp_path / "junit.xml"
    with pytest.raises(KeyboardInterrupt):
        verify_each(["nsd", "bind", "knot"], verify, wishes(junit=junit))
    out, err = capsys.readouterr()
    assert [one["target"] for one in json.loads(out)["verifications"]] == ["nsd"]
    assert err == "not verified: bind: interrupted\nnot verified: knot: interrupted\n"
    assert [suite.get("errors") for suite in ET.fromstring(junit.read_text())] == ["0", "1", "1"]
    with pytest.raises(KeyboardInterrupt):
        verify_each(["nsd"], keeping(then=KeyboardInterrupt()), wishes())
    assert json.loads(capsys.readouterr().out)["incomplete"] == "interrupted"


def in_turn(*ways):
    """Give what verifies targets: each in its own way."""
    left = iter(ways)

    def verify(target, keep):
        next(left)(target, keep)

    return verify


NOBODY = SubjectFailedError("nobody is there")
STARTING = keeping(then=KeyboardInterrupt())
"""It is interrupted before any item has run."""
PARTS = {"direct": ("nsd (direct)", "nsd"), "raised_limits": ("nsd", "nsd (4096 octets)")}


@pytest.mark.parametrize("as_json", [True, False])
def test_targets_of_the_same_name_of_which_nobody_answers(capsys, tmp_path, as_json):
    junit, html = tmp_path / "junit.xml", tmp_path / "page.html"
    nobody = in_turn(*[keeping(then=NOBODY)] * 2)
    more = replace(wishes(junit=junit, html=html), as_json=as_json)
    assert verify_each(["192.0.2.1"] * 2, nobody, more) == SubjectFailedError.exit_code
    out, err = capsys.readouterr()
    told = {"target": "192.0.2.1", "reason": "nobody is there"}
    assert json.loads(out)["not_verified"] == [told] * 2 if as_json else not out
    assert err == "not verified: 192.0.2.1: nobody is there\n" * 2
    assert len(ET.fromstring(junit.read_text())) == html.read_text().count("Not verified: ") == 2


@pytest.mark.parametrize(
    ("ways", "verifications", "not_verified"),
    [
        ([keeping(then=NOBODY), STARTING], [], ["nobody is there", "interrupted"]),
        ([STARTING], [], ["interrupted"] * 2),
        ([keeping(verified("nsd", passed("Yes."))), STARTING], ["nsd"], ["interrupted"]),
        ([keeping(then=NOBODY), keeping(some("nsd"), then=KeyboardInterrupt())], ["nsd"], ["nobody is there"]),
        ([keeping(then=NOBODY), keeping(then=InputError("is none"))], [], ["nobody is there", "is none"]),
    ],
)
def test_what_came_before_an_interruption_is_told(capsys, ways, verifications, not_verified):
    is_interrupted = "is none" not in not_verified
    with pytest.raises(KeyboardInterrupt) if is_interrupted else nullcontext():
        verify_each(["nsd", "nsd"], in_turn(*ways), wishes())
    told = json.loads(capsys.readouterr().out)
    assert [one["target"] for one in told["verifications"]] == verifications
    assert [(one["target"], one["reason"]) for one in told["not_verified"]] == [("nsd", why) for why in not_verified]


@pytest.mark.parametrize("option", PARTS)
@pytest.mark.parametrize("others", [[], ["bind"]])
def test_a_run_that_ends_between_two_parts_says_what_is_wanting(capsys, option, others):
    first, second = PARTS[option]
    kept = verified(first, passed("Yes."))
    with pytest.raises(KeyboardInterrupt):
        verify_each(["nsd", *others], keeping(kept, then=KeyboardInterrupt()), wishes(**{option: True}))
    told = json.loads(capsys.readouterr().out)
    assert [one["target"] for one in told["verifications"]] == [first]
    assert [one["target"] for one in told["not_verified"]] == [second, *others]
    assert verify_each(["nsd"], keeping(kept, then=NOBODY), wishes(**{option: True})) == NOBODY.exit_code
    told = json.loads(capsys.readouterr().out)
    assert told["not_verified"] == [{"target": second, "reason": "nobody is there"}]


def test_an_input_error_leaves_what_was_found(capsys):
    def verify(target, keep):
        if target == "nowhere":
            raise InputError("it is no address")
        keep(verified(target, passed("Yes.")))

    assert verify_each(["nsd", "nowhere"], verify, wishes()) == 2
    assert json.loads(capsys.readouterr().out)["verifications"][0]["target"] == "nsd"
    with pytest.raises(InputError):
        verify_each(["nowhere", "nsd"], verify, wishes())


OPTIONS = {
    **dict.fromkeys(("host", "alias", "dname", "wildcard"), "--name"),
    **dict.fromkeys(("delegation", "secure_delegation", "glue"), "--delegation"),
    "empty": "--empty",
}


def test_what_is_wanting_is_said_in_words_with_the_option_that_helps():
    subject = AuthoritativeSubject(Asker(Endpoint("127.0.0.1")), Landmarks(dns.name.from_text("example.")))
    whole = AuthoritativeSubject(subject.asker, Landmarks(subject.origin, is_whole=True))
    needed = {need for known in items("authoritative") for need in known.item.needs} & LANDMARKS.keys()
    assert needed
    for need in needed:
        words = LANDMARKS[need]
        said = f"No {words} is known in the zone example.; {OPTIONS[need]} may name one, --zone-file shows all."
        assert subject.lacks(need) == said
        assert whole.lacks(need) == f"The zone example. has no {words}."


def test_items_of_another_role_are_named_with_their_command(command):
    said = command("authoritative", "nsd", "--item", "F-85", code=2).err
    assert "--item F-85: it is an item of dnsrig verify resolver" in said
    assert "no such item" in command("authoritative", "--explain", "X-1", code=2).err


def test_tables_of_several_targets_align(capsys):
    names = ("bind", "2001:db8:53::1234:5678", "knot", "powerdns (4096 octets)")
    outcomes = (failed("No."), passed_by_tcp("By TCP."), not_applicable("None."), inconclusive("Who knows."))
    turned = [verified(name, *outcomes[place:], *outcomes[:place], passed("Yes.")) for place, name in enumerate(names)]
    comparison = Comparison(turned)
    print_comparison(comparison)
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if line.startswith("  item")]
    assert len(heads) == 2 and heads[0] == heads[1]
    starts = [heads[0].index(name) for name in (*names, "requirement")]
    for row in comparison.rows:
        (line,) = (one for one in lines if one.startswith(f"  {row.item.id} ") and row.item.requirement in one)
        cells = [line[start:end].strip() for start, end in pairwise(starts)]
        assert cells == [SHORT[verdict] for verdict in row.verdicts]
        assert line[starts[-1] :].startswith(row.item.requirement)
    assert "- not applicable, ? inconclusive" in lines


def test_a_narrow_terminal_has_verdicts_whole():
    comparison = Comparison([verified(f"server{number}", passed_by_tcp("By TCP.")) for number in range(6)])
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(_side_by_side(comparison, comparison.rows, 100))
    shown = console.export_text()
    assert shown.count("pass by TCP") == 6 and "requirement" not in shown


def test_the_sample_on_the_front_page_has_as_many_items_as_there_are():
    text = (Path(__file__).parents[2] / "README.md").read_text()
    usual = sum(not known.item.is_slow for known in items("proxy"))
    assert f"the {usual} items left out." in text
    differ, alike = re.search(r"^targets differ \((\d+)\)$.*^targets are alike \((\d+)\)$", text, re.M | re.S).groups()
    assert int(differ) + int(alike) == usual
    for line in re.findall(r"^proxy dns.*; [0-9.]+ s$", text, re.M):
        assert sum(map(int, re.findall(r"(\d+) (?:fail|pass)", line))) == usual, line

"""The study functionality: its cases, what is published, whole runs, failures and resumption, and its report."""

import json
from datetime import UTC, datetime
from importlib import resources
from itertools import product

import jsonschema
import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.cli.signals import INTERRUPTED
from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.items.catalogue import items
from dnsrig.items.resolver._table import STATUSES
from dnsrig.studies.functionality import bench, cases
from dnsrig.studies.functionality.found import Target, _agreed
from dnsrig.studies.functionality.published import Outcome, published_items
from dnsrig.studies.functionality.settings import FunctionalitySettings
from dnsrig.studies.functionality.support import support
from dnsrig.verification.deviations import known_deviations
from dnsrig.verification.item import ROLES
from dnsrig.verification.runner import run_items
from dnsrig.verification.tree.cases import TableRow
from dnsrig.verification.tree.plan import PLANS
from dnsrig.verification.tree.zones_algorithms import SUPPORT, UNSUPPORT
from dnsrig.verification.verification import Verification

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)


def settings(*servers, **more):
    return FunctionalitySettings(servers=servers, seed=1, **more)


def schema(name):
    return json.loads(resources.files("dnsrig.schemas").joinpath(name).read_text())


def only_run(folder):
    (run,) = folder.iterdir()
    return run


@pytest.fixture
def all_installed(monkeypatch):
    monkeypatch.setattr(cases, "_is_there", lambda _name, _role: True)


class Bare:
    """A subject that has nothing, so that items that need something are not applicable at once."""

    def lacks(self, need):
        return f"It has no {need}."

    def silence(self):
        return ""

    def renewed(self):
        return self


def without_servers(case, known, _folder, _held):
    """Verify nothing: every item that needs something is not applicable."""
    needy = [one for one in known if one.item.needs]
    found = run_items(needy, Bare())
    title = f"{cases.title(case)} 1.2"
    return lambda: Verification(case.role, case.target, title, None, found, 0.5, began=BEGAN)


def test_published_items_are_of_their_roles():
    assert {item.role for item in published_items()} == set(ROLES)
    for published in published_items():
        assert published.outcome in Outcome.__args__
        elsewhere = {known.item.id for role in ROLES if role != published.role for known in items(role)}
        assert not elsewhere & set(published.items)


def test_a_server_is_a_case_in_each_of_its_roles(all_installed):
    found = cases.cases(settings("bind", "unbound", "dnsmasq", "dnsdist+nsd", "router"))
    assert {case.case_id for case in found} == {
        "authoritative-bind",
        "authoritative-dnsdist+nsd",
        "resolver-bind",
        "resolver-unbound",
        "proxy-dnsmasq",
        "path-router",
    }
    assert [case.role for case in found] == sorted((case.role for case in found), key=ROLES.index)
    assert {case.role for case in cases.cases(settings("bind", roles=("resolver",)))} == {"resolver"}


def test_quick_runs_the_published_items_alone():
    for role in ROLES:
        known = {known.item.id for known in cases.case_items(role, "published")}
        assert known and known < {known.item.id for known in cases.case_items(role, "all")}


def test_verdicts_that_vary_are_inconclusive():
    same = [{"verdict": "pass", "reason": "It holds."}] * 2
    assert _agreed(same) == same[0]
    found = _agreed([*same, {"verdict": "fail", "reason": "It does not."}])
    assert found["verdict"] == "inconclusive"
    assert found["reason"] == "Repetitions end differently: pass, pass, fail. It does not."


def test_known_deviations_are_those_of_the_version_and_role():
    assert known_deviations("authoritative", "powerdns", "4.7.3").keys() >= {"A-axfr", "A-dname", "A-zonemd"}
    assert "F-digest-downgrade" in known_deviations("resolver", "unbound", "1.17.1")
    assert known_deviations("resolver", "knot-resolver", "1.17.1") == known_deviations("proxy", "dnsdist", "0.1") == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--server", "nonsense"], "nothing named 'nonsense'"),
        (["--role", "nonsense"], "'nonsense' is not one of"),
        (["--server", "embedded", "--role", "proxy"], "none of the servers is a target as proxy"),
        (["--records", "100"], "functionality has no --records"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path, capsys, arguments, said):
    assert run_command_line(["run", "functionality", *arguments, "--out", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_quick_run_of_the_embedded_server(dnsrig, tmp_path):
    done = dnsrig("run", "functionality", "--server", "embedded", "--quick", "--out", tmp_path, "--json")
    assert done.code == 0, done.err
    jsonschema.Draft202012Validator(schema("functionality.json")).validate(done.json)
    (target,) = done.json["targets"]
    assert (target["role"], target["summary"]["fail"], target["summary"]["inconclusive"]) == ("authoritative", 0, 0)
    rows = {row["id"]: row for row in done.json["published"]}
    assert rows["A-87"]["outcome"] == "could not verify"
    assert rows["A-85"]["verdicts"] == {"embedded": "pass"}
    run = only_run(tmp_path)
    assert json.loads((run / "summary.json").read_text()) == done.json
    stored = json.loads((run / "measurements/authoritative-embedded/0.json").read_text())
    jsonschema.Draft202012Validator(schema("verification.json")).validate(stored["verification"])
    assert (run / "tables/items.parquet").exists()
    page, text = (run / "report.html").read_bytes(), (run / "report.md").read_bytes()
    assert b"could not verify" in page and b"could not verify" in text
    assert dnsrig("report", run).code == 0
    assert (page, text) == ((run / "report.html").read_bytes(), (run / "report.md").read_bytes())
    compared = dnsrig("compare", run, run, "--json")
    jsonschema.Draft202012Validator(schema("verdict-comparison.json")).validate(compared.json)
    assert (compared.json["differs"], compared.json["targets"]) == (False, 1)


def test_a_server_that_fails_leaves_the_others(tmp_path, capsys, monkeypatch, all_installed):
    monkeypatch.setattr(bench, "missing", lambda _roles: [])

    def one_fails(case, known, folder, held):
        if case.target == "nsd":
            raise SubjectFailedError("NSD ended by itself")
        return without_servers(case, known, folder, held)

    monkeypatch.setattr(bench, "begun", one_fails)
    command = ["run", "functionality", "--server", "bind,nsd,knot", "--role", "authoritative", "--out", str(tmp_path)]
    assert run_command_line([*command, "--json"]) == 1
    summary = json.loads(capsys.readouterr().out)
    assert summary["status"] == "incomplete"
    assert [target["target"] for target in summary["targets"]] == ["bind", "knot"]
    assert [(entry["case_ids"], entry["reason"]) for entry in summary["not_verified"]] == [
        (["authoritative-nsd"], "NSD ended by itself")
    ]
    run = only_run(tmp_path)
    assert "NSD ended by itself" in (run / "report.md").read_text()

    verified = []

    def all_work(case, known, folder, held):
        verified.append(case.target)
        return without_servers(case, known, folder, held)

    monkeypatch.setattr(bench, "begun", all_work)
    assert run_command_line(["run", "--resume", str(run), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert verified == ["nsd"]
    assert (summary["status"], summary["not_verified"]) == ("complete", [])
    assert {target["target"] for target in summary["targets"]} == {"bind", "nsd", "knot"}


def test_an_interruption_within_a_library_ends_the_run(tmp_path, capsys, monkeypatch, all_installed):
    """As dnspython makes an error of its own of one that comes while it reads a zone."""

    def interrupted(_case, _known, _folder, _held):
        raise InputError("zone:904: ") from KeyboardInterrupt()

    monkeypatch.setattr(bench, "begun", interrupted)
    command = ["run", "functionality", "--server", "bind,nsd", "--role", "authoritative", "--out", str(tmp_path)]
    assert run_command_line(command) == INTERRUPTED
    assert "to go on: dnsrig run --resume" in capsys.readouterr().err
    assert json.loads((only_run(tmp_path) / "manifest.json").read_text())["status"] == "interrupted"


def of_resolver(name, statuses):
    """Give a target whose evidence has these names with what was found for them."""
    text = "\n".join(f"{asked} (something (about) it): {status}" for asked, status in statuses.items())
    evidence = [{"title": STATUSES, "text": text}, {"title": "else", "text": "www.digest-4.nsec. (x): bogus"}]
    return Target(f"resolver-{name}", "resolver", name, name.title(), "1", 1.0, {"F-digests": {"evidence": evidence}})


def test_items_about_size_are_tried_with_both_limits(dnsrig, tmp_path):
    if cases.driver("nsd").find() is None:
        pytest.skip("needs NSD: install the Debian package nsd")
    done = dnsrig("run", "functionality", "--server", "nsd", "--quick", "--out", tmp_path, "--json")
    assert done.code == 0, done.err
    jsonschema.Draft202012Validator(schema("functionality.json")).validate(done.json)
    rows = {row["id"]: row for row in done.json["published"]}
    assert rows["A-87"]["verdicts"] == {"nsd": "pass_by_tcp"} and rows["A-87"]["raised"] == {"nsd": "pass"}
    assert {row["id"] for row in done.json["items"] if row["raised"]["nsd"]} == {"A-85", "A-86", "A-87"}
    run = only_run(tmp_path)
    assert "by TCP; 4096: pass" in (run / "report.md").read_text()
    assert "4096 octets: pass" in (run / "report.html").read_text()
    stored = json.loads((run / "measurements/authoritative-nsd/0.json").read_text())
    jsonschema.Draft202012Validator(schema("measurement.json")).validate(stored)
    jsonschema.Draft202012Validator(schema("verification.json")).validate(stored["raised"])


def test_runs_from_before_have_no_second_limit():
    target = of_resolver("one", {})
    assert target.raised == {}


def test_support_is_read_from_the_evidence():
    rows = support(
        [
            of_resolver(
                "one",
                {
                    "www.algorithm-8.nsec.": "secure",
                    "www.algorithm-8-digest-1.nsec.": "insecure",
                    "www.algorithm-8-digest-4.nsec.": "bogus",
                    "www.algorithm-3.nsec.": "insecure",
                    "www.algorithm-16.nsec.": "unanswered",
                    "www.algorithms-mixed.nsec.": "secure",
                },
            ),
            of_resolver("other", {"www.digest-1.nsec.": "secure", "www.digest-2.nsec.": "secure"}),
            of_resolver("none", {}),
        ]
    )
    assert {row.title: row.cells for row in rows} == {
        "3 DSA": ("not validated", "", ""),
        "8 RSASHA256": ("SHA-256; SHA-1 not validated; SHA-384 SERVFAIL", "", ""),
        "13 ECDSAP256SHA256": ("", "SHA-1, SHA-256", ""),
    }
    assert support([of_resolver("none", {})]) == []


def test_who_takes_wrong_signatures_has_not_validated_the_right_ones():
    right = {
        "www.algorithm-8.nsec.": "secure",
        "changed.algorithm-8.nsec.": "secure",
        "www.algorithm-8-digest-1.nsec.": "secure",
        "www.algorithm-15.nsec.": "secure",
        "changed.algorithm-15.nsec.": "bogus",
        "www.digest-1.nsec.": "secure",
        "www.digest-1-wrong.nsec.": "bogus",
        "www.digest-4.nsec.": "secure",
        "www.digest-4-wrong.nsec.": "insecure",
    }
    assert {row.title: row.cells for row in support([of_resolver("one", right)])} == {
        "8 RSASHA256": ("takes what is wrong",),
        "13 ECDSAP256SHA256": ("SHA-1; SHA-384 takes what is wrong",),
        "15 ED25519": ("SHA-256",),
    }


def test_names_of_support_are_in_the_table():
    asked = {f"{row.name}" for plan in PLANS for row in (TableRow(plan, case) for case in plan.cases)}
    assert {*SUPPORT, *UNSUPPORT, *UNSUPPORT.values()} <= asked


def test_every_algorithm_is_tried_with_every_digest_type():
    algorithms = (1, 3, 5, 7, 8, 10, 13, 14, 15, 16)
    assert sorted({*SUPPORT.values()}) == list(product(algorithms, (1, 2, 4)))


def test_reports_escape_what_servers_say(tmp_path, capsys, monkeypatch, all_installed):
    def says(case, known, folder, held):
        found = without_servers(case, known, folder, held)
        monkeypatch.setattr(Bare, "lacks", lambda _self, _need: "<script>|")
        return found

    monkeypatch.setattr(Bare, "lacks", lambda _self, _need: "<script>|")
    monkeypatch.setattr(bench, "begun", says)
    command = ["run", "functionality", "--server", "bind", "--role", "authoritative", "--out", str(tmp_path)]
    assert run_command_line(command) == 0
    out, err = capsys.readouterr()
    assert "1 case, once: 1 measurement, about" in err
    assert "could not verify" in out
    assert "<script>" not in (only_run(tmp_path) / "report.html").read_text()

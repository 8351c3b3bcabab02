"""encrypted-cost: its cases, its tables on made-up measurements, and a whole run on the embedded server."""

import dataclasses
import json
import math
from importlib import resources

import dns.message
import jsonschema
import pytest
from dnsrig import _core
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.report.build import build_report
from dnsrig.report.cases import group_cases
from dnsrig.report.grid import Grid
from dnsrig.report.notes import Notes
from dnsrig.report.sections import Findings
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.embedded import Embedded
from dnsrig.servers.registry import driver
from dnsrig.studies.bench import without_amount
from dnsrig.studies.encrypted import kernel_tls
from dnsrig.studies.encrypted.beside import attempts_section, together_section
from dnsrig.studies.encrypted.cases import all_cases, certificate_cases, kind_labels, thread_cases
from dnsrig.studies.encrypted.findings import CaseFinder
from dnsrig.studies.encrypted.inputs import drawn_labels, prepare
from dnsrig.studies.encrypted.maximum import dot_maximum
from dnsrig.studies.encrypted.offers import lacking
from dnsrig.studies.encrypted.parts import parts_section
from dnsrig.studies.encrypted.rates import published_section, rates_section, threads_section
from dnsrig.studies.encrypted.sessions import sessions_section
from dnsrig.studies.encrypted.settings import EncryptedSettings, usual_threads
from dnsrig.studies.encrypted_cost import EncryptedCost
from dnsrig.studies.placement import place

ALL = frozenset(("dot", "doh", "doq"))
SETTINGS = EncryptedSettings(servers=("nsd",), seed=3, threads=(1,), steps=(1, 64))
RATES = {
    "udp": 200_000.0,
    "tcp": 90_000.0,
    "tcp-new": 20_000.0,
    "dot-reused": 50_000.0,
    "dot-resumed": 1_000.0,
    "dot-new": 200.0,
}


def measured(kind, repetition, *, qps, certificate="ecdsa-p256", threads=1, part="transports", **more):
    transport = kind.partition("-")[0].partition("+")[0]
    cpu_us = 1e6 / qps if qps else 0.0
    opened = int(qps) if kind.endswith(("-new", "-resumed")) else 8
    connections = dict.fromkeys(("tried", "opened", "failed", "closed_by_peer", "closed"), 0)
    connections |= {"tried": opened, "opened": opened, "full": opened, "resumed": 0, "early_data": 0}
    return {
        "case_id": f"nsd-{certificate}-{threads}-{kind}",
        "case": {
            "server": "nsd",
            "server_title": "NSD",
            "server_version": "4.6.1",
            "certificate": "none" if kind in {"udp", "tcp", "tcp-new"} else certificate,
            "server_threads": threads,
            "part": part,
            "kind": kind,
            "transport": transport if transport in {"udp", "tcp", "dot"} else "tcp",
        },
        "repetition": repetition,
        "order": repetition,
        "started": "2026-11-22T00:00:00+00:00",
        "load": {
            "sent": int(qps),
            "answered": int(qps),
            "qps": qps,
            "rcodes": {"NOERROR": int(qps)},
            "latency_ns": {"p50": 1000, "p99": 2000},
            "handshake_ns": {"p50": 500_000, "p99": 900_000},
            "bytes": {"sent": int(qps) * 26, "received": int(qps) * 94},
            "wire": {"octets_sent": 0 if transport == "udp" else int(qps) * 50, "octets_received": int(qps) * 120},
            "connections": connections,
            "duration_s": 1.0,
        },
        "server": {"cpu_us": 1e6, "cpu_share": 0.97, "rss_bytes_max": 2**20},
        "generator": {"cpu_us": 1e6},
        "server_cpu_us_per_query": None if "+" in kind else cpu_us,
        "bottleneck": "generator" if kind == "dot-new" else "server",
        "evidence": ["as made up"],
        "tainted": ["made up"] if kind == "dot-new" else [],
        "remarks": [],
    } | ({"server_cpu_us_per_session": cpu_us} if kind.endswith(("-new", "-resumed")) else {}) | more  # fmt: skip


def finder(measurements, settings=SETTINGS):
    text = EncryptedCost().text(settings)
    grid = Grid(text, group_cases(measurements), 1)
    return CaseFinder(Findings(grid, Notes()), settings)


def alone(kinds=RATES, **more):
    return [
        measured(kind, repetition, qps=RATES[kind] * factor, **more)
        for kind in kinds
        for repetition, factor in enumerate((1.0, 1.1))
    ]


def beside_steps(rates, share=0.5):
    return [
        measured(
            f"udp+dot-{step}",
            0,
            qps=100_000.0,
            part="together",
            server={"cpu_us": 1e6, "cpu_share": share, "rss_bytes_max": 2**20},
            beside={"qps": qps, "sent": 10_000, "connections": {"tried": 5, "opened": 5}, "duration_s": 1.0},
        )
        for step, qps in rates.items()
    ]


def rows_of(table):
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_cases_follow_transports_and_parts():
    kinds = [case.kind for case in all_cases(SETTINGS, ALL)]
    assert len(kinds) == len(set(kinds)) == 3 + 3 * 3 + 2 + 3
    assert set(kinds) <= kind_labels(SETTINGS).keys()
    assert {case.kind for case in all_cases(SETTINGS, frozenset())} == {"udp", "tcp", "tcp-new"}
    assert {case.kind for case in certificate_cases(SETTINGS, ALL)} == {"dot-new", "doh-new", "doq-new"}
    assert not {case.kind for case in thread_cases(SETTINGS, ALL)} & {"dot-resumed", "udp+dot-1", "abandoned"}
    only = dataclasses.replace(SETTINGS, parts=("attempts",), transports=("dot",))
    assert [case.kind for case in all_cases(only, ALL)] == ["udp", "udp+refused", "udp+abandoned", "abandoned"]


def test_sessions_follow_the_kind():
    by_kind = {case.kind: case.main for case in all_cases(SETTINGS, ALL)}
    assert by_kind["tcp"].queries_per_session is None
    assert by_kind["doh-reused"].queries_per_session == 2000
    assert (by_kind["doq-new"].queries_per_session, by_kind["doq-new"].resumption) == (1, False)
    assert (by_kind["dot-resumed"].queries_per_session, by_kind["dot-resumed"].resumption) == (1, True)


@pytest.mark.parametrize(("processors", "expected"), [(1, (1,)), (2, (1,)), (3, (1, 2)), (9, (1, 2, 4, 8))])
def test_usual_threads_leave_the_generator_a_processor(monkeypatch, processors, expected):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(processors)))
    assert usual_threads() == expected


def test_queries_and_answers_are_all_of_one_small_size(tmp_path):
    run = RunFolder.create(tmp_path, "encrypted-cost", argv=[], settings={}, seed=1)
    inputs = prepare(run, 1)
    messages = [inputs.queries.message(index) for index in range(len(inputs.queries))]
    assert {len(message) for message in messages} == {26}
    question = dns.message.from_wire(messages[0]).question[0]
    assert question.name.labels[0].decode() == drawn_labels(1)[0] and len(question.name.labels[0]) == 4
    assert inputs.facts["zone"]["delegations"] == 1000
    before = inputs.zone_file.read_bytes()
    assert prepare(run, 1).zone_file.read_bytes() == before
    assert not _core.Zone.read(inputs.zone_file, None).warnings


def test_rates_say_orders_of_magnitude_and_mark_the_generator():
    section = rates_section(finder(alone()))
    rows = rows_of(section.tables[0])
    header = section.tables[0].flat_header[1:]
    dot_new = dict(zip(header, rows["DoT, new session a query"], strict=True))
    assert dot_new["rate: qps"].startswith("\N{GREATER-THAN OR EQUAL TO} 210")
    assert dot_new["rate: by CPU"] == "210"
    assert dot_new["orders of magnitude below: UDP"] == "3.0"
    assert dot_new["orders of magnitude below: TCP"] == "2.0"
    assert dot_new["bottleneck"] == "generator"
    udp = dict(zip(header, rows["UDP"], strict=True))
    assert udp["orders of magnitude below: UDP"] == ""
    assert udp["octets per query: sent"] == "26.0"
    assert section.tables[0].notes == (("a", "made up"),)


def test_published_stands_beside_measured():
    (table,) = published_section(finder(alone())).tables
    rows = rows_of(table)
    assert table.flat_header[1:] == ["DoT: new, below UDP", "DoT: new, below TCP", "DoT: re-used, below UDP"]
    assert rows["VRSN-2025 (published)"] == [">3", "almost 3", ">1"]
    assert rows["NSD"] == ["3.0", "2.0", "0.6"] == rows["NSD, by its CPU per query"]


def test_sessions_are_told_apart_by_certificate():
    rsa = alone(["dot-new"], certificate="rsa-2048")
    table, kept = sessions_section(finder(alone() + rsa)).tables
    found = [(row[0].text, row[1].text) for row in table.rows]
    assert found == [
        ("NSD, TCP, new session a query", "-"),
        ("NSD, DoT, resumed session a query", "ECDSA P-256"),
        ("NSD, DoT, new session a query", "ECDSA P-256"),
        ("NSD, DoT, new session a query", "RSA 2048"),
    ]
    header = table.flat_header[1:]
    new = dict(zip(header, rows_of(table)["NSD, DoT, new session a query"], strict=True))
    assert new["CPU per session: TLS alone [\N{MICRO SIGN}s]"] == "4,720"
    assert (new["sessions: full"], new["sessions: share resumed"]) == ("420", "0 %")
    tcp = dict(zip(header, rows_of(table)["NSD, TCP, new session a query"], strict=True))
    assert tcp["CPU per session: TLS alone [\N{MICRO SIGN}s]"] == "-"
    assert rows_of(kept)["NSD, DoT, 2,000 queries a session"][-2:] == ["0.0", "6,562"]


def test_threads_are_tabled_or_their_lack_is_said():
    assert "Only 1 thread" in threads_section(finder(alone())).paragraphs[0]
    settings = dataclasses.replace(SETTINGS, threads=(1, 2))
    (table,) = threads_section(finder(alone() + alone(["udp", "dot-new"], threads=2), settings)).tables
    assert [row[0].text for row in table.rows] == ["NSD, 1", "NSD, 2"]


def test_what_udp_lost_is_said():
    measurements = [measured("udp", 0, qps=200_000.0), *beside_steps({1: 28_000.0, 64: 30_000.0})]
    section = together_section(finder([*measurements, measured("dot-reused", 0, qps=60_000.0)]))
    rows = rows_of(section.tables[0])
    assert rows["VRSN-2025 (published), at DoT's maximum"][3] == "44 %"
    assert rows["NSD, 64 in flight, DoT's maximum"][:4] == ["30,000", "2,000", "100,000", "50 %"]
    assert rows["NSD, DoT alone"][:2] == ["60,000", "7,500"]
    assert "(50 % of its 60,000 qps alone)" in section.paragraphs[1]
    attempts = {"connections": {"tried": 1800, "opened": 0}, "duration_s": 1.0}
    refused = [measured("udp+refused", 0, qps=210_000.0, part="attempts", beside=attempts)]
    found = attempts_section(finder([measured("udp", 0, qps=200_000.0), *refused]))
    assert rows_of(found.tables[0])["NSD, refused"][:3] == ["0", "210,000", "-5.0 %"]
    assert together_section(finder([measured("udp", 0, qps=200_000.0)])) is None


@pytest.mark.parametrize(
    ("rates", "share", "step", "reached"),
    [
        ({1: 1000.0, 64: 9000.0, 512: 9500.0}, 0.5, 512, True),
        ({1: 1000.0, 64: 9000.0, 512: 8000.0}, 0.5, 64, True),
        ({1: 1000.0, 64: 9000.0, 512: 12000.0}, 0.5, 512, False),
        ({1: 1000.0, 64: 9000.0, 512: 12000.0}, 0.95, 512, True),
        ({64: 9000.0}, 0.5, 64, False),
    ],
)
def test_the_maximum_of_dot_is_told_from_a_highest_step(rates, share, step, reached):
    settings = dataclasses.replace(SETTINGS, steps=tuple(rates))
    found = finder([measured("udp", 0, qps=200_000.0), *beside_steps(rates, share)], settings)
    known = [(key, found.case("nsd", f"udp+dot-{key}")) for key in rates]
    maximum = dot_maximum(found, known)
    assert (maximum.step, maximum.is_reached) == (step, reached)
    section = together_section(found)
    assert ("larger --steps" in section.paragraphs[1]) == (not reached and len(rates) > 1)


def test_the_generator_keeps_its_processors_in_a_series_of_threads(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    places = [place(threads, 4) for threads in (1, 2, 4)]
    assert {found.generator for found in places} == {frozenset({4, 5, 6, 7})}
    assert [len(found.server) for found in places] == [1, 2, 4]
    settings = dataclasses.replace(SETTINGS, threads=(1, 2, 4))
    assert (settings.sockets, settings.in_flight) == (64, 400)
    assert (SETTINGS.sockets, SETTINGS.in_flight) == (8, 100)


def test_what_cannot_be_measured_is_refused_before_a_run(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    study = EncryptedCost()
    study.check(SETTINGS)
    with pytest.raises(InputError, match="leaves 1 for the server"):
        study.check(dataclasses.replace(SETTINGS, threads=(1, 2)))
    with pytest.raises(InputError, match="needs DoT"):
        study.check(dataclasses.replace(SETTINGS, transports=("tcp",), parts=("attempts",)))
    if driver("knot").find() is not None:
        with pytest.raises(EnvironmentLacksError, match="knot: "):
            study.check(dataclasses.replace(SETTINGS, servers=("knot",), transports=("doh",), parts=("transports",)))


def test_unbound_and_dnsdist_are_measured_unless_servers_are_named(monkeypatch):
    monkeypatch.setattr("dnsrig.studies.encrypted_cost.found", lambda: {"unbound": None, "bind": None, "nsd": None})
    monkeypatch.setattr("dnsrig.studies.encrypted_cost.find_dnsdist", object)
    usual = EncryptedCost().usual_servers()
    assert usual[-2:] == ("unbound", "dnsdist+nsd") and "embedded" in usual
    monkeypatch.setattr("dnsrig.studies.encrypted_cost.find_dnsdist", lambda: None)
    assert EncryptedCost().usual_servers() == usual[:-1]


def test_what_a_server_lacks_is_listed_with_its_parts(monkeypatch):
    monkeypatch.setattr(Embedded, "lacking", classmethod(lambda *_: {"dot": "it has none", "doq": "nor that"}))
    settings = dataclasses.replace(SETTINGS, transports=("udp", "dot", "doh"))
    assert lacking("embedded", settings) == [
        ({"transport": "dot"}, "it has none"),
        ({"part": "together"}, "the part together needs DoT, which this server lacks"),
        ({"part": "attempts"}, "the part attempts needs DoT, which this server lacks"),
    ]
    without = dataclasses.replace(SETTINGS, transports=("udp",), parts=("transports", "attempts"))
    assert lacking("embedded", without) == [
        ({"part": "attempts"}, "the part attempts needs DoT, which --transport leaves out")
    ]


def test_a_server_of_two_programs_has_the_cpu_of_each_told():
    used = {"server_cpu_us_by_part": {"dnsdist": 750_000.0, "nsd": 250_000.0}}
    section = parts_section(finder([measured("udp", 0, qps=100_000.0, **used)]))
    (table,) = section.tables
    assert table.flat_header[1:] == ["dnsdist [\N{MICRO SIGN}s]", "nsd [\N{MICRO SIGN}s]"]
    assert rows_of(table) == {"UDP": ["7.50", "2.50"]}
    assert parts_section(finder(alone())) is None


def test_kernel_tls_is_looked_for(tmp_path, monkeypatch):
    assert kernel_tls.socket_refusal() in {"", "No such file or directory", "Operation not permitted"}
    monkeypatch.setattr(kernel_tls, "socket_refusal", lambda: "No such file or directory")
    without = kernel_tls.kernel_tls(tmp_path)
    assert without == kernel_tls.KernelTls("No such file or directory")
    assert "(No such file or directory)" in kernel_tls.sentence(kernel_tls.facts(without, without))
    assert "not looked for" in kernel_tls.sentence(None)
    monkeypatch.setattr(kernel_tls, "socket_refusal", lambda: "")
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/net/tls_stat").write_text("TlsCurrTxSw                     \t0\nTlsTxSw \t7\nTlsTxDevice \t1\n")
    found = kernel_tls.kernel_tls(tmp_path)
    assert found == kernel_tls.KernelTls("", sessions=8)
    assert "no session of this run" in kernel_tls.sentence(kernel_tls.facts(found, found))
    facts = kernel_tls.facts(kernel_tls.KernelTls("", sessions=1), found)
    assert "7 sessions" in kernel_tls.sentence(facts)


def test_reasons_are_the_same_for_all_repetitions():
    pairs = [
        ("the generator used 96 % of its CPU: so", "the generator used nearly all of its CPU: so"),
        ("other programs kept the generator from its CPU for 31 % of the time", None),
        ("4.30 % of the queries timed out", "some queries timed out"),
        ("12 datagrams were dropped", "some datagrams were dropped"),
        ("nothing that was measured explains the rate", "nothing that was measured explains the rate"),
    ]
    for reason, expected in pairs:
        assert without_amount(reason) == (expected or "other programs kept the generator from its CPU")


@pytest.mark.usefixtures("pictures")
def test_a_whole_run_keeps_the_contract(dnsrig, tmp_path):
    # Long enough for the first of 256 sessions that are opened at once, on a busy machine.
    brief = ["--repetitions", 2, "--load-seconds", 1.5, "--warm-up-seconds", 0, "--transport", "udp,tcp,dot"]
    done = dnsrig("run", "encrypted-cost", "--quick", "--server", "embedded", *brief, "--out", tmp_path, "--json")
    assert done.code == 0, done.err
    summary = done.json
    jsonschema.validate(summary, json.loads(resources.files("dnsrig.schemas").joinpath("summary.json").read_text()))
    by_case = {(case["kind"], case["certificate"]): case for case in summary["cases"]}
    assert len(by_case) == len(summary["cases"]) == 3 + 3 + 3 + 3 + 1
    assert not summary["not_measured"]
    new = by_case["dot-new", "rsa-2048"]
    assert new["connections"]["full"] == new["connections"]["opened"] > 0
    assert new["server_cpu_us_per_session"] > by_case["tcp-new", "none"]["server_cpu_us_per_session"]
    assert by_case["dot-resumed", "ecdsa-p256"]["connections"]["resumed"] > 0
    assert {case["response_bytes_mean"] for case in summary["cases"] if case["answered"]} == {94}
    assert by_case["abandoned", "none"]["connections"]["opened"] > 0
    assert by_case["udp+refused", "ecdsa-p256"]["server_cpu_us_per_query"] is None
    assert math.isfinite(by_case["udp", "none"]["qps"]["median"])
    (run,) = tmp_path.iterdir()
    page = (run / "report.html").read_text()
    assert page.count("<svg") == 2 and "VRSN-2025 (published)" in page and "Kernel TLS" in page
    assert (run / "pictures" / "rate-by-transport.png").exists()
    one = next(run.glob("measurements/*udp+dot-1/0.json"))
    beside = json.loads(one.read_text())["beside"]
    assert beside["transport"] == "dot" and beside["answered"] > 0
    handshake = json.loads(next(run.glob("measurements/*rsa-2048-1-dot-new/0.json")).read_text())["tls"]
    assert handshake["version"] == "TLS 1.3" and handshake["cipher_suite"].startswith("TLS_")
    assert "All servers and the generator agreed on TLS 1.3" in page
    (run / "report.html").unlink()
    folder = RunFolder.open(run)
    settings = EncryptedSettings.from_manifest(folder.manifest()["settings"])
    build_report(folder, EncryptedCost().text(settings))
    assert (run / "report.html").read_text() == page


def test_a_transport_that_a_server_lacks_is_said(dnsrig, tmp_path):
    if driver("nsd").find() is None:
        pytest.skip("needs the Debian package nsd")
    brief = ["--repetitions", 1, "--load-seconds", 0.2, "--warm-up-seconds", 0, "--part", "transports"]
    done = dnsrig(
        *("run", "encrypted-cost", "--server", "nsd", "--transport", "udp,doq", *brief),
        *("--out", tmp_path, "--json"),
    )
    assert done.code == 0, done.err
    assert [item["reason"] for item in done.json["not_measured"]] == ["NSD has no DNS over QUIC"]
    assert [case["kind"] for case in done.json["cases"]] == ["udp"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("encrypted-cost", "--denial", "nsec"), "has no --denial"),
        (("encrypted-cost", "--transport", "udp,dnscrypt"), "not one of udp, tcp, dot, doh, doq"),
        (("encrypted-cost", "--threads", "0"), "--threads"),
        (("denial-cost", "--transport", "dot"), "udp or tcp"),
        (("denial-cost", "--threads", "1,2"), "takes one value for --threads"),
        (("denial-cost", "--certificate", "rsa-2048"), "has no --certificate"),
    ],
)
def test_options_that_a_study_does_not_have_are_refused(dnsrig, tmp_path, arguments, said):
    done = dnsrig("run", *arguments, "--server", "embedded", "--out", tmp_path)
    assert done.code == 2 and said in done.err, done.err
    assert not list(tmp_path.iterdir())

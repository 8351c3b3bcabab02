"""Sections of the report on UDP beside something else: DoT as it rises, and connections that come to nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU_PER_SESSION, MICRO, QPS
from dnsrig.report.pictures.trade_off import Point, draw_trade_off
from dnsrig.report.sections import Drawing, Section
from dnsrig.report.statistics import RatioEstimate
from dnsrig.report.tables import Cell, Table
from dnsrig.report.verdicts import percent
from dnsrig.studies.encrypted.cases import (
    ABANDONED,
    ABANDONED_AFTER_S,
    ATTEMPTS_ALONE,
    REFUSED,
    UDP,
    beside_attempts,
    beside_dot,
    reused,
)
from dnsrig.studies.encrypted.findings import BESIDE_QPS, MISSING, PER_CPU, SERVER_SHARE, CaseFinder
from dnsrig.studies.encrypted.maximum import SERVER_FULL, SMALL_GROWTH, dot_maximum, maximum_sentence
from dnsrig.studies.encrypted.rates import published

BY_CPU_NOTE = (
    "By CPU: by how much UDP's answers per second of server CPU fell. It leaves out what the generator or other "
    "programs took from both loads, and says what of the server's work no longer goes to UDP. A rise is negative."
)


def together_section(finder: CaseFinder) -> Section | None:
    """Return UDP's rate while DoT rises; None where no server was measured so."""
    grid, settings = finder.findings.grid, finder.settings
    rows: list[tuple[Cell, ...]] = []
    curves: list[tuple[str, list[Point]]] = []
    sentences: list[str] = []
    shown: list[CaseResult] = []
    for server in grid.servers:
        cases = [finder.case(server, beside_dot(step)) for step in settings.steps]
        known = [(step, case) for step, case in zip(settings.steps, cases, strict=True) if case is not None]
        alone = finder.case(server, UDP)
        if not known or alone is None:
            continue
        shown += [alone, *(case for _, case in known)]
        maximum = dot_maximum(finder, known)
        rows.append(_together_row(finder, f"{grid.titles[server]}, UDP alone", alone, None))
        for step, case in known:
            label = f"{grid.titles[server]}, {step:,} in flight"
            if maximum is not None and step == maximum.step:
                label += ", DoT's maximum" if maximum.is_reached else ", DoT's highest, not its maximum"
            rows.append(_together_row(finder, label, case, alone))
        dot_alone = finder.case(server, reused("dot"))
        if dot_alone is not None:
            shown.append(dot_alone)
            rows.append(_dot_alone_row(finder, f"{grid.titles[server]}, DoT alone", dot_alone))
        if maximum is not None:
            sentences.append(maximum_sentence(finder, server, maximum))
        points = [_point(finder, alone), *(_point(finder, case) for _, case in known)]
        curves.append((grid.titles[server], [point for point in points if point is not None]))
    if not rows:
        return None
    fallen = published()["mixed"]["udp_loss_percent_at_dot_maximum"]
    published_row = (Cell("VRSN-2025 (published), at DoT's maximum"), *[MISSING] * 3, Cell(f"{fallen} %"))
    table = Table(
        "UDP beside DoT: medians with 95 % intervals",
        (
            *("DoT queries", "DoT qps", "DoT queries a session", "UDP qps", "UDP fell by", "by CPU"),
            *("server CPUs", "bottleneck of UDP"),
        ),
        ((*published_row, MISSING, MISSING, MISSING), *rows),
        (),
        tuple(finder.findings.notes.reasons(shown)),
    )
    drawing = Drawing(
        "udp-beside-dot",
        "UDP's rate against DoT's rate on the same server at the same time; the leftmost point of each curve is UDP "
        "alone. Medians, with 95 % intervals of UDP's rate (an arrow: it goes on); open points are "
        "tainted, as the table says.",
        lambda: draw_trade_off(curves, "DoT: answered queries per second", "UDP: answered qps"),
    )
    return Section("UDP while DoT rises", (_together_words(finder), *sentences), (drawing,), (table,), (BY_CPU_NOTE,))


def _together_words(finder: CaseFinder) -> str:
    settings = finder.settings
    return (
        f"UDP runs as alone, a closed loop of {settings.in_flight} queries. A second load runs a closed loop over DoT "
        f"at the same time, with more and more queries in flight, over at most {settings.sockets} sessions of "
        f"{settings.queries_per_session:,} queries (as many as the loads were long enough for stand in the table). DoT "
        f"is at its maximum where the last step raises its rate by less than {percent(SMALL_GROWTH)} %, or the server "
        f"uses {percent(SERVER_FULL)} % of its processors. Where the generator has two processors or more, each load "
        "has its own. Where it has one, they share it: what UDP loses then is lost on both sides, DoT's maximum may be "
        "the generator's, and the bottleneck says which one was nearer to its limit."
    )


def _together_row(finder: CaseFinder, label: str, case: CaseResult, alone: CaseResult | None) -> tuple[Cell, ...]:
    return (
        finder.label_cell(label, case),
        MISSING if alone is None else finder.cell(case, BESIDE_QPS, marked=False),
        MISSING if alone is None else _queries_per_session([item["beside"] for item in case.measurements]),
        finder.cell(case, QPS, marked=False),
        *(MISSING if alone is None else _fallen_cell(finder.ratio(case, alone, figure)) for figure in (QPS, PER_CPU)),
        finder.cell(case, SERVER_SHARE, marked=False),
        Cell(case.bottleneck),
    )


def _dot_alone_row(finder: CaseFinder, label: str, case: CaseResult) -> tuple[Cell, ...]:
    return (
        finder.label_cell(label, case),
        finder.cell(case, QPS, marked=False),
        _queries_per_session([item["load"] for item in case.measurements]),
        *[MISSING] * 3,
        finder.cell(case, SERVER_SHARE, marked=False),
        MISSING,
    )


def _queries_per_session(reports: Sequence[Mapping[str, Any]]) -> Cell:
    opened = sum(report["connections"]["opened"] for report in reports)
    return Cell(f"{sum(report['sent'] for report in reports) / opened:,.0f}") if opened else MISSING


def _fallen_cell(ratio: RatioEstimate | None) -> Cell:
    if ratio is None:
        return MISSING
    detail = ""
    if ratio.low is not None and ratio.high is not None:
        detail = f"{_fallen(ratio.high)} to {_fallen(ratio.low)} %"
    return Cell(f"{_fallen(ratio.ratio)} %", detail)


def _fallen(ratio: float) -> str:
    """Print by how much something fell; a rise is negative."""
    return f"-{percent(ratio - 1)}" if ratio > 1 else percent(1 - ratio)


def _point(finder: CaseFinder, case: CaseResult) -> Point | None:
    udp, dot = finder.estimate(case, QPS), finder.estimate(case, BESIDE_QPS)
    if udp is None:
        return None
    return Point(dot.median if dot else 0.0, udp.median, udp.low, udp.high, bool(case.taints))


def attempts_section(finder: CaseFinder) -> Section | None:
    """Return what connection attempts on the DoT port do to UDP and cost; None where none were made."""
    grid, settings = finder.findings.grid, finder.settings
    rows: list[tuple[Cell, ...]] = []
    shown: list[CaseResult] = []
    for server in grid.servers:
        alone = finder.case(server, UDP)
        labelled = [("no attempts", alone)]
        labelled += [(how, finder.case(server, beside_attempts(how))) for how in (REFUSED, ABANDONED)]
        labelled += [("abandoned, no UDP", finder.case(server, ATTEMPTS_ALONE))]
        known = [(label, case) for label, case in labelled if case is not None]
        if len(known) < 2:
            continue
        shown += [case for _, case in known]
        rows.extend(_attempts_row(finder, f"{grid.titles[server]}, {label}", case, alone) for label, case in known)
    if not rows:
        return None
    found = published()["port_853"]
    table = Table(
        "UDP beside connection attempts on the DoT port: medians with 95 % intervals",
        ("", "opened a second", "UDP qps", "UDP fell by", "by CPU", "server CPUs", f"CPU per attempt [{MICRO}s]"),
        tuple(rows),
        (),
        tuple(finder.findings.notes.reasons(shown)),
    )
    words = (
        f"The published servers saw {found['attempts_per_second']:,} connection attempts a second on port 853 in the "
        f"mean over {found['days']} days, {found['share_of_one_network_percent']} % of them from one network. Here "
        f"{settings.attempts_per_s:,.0f} a second are made beside UDP's closed loop. Refused: to a port where nothing "
        f"listens, so that the kernel answers with a reset and the server knows nothing of it. Abandoned: to the DoT "
        f"port, where the server accepts them, and each is closed after {ABANDONED_AFTER_S:g} s without a byte of TLS. "
        "Without UDP, the abandoned ones tell what each costs the server."
    )
    return Section("Connection attempts on the DoT port", (words,), tables=(table,), remarks=(BY_CPU_NOTE,))


def _attempts_row(finder: CaseFinder, label: str, case: CaseResult, alone: CaseResult | None) -> tuple[Cell, ...]:
    is_alone = case is alone or case.case["kind"] == ATTEMPTS_ALONE
    return (
        finder.label_cell(label, case),
        _opened_cell(case),
        MISSING if case.case["kind"] == ATTEMPTS_ALONE else finder.cell(case, QPS, marked=False),
        *(MISSING if is_alone else _fallen_cell(finder.ratio(case, alone, figure)) for figure in (QPS, PER_CPU)),
        finder.cell(case, SERVER_SHARE, marked=False),
        finder.cell(case, CPU_PER_SESSION, marked=False),
    )


def _opened_cell(case: CaseResult) -> Cell:
    loads = [item.get("beside", item["load"]) for item in case.measurements]
    if not any(load["connections"]["tried"] for load in loads):
        return MISSING
    opened, tried = (sum(load["connections"][key] for load in loads) for key in ("opened", "tried"))
    seconds = sum(load["duration_s"] for load in loads)
    return Cell(f"{opened / seconds:,.0f}", f"of {tried / seconds:,.0f} tried")

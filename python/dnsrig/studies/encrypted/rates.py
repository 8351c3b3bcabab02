"""Sections of the report on each transport alone: rates, the published findings beside them, threads."""

import tomllib
from importlib import resources
from typing import Any

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import (
    CPU,
    MICRO,
    QPS,
    RESPONSE_BYTES,
    WIRE_RECEIVED,
    WIRE_SENT,
    short_number,
)
from dnsrig.report.notes import AT_LEAST, rate_is_lower_bound
from dnsrig.report.pictures.log_bars import LogBar, draw_log_bars
from dnsrig.report.pictures.style import COLOURS, MUTED
from dnsrig.report.sections import Drawing, Section
from dnsrig.report.tables import Cell, Table
from dnsrig.servers.transports import ENCRYPTED_TRANSPORTS, LABELS
from dnsrig.studies.encrypted.cases import TCP, TCP_NEW, UDP, kind_labels, new, resumed, reused
from dnsrig.studies.encrypted.findings import MISSING, SERVER_SHARE, CaseFinder
from dnsrig.wording import counted

_TRANSPORT_COLOURS = {UDP: MUTED, TCP: COLOURS[5], "dot": COLOURS[0], "doh": COLOURS[1], "doq": COLOURS[2]}
COLUMNS_NOTE = (
    "Orders of magnitude are of the rate: 1 is a tenth, 2 a hundredth, below 0 is faster. TCP there is the one with a "
    "new session for each query. Octets sent and received are the payload of UDP or TCP, with what TLS, HTTP/2 and "
    "QUIC add; response is the DNS message alone. Letters at a line's name are notes on all of it."
)
BY_CPU_NOTE = (
    "By CPU: reckoned, not measured. It is 1,000,000 divided by the server's CPU time per query in "
    f"{MICRO}s: the rate at which one CPU would do nothing but this work. It is steadier than the rate, and holds "
    "where the generator was the bottleneck."
)
BOUND_NOTE = (
    f"{AT_LEAST}: the generator was the bottleneck, so the server could have answered more. A handshake costs the "
    "generator about as much as the server, or more: with one processor each, the generator often is the bottleneck of "
    "the cases with a session a query. There, go by the CPU."
)


def published() -> dict[str, Any]:
    """Read the published findings."""
    text = resources.files("dnsrig.published").joinpath("vrsn-2025.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def alone_kinds(finder: CaseFinder) -> list[str]:
    """List the kinds of the cases that have a transport alone, in the order of the tables, as far as measured."""
    measured = {case.case["kind"] for case in finder.findings.grid.cases if case.case["part"] == "transports"}
    return [kind for kind in kind_labels(finder.settings) if kind in measured]


def rates_section(finder: CaseFinder) -> Section:
    """Return the highest rate of every transport, a table a server, and the picture of all."""
    grid = finder.findings.grid
    labels = kind_labels(finder.settings)
    kinds = alone_kinds(finder)
    panels = [(grid.titles[server], _bars(finder, server, kinds)) for server in grid.servers]
    drawing = Drawing(
        "rate-by-transport",
        f"Answered queries per second by transport, on a logarithmic axis. {AT_LEAST}: the generator was the "
        "bottleneck. Bars are medians, whiskers 95 % intervals; letters refer to the notes on tainted cases.",
        lambda: draw_log_bars(
            panels,
            [labels[kind] for kind in kinds],
            "answered queries per second",
            "reckoned from the server's CPU time per query",
        ),
        has_letters=True,
    )
    tables = tuple(_rate_table(finder, server, kinds) for server in grid.servers)
    return Section("Rates by transport", (), (drawing,), tables, (COLUMNS_NOTE, BOUND_NOTE, BY_CPU_NOTE))


def _bars(finder: CaseFinder, server: str, kinds: list[str]) -> list[LogBar]:
    labels = kind_labels(finder.settings)
    bars = []
    for kind in kinds:
        case = finder.case(server, kind)
        found = None if case is None else finder.estimate(case, QPS)
        if case is None or found is None:
            continue
        mark = finder.findings.notes.mark(case)
        at_least = f"{AT_LEAST} " if rate_is_lower_bound(case) else ""
        bars.append(
            LogBar(
                row=labels[kind],
                value=found.median,
                text=f"{at_least}{short_number(found.median)}{f' ({mark})' if mark else ''}",
                colour=_TRANSPORT_COLOURS[str(case.case["transport"])],
                low=found.low,
                high=found.high,
                reckoned=finder.by_cpu(case),
                tainted=bool(mark),
            )
        )
    return bars


def _rate_table(finder: CaseFinder, server: str, kinds: list[str]) -> Table:
    labels = kind_labels(finder.settings)
    rows = []
    shown: list[CaseResult] = []
    for kind in kinds:
        case = finder.case(server, kind)
        if case is None:
            continue
        shown.append(case)
        by_cpu = finder.by_cpu(case)
        rows.append(
            (
                finder.label_cell(labels[kind], case),
                finder.cell(case, QPS, marked=False),
                MISSING if by_cpu is None else Cell(short_number(by_cpu)),
                *(_below(finder, server, case, base) for base in (UDP, TCP_NEW)),
                finder.cell(case, CPU, marked=False),
                *(finder.plain_cell(case, figure) for figure in (WIRE_SENT, WIRE_RECEIVED, RESPONSE_BYTES)),
                Cell(case.bottleneck),
            )
        )
    header = (
        *("", "qps", "by CPU", "UDP", "TCP", f"[{MICRO}s]"),
        *("sent", "received", "response", "bottleneck"),
    )
    groups = (("", 1), ("rate", 2), ("orders of magnitude below", 2), ("CPU per query", 1), ("octets per query", 3))
    return Table(
        f"{_heading(finder, server)}: medians with 95 % intervals",
        header,
        tuple(rows),
        (*groups, ("", 1)),
        tuple(finder.findings.notes.reasons(shown)),
    )


def _below(finder: CaseFinder, server: str, case: CaseResult, base: str) -> Cell:
    kind = case.case["kind"]
    if kind == base or (base == TCP_NEW and kind in {UDP, TCP}):
        return Cell("")
    return finder.orders_cell(finder.case(server, base), case, QPS, marked=False)


def published_section(finder: CaseFinder) -> Section:
    """Return the published orders of magnitude beside those of every server, by rate and by CPU."""
    found = published()["orders_of_magnitude_below"]
    grid = finder.findings.grid
    measured = set(alone_kinds(finder))
    transports = [name for name in ENCRYPTED_TRANSPORTS if new(name) in measured]
    places = [
        place
        for name in transports
        for place in ((new(name), UDP), (new(name), TCP_NEW), (reused(name), UDP))
        if place[0] in measured and place[1] in measured
    ]
    values = {
        (new("dot"), UDP): found["dot without reuse, below udp"],
        (new("dot"), TCP_NEW): found["dot without reuse, below tcp"],
        (reused("dot"), UDP): found["dot with reuse, below udp"],
    }
    rows = [(Cell("VRSN-2025 (published)"), *(Cell(values.get(place, "-")) for place in places))]
    for server in grid.servers:
        title = grid.titles[server]
        pairs = [(finder.case(server, kind), finder.case(server, to)) for kind, to in places]
        rows.append((Cell(title), *(finder.orders_cell(to, case, QPS) for case, to in pairs)))
        rows.append(
            (Cell(f"{title}, by its CPU per query"), *(finder.orders_cell(case, to, CPU) for case, to in pairs))
        )
    header = ("", *(f"{'new' if kind == new(kind[:3]) else 're-used'}, below {LABELS[to[:3]]}" for kind, to in places))
    groups = [(LABELS[name], sum(kind.startswith(name) for kind, _ in places)) for name in transports]
    table = Table(
        "Orders of magnitude below UDP, and below TCP with a new session a query (1: a tenth, 2: a hundredth)",
        header,
        tuple(rows),
        (("", 1), *groups),
        tuple(finder.findings.notes.reasons(grid.cases)),
    )
    return Section(
        "Published and measured",
        (
            "The published server was one commodity machine with its authors' own software and OpenSSL 3.0.15. Here "
            "each server has as many threads as the run says, the generator is on the same machine, and loopback has "
            "neither the packets of a network card nor its round trips. So compare the order of the transports and how "
            "far apart they are, not the rates. New: a full handshake for each query. Re-used: "
            f"{finder.settings.queries_per_session:,} queries a session.",
        ),
        tables=(table,),
        remarks=(BY_CPU_NOTE,),
    )


def threads_section(finder: CaseFinder) -> Section:
    """Return rates by number of server threads, or why there is only one number."""
    settings, grid = finder.settings, finder.findings.grid
    if len(settings.threads) == 1:
        return Section(
            "By number of server threads",
            (
                f"Only {counted(settings.threads[0], 'thread')} was measured. Server and generator need processors of "
                "their own; --threads takes a list of numbers, such as 1,2,4. By default they are powers of two that "
                "leave the generator a processor.",
            ),
        )
    left_out = {resumed(transport) for transport in ENCRYPTED_TRANSPORTS}
    kinds = [kind for kind in alone_kinds(finder) if kind not in left_out]
    rows = [
        (
            Cell(f"{grid.titles[server]}, {threads}"),
            *(
                finder.cell(finder.case(server, kind, threads=threads), figure)
                for kind in kinds
                for figure in (QPS, SERVER_SHARE)
            ),
        )
        for server in grid.servers
        for threads in settings.threads
    ]
    labels = kind_labels(settings)
    table = Table(
        "Rate in qps, and CPUs that the server used, by number of threads",
        ("server, threads", *("qps", "CPUs") * len(kinds)),
        tuple(rows),
        (("", 1), *((labels[kind], 2) for kind in kinds)),
        tuple(finder.findings.notes.reasons(grid.cases)),
    )
    return Section("By number of server threads", (), tables=(table,), remarks=(BOUND_NOTE,))


def _heading(finder: CaseFinder, server: str) -> str:
    cases = [case for case in finder.findings.grid.cases if case.server == server]
    return f"{finder.findings.grid.titles[server]} {cases[0].case.get('server_version', '')}"

"""Section of the report on what opening sessions costs, and on how many queries those that are kept carry."""

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import (
    CPU_PER_SESSION,
    HANDSHAKE_P50,
    HANDSHAKE_P99,
    MICRO,
    WIRE_RECEIVED,
    WIRE_SENT,
    short_number,
)
from dnsrig.report.sections import Section
from dnsrig.report.statistics import estimate
from dnsrig.report.tables import Cell, Table
from dnsrig.report.verdicts import percent
from dnsrig.servers.certificates import LABELS as CERTIFICATE_LABELS
from dnsrig.servers.transports import ENCRYPTED_TRANSPORTS, LABELS
from dnsrig.studies.encrypted.cases import TCP_NEW, kind_labels, new, resumed, reused
from dnsrig.studies.encrypted.findings import MISSING, CaseFinder, interval
from dnsrig.studies.encrypted.soundness import full_share

TLS_NOTE = (
    "TLS alone: by how much the CPU per session is above that of TCP with a new session a query, repetition by "
    "repetition: the handshake with its tickets, records and, of DoH, HTTP/2. DoQ has no base to be compared with: "
    "there is no QUIC without TLS."
)


def sessions_section(finder: CaseFinder) -> Section:
    """Return what opening a session costs, by transport, resumption and the certificate's key."""
    tables = (_once_table(finder), _kept_table(finder))
    return Section(
        "What a session costs",
        (
            "CPU per session is the server's CPU time for each session that was opened, with its TCP or QUIC "
            "connection, its handshake, one query and its end. A handshake is timed by the generator, from the first "
            "packet to the end of TLS or QUIC, with all that waits on busy processors.",
            *_agreed(finder),
        ),
        tables=tuple(table for table in tables if table.rows),
        remarks=(TLS_NOTE,),
    )


def _agreed(finder: CaseFinder) -> list[str]:
    """Say what TLS versions, cipher suites and groups were negotiated, and whether servers differ in them."""
    by_terms: dict[str, dict[str, None]] = {}
    for case in finder.findings.grid.cases:
        for terms in (item["tls"] for item in case.measurements if "tls" in item):
            text = ", ".join(str(terms[key]) for key in ("version", "cipher_suite", "group") if terms[key])
            where = f"{finder.findings.grid.titles[case.server]} over {LABELS[str(case.case['transport'])]}"
            by_terms.setdefault(text, {})[where] = None
    if not by_terms:
        return []
    if len(by_terms) == 1:
        return [f"All servers and the generator agreed on {next(iter(by_terms))} for DoT and DoH."]
    listed = "; ".join(f"{text}: {', '.join(places)}" for text, places in by_terms.items())
    return [f"Not all servers agreed with the generator on the same for DoT and DoH, which costs differ by: {listed}."]


def _once_table(finder: CaseFinder) -> Table:
    settings = finder.settings
    rows = []
    shown: list[CaseResult] = []
    for server in finder.findings.grid.servers:
        wanted: list[tuple[str, str, str | None]] = [(TCP_NEW, "-", None)]
        for transport in ENCRYPTED_TRANSPORTS:
            wanted += [(resumed(transport), CERTIFICATE_LABELS[settings.certificates[0]], settings.certificates[0])]
            wanted += [(new(transport), CERTIFICATE_LABELS[key], key) for key in settings.certificates]
        for kind, key_label, key in wanted:
            case = finder.case(server, kind, certificate=key)
            if case is not None:
                shown.append(case)
                rows.append(_once_row(finder, case, key_label))
    header = (
        *("case", "certificate", f"[{MICRO}s]", f"TLS alone [{MICRO}s]", "median", "99 %"),
        *("full", "resumed", "share resumed", "failed", "sent", "received", "bottleneck"),
    )
    groups = (("", 2), ("CPU per session", 2), ("handshake", 2), ("sessions", 4), ("octets per query", 2), ("", 1))
    return Table(
        "A session a query: counts are sums over repetitions, the rest medians with 95 % intervals",
        header,
        tuple(rows),
        groups,
        tuple(finder.findings.notes.reasons(shown)),
    )


def _once_row(finder: CaseFinder, case: CaseResult, certificate: str) -> tuple[Cell, ...]:
    counts = {key: _total(case, key) for key in ("full", "resumed", "failed")}
    full = full_share(counts)
    label = f"{finder.findings.grid.titles[case.server]}, {kind_labels(finder.settings)[str(case.case['kind'])]}"
    return (
        finder.label_cell(label, case),
        Cell(certificate),
        finder.cell(case, CPU_PER_SESSION, marked=False),
        _tls_cell(finder, case),
        *(finder.cell(case, figure, marked=False) for figure in (HANDSHAKE_P50, HANDSHAKE_P99)),
        *(Cell(f"{counts[key]:,}") for key in ("full", "resumed")),
        MISSING if full is None else Cell(f"{percent(1 - full)} %"),
        Cell(f"{counts['failed']:,}"),
        *(finder.plain_cell(case, figure) for figure in (WIRE_SENT, WIRE_RECEIVED)),
        Cell(case.bottleneck),
    )


def _tls_cell(finder: CaseFinder, case: CaseResult) -> Cell:
    """Print the CPU per session beyond that of TCP in the same repetition."""
    base = finder.case(case.server, TCP_NEW)
    if base is None or case.case["transport"] not in {"dot", "doh"}:
        return MISSING
    plain = base.by_repetition(CPU_PER_SESSION)
    whole = case.by_repetition(CPU_PER_SESSION)
    above = [whole[repetition] - plain[repetition] for repetition in sorted(whole.keys() & plain.keys())]
    if not above:
        return MISSING
    found = estimate(above, finder.findings.grid.seed)
    return Cell(short_number(found.median), interval(found, short_number))


def _kept_table(finder: CaseFinder) -> Table:
    settings = finder.settings
    rows = []
    shown: list[CaseResult] = []
    for server in finder.findings.grid.servers:
        cases = [finder.case(server, reused(transport)) for transport in ENCRYPTED_TRANSPORTS]
        for case in (case for case in cases if case is not None):
            shown.append(case)
            opened, closed = _total(case, "opened"), _total(case, "closed")
            label = f"{finder.findings.grid.titles[server]}, {kind_labels(settings)[str(case.case['kind'])]}"
            rows.append(
                (
                    finder.label_cell(label, case),
                    Cell(f"{opened:,}"),
                    Cell(f"{closed:,}"),
                    Cell(f"{closed / (settings.sockets * case.n):.1f}"),
                    Cell(f"{case.total('sent') / opened:,.0f}") if opened else MISSING,
                )
            )
    return Table(
        f"Sessions that are to carry {settings.queries_per_session:,} queries: sums over repetitions; the last "
        "sessions of a load are cut short by its end",
        ("case", "opened", "completed", "completed a client and load", "queries a session"),
        tuple(rows),
        (),
        tuple(finder.findings.notes.reasons(shown)),
    )


def _total(case: CaseResult, key: str) -> int:
    return sum(int(item["load"]["connections"][key]) for item in case.measurements)

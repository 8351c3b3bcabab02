"""The sections of the report: pieces, threads, unsorted input, what was verified."""

from collections.abc import Sequence

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import MEMORY, WALL, ratio_text, short_number
from dnsrig.report.sections import Section
from dnsrig.report.tables import Cell
from dnsrig.studies.signing.cases import JOIN, NO_KEY, PIECE, RESIGNED_CHAIN, SPLIT, TOOLS, UNSORTED, threads_kind
from dnsrig.studies.signing.finder import MISSING, CaseFinder, Line
from dnsrig.studies.signing.published import Published
from dnsrig.studies.signing.sections import PUBLISHED
from dnsrig.studies.signing.settings import CHAINS, KEYS, PIECES, PUBLISHED_KEY

RATIO_TITLE = "Time as a ratio to the same signer's full signing"


def pieces_section(finder: CaseFinder, published: Published) -> Section | None:
    """Show splitting, joining, and parallel signing as CA-2006 reckoned it."""
    if "pieces" not in finder.settings.parts:
        return None
    key = finder.settings.resigned_keys[0]
    full_s = published.full[PUBLISHED_KEY].seconds
    # The published one piece is what is left of the reckoned sum.
    piece_s = published.parallel_s - published.split_s - published.join_s
    parts = ((SPLIT, NO_KEY, published.split_s), (PIECE, key, piece_s), (JOIN, key, published.join_s))
    labels = {SPLIT: f"split in {PIECES}", PIECE: "one piece, one thread", JOIN: f"join {PIECES} signed pieces"}
    seconds = [
        (
            Cell(labels[kind]),
            Cell(short_number(known)),
            *(finder.cell(case, WALL) for case in _cases(finder, kind, name)),
        )
        for kind, name, known in parts
    ]
    seconds.append((
        Cell("reckoned: split, one piece, join"),
        Cell(short_number(published.parallel_s)),
        *(_reckoned(finder, server, key) for server in finder.signers),
    ))  # fmt: skip
    ratios = [
        (
            Cell(labels[kind]),
            Cell(ratio_text(known / full_s)),
            *(
                finder.ratio_cell(case, finder.case(server, RESIGNED_CHAIN, key), WALL)
                for server, case in zip(finder.signers, _cases(finder, kind, name), strict=True)
            ),
        )
        for kind, name, known in parts
    ]
    ratios.append((
        Cell("reckoned: split, one piece, join"),
        Cell(ratio_text(published.parallel_s / full_s)),
        *(_reckoned(finder, server, key, as_ratio=True) for server in finder.signers),
    ))  # fmt: skip
    header = ("", PUBLISHED, *map(finder.title, finder.signers))
    names = ", ".join(TOOLS.values())
    return Section(
        f"Pieces, {KEYS[key].label}",
        (
            f"Split and join are those of {names}. The reckoned time is that of {PIECES} machines, or of as many "
            "processors, that sign a piece each with one thread; a signer without tools of its own is reckoned with "
            "dnsrig's. The published authors had no machines for it, and neither had this run.",
            *_too_long(finder),
        ),
        tables=(
            finder.table("Time in seconds", header, seconds),
            finder.table(
                f"Time as a ratio to the same signer's full signing, {CHAINS[RESIGNED_CHAIN]}", header, ratios
            ),
        ),
    )


def _cases(finder: CaseFinder, kind: str, key: str) -> list[CaseResult | None]:
    return [finder.case(server, kind, key) for server in finder.signers]


def _reckoned(finder: CaseFinder, server: str, key: str, *, as_ratio: bool = False) -> Cell:
    """Add up split, one piece and join of each repetition."""
    tools = server if finder.case(server, SPLIT) is not None else "dnsrig"
    wanted = [finder.case(tools, SPLIT), finder.case(server, PIECE, key), finder.case(tools, JOIN, key)]
    if as_ratio:
        wanted.append(finder.case(server, RESIGNED_CHAIN, key))
    cases = [case for case in wanted if case is not None]
    if len(cases) < len(wanted):
        return MISSING
    known = [case.by_repetition(WALL) for case in cases]
    common = sorted(set.intersection(*(set(part) for part in known)))
    sums = [sum(part[repetition] for part in known[:3]) for repetition in common]
    if not as_ratio:
        return finder.sum_cell(sums, short_number, cases)
    ratios = [value / known[3][repetition] for value, repetition in zip(sums, common, strict=True)]
    return finder.sum_cell(ratios, ratio_text, cases)


def threads_section(finder: CaseFinder, published: Published) -> Section | None:
    """Time by the number of threads, and how much faster than with one."""
    counts = sorted(finder.settings.threads)
    if "threads" not in finder.settings.parts or len(counts) < 2:
        return None
    key, chain, most = finder.settings.main_key, finder.settings.main_chain, finder.settings.all_threads
    lines = [Line(str(count), chain if count == most else threads_kind(count), key) for count in counts]
    signers = [server for server in finder.signers if finder.case(server, lines[0].kind, key) is not None]
    header = ("threads", *map(finder.title, signers))
    seconds = [
        (Cell(line.label), *(finder.cell(finder.case(server, line.kind, key), WALL) for server in signers))
        for line in lines
    ]
    gains = [(Cell(line.label), *(_gain(finder, server, lines[0], line) for server in signers)) for line in lines[1:]]
    limits = [
        (
            Cell(line.label),
            *(finder.limit_cell(finder.case(server, line.kind, key), WALL, int(line.label)) for server in signers),
        )
        for line in lines
    ]
    whole = published.full[PUBLISHED_KEY].seconds
    return Section(
        f"Threads, {KEYS[key].label}",
        (
            f"One process, the whole zone. The published authors reckoned {whole / published.parallel_s:.1f} times the "
            f"speed from {PIECES} pieces on {PIECES} machines, split and join included.",
            *_too_long(finder),
        ),
        tables=(
            finder.table("Time in seconds", header, seconds),
            finder.table(f"Speed as a ratio to {lines[0].label} thread", header, gains),
            finder.table("Time as a ratio to that of the signatures alone on as many threads", header, limits),
        ),
    )


def _too_long(finder: CaseFinder) -> tuple[str, ...]:
    """Say of times, where CPU times could not stand for them, that other programs are in them."""
    if not finder.disturbed:
        return ()
    return ("Other programs used the machine in every case: these times are too long, each by another part.",)


def _gain(finder: CaseFinder, server: str, first: Line, line: Line) -> Cell:
    return finder.ratio_cell(finder.case(server, first.kind, first.key), finder.case(server, line.kind, line.key), WALL)


def unsorted_section(finder: CaseFinder) -> Section | None:
    """Input in no order beside sorted input."""
    if "unsorted" not in finder.settings.parts:
        return None
    key, chain = finder.settings.main_key, finder.settings.main_chain
    rows: list[Sequence[Cell]] = []
    for server in finder.signers:
        ordered, unordered = finder.case(server, chain, key), finder.case(server, UNSORTED, key)
        times = [finder.cell(case, finder.main) for case in (ordered, unordered)]
        memory = [finder.cell(case, MEMORY) for case in (ordered, unordered)]
        rows.append((Cell(finder.title(server)), *times, finder.ratio_cell(unordered, ordered, finder.main), *memory))
    header = ("signer", "sorted [s]", "unsorted [s]", "ratio", "memory, sorted", "memory, unsorted")
    return Section(
        f"Input in no order, {KEYS[key].label}",
        ("CA-2006 found that signing an unsorted zone took unacceptably long, and gave no figure.",),
        tables=(
            finder.table(
                f"{finder.main.title} and memory, sorted and unsorted input", header, [tuple(row) for row in rows]
            ),
        ),
    )


def verified_section(finder: CaseFinder) -> Section:
    """Say what was verified, and by what."""
    counts: dict[str, int] = {}
    for case in finder.findings.grid.cases:
        for item in case.measurements:
            name = item.get("work", {}).get("verified_by")
            if name:
                counts[name] = counts.get(name, 0) + 1
    said = "; ".join(f"{count} outputs were found valid by {name}" for name, count in counts.items())
    return Section(
        "Whether the signed zones are valid",
        (
            f"{said or 'No output was verified'}. One output of each case that signs a whole zone or joins one is "
            "looked at: the chain, and a signature of every RRset. A signed zone that is not valid counts as a "
            "failure, a joined one is marked.",
        ),
    )

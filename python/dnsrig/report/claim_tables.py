"""The section of a report in which published figures stand beside measured ones, each with its verdict."""

from collections.abc import Mapping, Sequence

from dnsrig.report.claims import AS_PUBLISHED, Compared, compare_published, range_text
from dnsrig.report.notes import Notes
from dnsrig.report.sections import Findings, Section
from dnsrig.report.tables import Cell, Table, marks

WORDS = (
    "As published: the whole 95 % interval of the measured figure lies in the range that is taken as the published "
    "one. Other: none of it does; below the table stands why that is no surprise. Not decided: some of it does, or one "
    "repetition has no interval."
)


def published_section(findings: Findings, words: Sequence[str] = (), tables: Sequence[Table] = ()) -> Section:
    """Give the section that tells of every published figure what was measured, and whether it is as published.

    Args:
        findings: the run's cases.
        words: what a reader must know before comparing.
        tables: figures beside each other that go before the verdicts.

    """
    grid, notes = findings.grid, findings.notes
    found = compare_published(grid.text, grid.cases)
    rows = []
    for claim in grid.text.claims:
        of_claim = {item.server: item for item in found if item.claim is claim}
        cells = [_cell(of_claim.get(server, of_claim.get(None)), notes) for server in grid.servers]
        label = f"{claim.study}: {claim.what}"
        rows.append((Cell(label), Cell(claim.said), Cell(range_text(claim)), *cells))
    header = ("", "published", "taken as that", *(grid.titles[server] for server in grid.servers))
    compared = [case for item in found for case in item.cases]
    reasons = tuple(notes.reasons(compared))
    verdicts = Table("Published figures, the like ones of this run, and the verdict", header, tuple(rows), (), reasons)
    return Section(
        "Published and measured",
        (*words, WORDS),
        tables=(*tables, verdicts),
        remarks=tuple(_reasons(found, grid.titles)),
    )


def _cell(item: Compared | None, notes: Notes) -> Cell:
    """Print a figure with its verdict below; none where the server is not of the claim."""
    if item is None:
        return Cell("-")
    return Cell(item.measured, item.verdict, marks(item.cases, notes))


def _reasons(found: Sequence[Compared], titles: Mapping[str, str]) -> list[str]:
    """Say of every figure that is not as published why, once for all servers of which the same is said."""
    servers: dict[tuple[str, str, str], list[str]] = {}
    for item in found:
        if item.verdict != AS_PUBLISHED:
            names = servers.setdefault((item.claim.what, item.claim.said, item.said), [])
            names += [] if item.server is None else [titles.get(item.server, item.server)]
    found_words = []
    for (what, said, verdict), names in servers.items():
        which = ", ".join([f"{what[:1].upper()}{what[1:]}", f"published {said}", *names])
        found_words.append(f"{which}: {verdict}.")
    return found_words

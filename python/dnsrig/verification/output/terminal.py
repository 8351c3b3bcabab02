"""Verifications on a terminal: what failed first, with what that breaks."""

from collections.abc import Sequence

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dnsrig.console import PlainConsole
from dnsrig.verification.by_hand import explained, served_by
from dnsrig.verification.item import Item
from dnsrig.verification.output.comparison import Comparison, Row
from dnsrig.verification.output.untried import FOLDED, folded, not_tried
from dnsrig.verification.runner import Result
from dnsrig.verification.verdicts import Severity, Verdict
from dnsrig.verification.verification import LABELS, ORDER, Verification

STYLES = {
    Verdict.FAIL: "bold red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.PASS_BY_TCP: "cyan",
    Verdict.PASS: "green",
    Verdict.NOT_APPLICABLE: "dim",
}
SHORT = {
    Verdict.FAIL: "FAIL",
    Verdict.INCONCLUSIVE: "?",
    Verdict.PASS_BY_TCP: "pass by TCP",
    Verdict.PASS: "pass",
    Verdict.NOT_APPLICABLE: "-",
}

FAILURES = (Verdict.FAIL, Verdict.INCONCLUSIVE)
"""What is printed where failures alone are wished for: what a reader may have to do something about."""
NAME_COLUMNS = 24
"""Targets' names are folded beyond so many columns, unless their verdicts are wider."""
REQUIREMENT_COLUMNS = 30
"""Requirements are left out of a table that has less room for them."""


def print_verification(
    verification: Verification, *, shows_evidence: bool = False, only_failures: bool = False
) -> None:
    """Print a table a verdict, or of FAILURES alone; with `shows_evidence` the deciding messages of those too."""
    console = PlainConsole()
    if verification.incomplete and not verification.results:
        # Nothing was found; why, is said as the command's error.
        return
    for verdict in FAILURES if only_failures else ORDER:
        results = verification.of(verdict)
        if not results:
            continue
        console.print(Text(_heading(verification, verdict, len(results)), style=STYLES[verdict]))
        alone, alike = folded(results, verdict)
        if alone:
            console.print(_table(verification, alone, verdict))
        for reason, same in alike:
            console.print(_same_reason(reason, [result.item for result in same]))
        if shows_evidence and verdict in FAILURES:
            for result in results:
                _print_evidence(console, result, result.item.id)
    _print_summary(console, verification)


def _print_summary(console: Console, verification: Verification) -> None:
    console.print(Text(summary_line(verification)))
    if verification.remark:
        console.print(Text(verification.remark))
    if wanting := not_tried(verification):
        console.print(Text(wanting, style="dim"))


def _same_reason(reason: str, items: Sequence[Item], targets: str = "") -> Padding:
    """Show a reason once, with the items that end for it, and for which targets."""
    ids = ", ".join(item.id for item in items)
    count = f"{len(items)} item{'s' if len(items) > 1 else ''}{targets and f', {targets}'}: "
    said = Text.assemble((count, "bold"), reason)
    # Not filled up with blanks to the width, which is very large where no terminal is.
    below = Padding(Text(ids, style="dim"), (0, 0, 0, 2), expand=False)
    return Padding(Group(said, below), (0, 0, 0, 2), expand=False)


def _print_evidence(console: Console, result: Result, title: str) -> None:
    for one in result.outcome.evidence:
        console.print(Text(f"{title}: {one.title}", style="bold"))
        console.print(Text(one.text), soft_wrap=True)
        console.print()


def _heading(verification: Verification, verdict: Verdict, count: int) -> str:
    known = verification.known_failures if verdict == Verdict.FAIL else 0
    return f"{LABELS[verdict]} ({count}, {known} known of this version)" if known else f"{LABELS[verdict]} ({count})"


def _known(verification: Verification, result: Result) -> str:
    reason = verification.known_deviation(result)
    return "" if reason is None else f"\nknown: {reason}"


def _table(verification: Verification, results: Sequence[Result], verdict: Verdict) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    if verdict in FAILURES:
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for result in results:
        item, outcome = result.item, result.outcome
        if verdict == Verdict.FAIL:
            text = f"{item.requirement}\n{outcome.reason}\n{item.consequence}\n{item.references[0]}"
            text += _known(verification, result)
            table.add_row(f"  {item.id}", str(item.severity), text)
        elif verdict == Verdict.INCONCLUSIVE:
            table.add_row(f"  {item.id}", str(item.severity), f"{item.requirement}\n{outcome.reason}")
        elif verdict == Verdict.NOT_APPLICABLE:
            table.add_row(f"  {item.id}", outcome.reason)
        elif verdict == Verdict.PASS_BY_TCP:
            table.add_row(f"  {item.id}", f"{item.requirement}\n{outcome.reason}")
        else:
            table.add_row(f"  {item.id}", item.requirement)
    return table


def summary_line(verification: Verification) -> str:
    """Say how many items ended how."""
    labels = dict(LABELS)
    if verification.known_failures:
        labels[Verdict.FAIL] += f" ({verification.known_failures} known)"
    counts = ", ".join(f"{count} {labels[verdict]}" for verdict in ORDER if (count := verification.summary[verdict]))
    version = f" ({verification.server_version})" if verification.server_version else ""
    ended = f"; INCOMPLETE: {verification.incomplete}" if verification.incomplete else ""
    said = f"{verification.role} {verification.target}{version}: {counts or 'no items'}"
    return f"{said}; {verification.elapsed_s:.1f} s{ended}"


def print_comparison(comparison: Comparison, *, shows_evidence: bool = False, only_failures: bool = False) -> None:
    """Print the items with a column for each target, those first in which they differ; then why what fails does.

    With `only_failures` there are those items alone that end as FAILURES for a target.
    """
    console = PlainConsole()
    for title, found in (("targets differ", comparison.differing), ("targets are alike", comparison.alike)):
        rows = [row for row in found if not only_failures or not {*FAILURES}.isdisjoint(row.verdicts)]
        if rows:
            console.print(Text(f"{title} ({len(rows)})", style="bold"))
            console.print(_side_by_side(comparison, rows, console.width))
    if legend := _legend(comparison):
        console.print(Text(legend, style="dim"))
    if reasons := comparison.reasons():
        console.print(Text("what fails, or could not be found out", style="bold"))
        console.print(_reasons(comparison))
        for name, result in reasons if shows_evidence else ():
            _print_evidence(console, result, f"{result.item.id}, {name}")
    if not only_failures:
        _print_not_applicable(console, comparison)
    for verification in comparison.verifications:
        _print_summary(console, verification)


def _print_not_applicable(console: Console, comparison: Comparison) -> None:
    """Say why what is not applicable is not: where targets differ, and what holds for several items."""
    left = comparison.not_applicable()
    differing = {row.item.id for row in comparison.differing}
    shown = [one for one in left if len(one.items) > 1 or one.items[0].id in differing]
    if not left:
        return
    console.print(Text("what is not applicable", style="bold"))
    for one in shown:
        console.print(_same_reason(one.reason, one.items, ", ".join(one.targets)))
    if others := len({one.items[0].id for one in left if one not in shown}):
        count = f"{others} {'more ' if shown else ''}item{'s' if others > 1 else ''}"
        console.print(Text(f"  {count}, applicable to no target: why is in --html and --json", style="dim"))


def _reasons(comparison: Comparison) -> Table:
    """Say of each target why what fails does; what could not be found out for the same reason stands together."""
    by_name = dict(zip(comparison.columns, comparison.verifications, strict=True))
    alike: dict[tuple[str, str, Verdict], list[Result]] = {}
    for name, result in comparison.reasons():
        alike.setdefault((name, result.outcome.reason, result.outcome.verdict), []).append(result)
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for (name, reason, verdict), same in alike.items():
        verification = by_name[name]
        if len(same) > 1 and verdict in FOLDED:
            ids = ", ".join(result.item.id for result in same)
            table.add_row(f"  {len(same)} items", name, _cell(verification, same[0]), f"{reason}\n{ids}")
            continue
        for result in same:
            told = f"{reason}{_known(verification, result)}"
            table.add_row(f"  {result.item.id}", name, _cell(verification, result), told)
    return table


def _legend(comparison: Comparison) -> str:
    """Explain the signs that stand for verdicts in the table."""
    found = {verdict for row in comparison.rows for verdict in row.verdicts}
    signs = (verdict for verdict in (Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE) if verdict in found)
    return ", ".join(f"{SHORT[verdict]} {LABELS[verdict]}" for verdict in signs)


def _side_by_side(comparison: Comparison, rows: Sequence[Row], width: int) -> Table:
    """Make a table of the same columns for any of the rows; on a narrow terminal it is without the requirements."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    widths = [2 + max(len(row.item.id) for row in comparison.rows)]
    table.add_column("  item", no_wrap=True, width=widths[0])
    pairs = [list(zip(comparison.verifications, row.results, strict=True)) for row in comparison.rows]
    for place, name in enumerate(comparison.columns):
        cells = [_cell(*pair[place]) for pair in pairs]
        # A name is folded, a verdict never.
        widths.append(max(*(cell.cell_len for cell in cells), min(len(name), NAME_COLUMNS), 1))
        table.add_column(name, overflow="fold", width=widths[-1])
    has_room = sum(widths) + 2 * len(widths) + REQUIREMENT_COLUMNS <= width
    if has_room:
        table.add_column("requirement", overflow="fold")
    for row in rows:
        found = zip(comparison.verifications, row.results, strict=True)
        cells = [_cell(verification, result) for verification, result in found]
        requirement = [f"{row.item.requirement} ({row.item.severity})"] if has_room else []
        table.add_row(f"  {row.item.id}", *cells, *requirement)
    return table


def _cell(verification: Verification, result: Result | None) -> Text:
    if result is None:
        return Text("")
    verdict = result.outcome.verdict
    known = "" if verification.known_deviation(result) is None else " (known)"
    return Text(f"{SHORT[verdict]}{known}", style=STYLES[verdict])


def print_items(items: Sequence[Item]) -> None:
    """List items by their groups."""
    console = PlainConsole()
    for group in dict.fromkeys(item.group for item in items):
        console.print(Text(group, style="bold"))
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        for _ in range(2):
            table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for item in items:
            if item.group == group:
                slow = " (slow: only when named by --item)" if item.is_slow else ""
                table.add_row(f"  {item.id}", str(item.severity), f"{item.requirement}{slow}")
        console.print(table)


def print_items_of_roles(items: Sequence[Item]) -> None:
    """List items by their roles and groups."""
    for role in dict.fromkeys(item.role for item in items):
        PlainConsole().print(Text(f"dnsrig verify {role}", style="bold underline"))
        print_items([item for item in items if item.role == role])


def print_item(item: Item) -> None:
    """Explain an item."""
    console = PlainConsole()
    console.print(Text(f"{item.id}: {item.requirement}", style="bold"))
    for title, text in (
        ("severity", f"{item.severity}: {_meaning(item.severity)}"),
        ("what breaks", item.consequence),
        ("how it is found out", item.procedure),
        ("by hand", "\n".join([*item.dig, *(f"  {{{name}}}: {what}" for name, what in explained(item.dig))])),
        ("names", served_by(item.role, item.dig)),
        ("source", "; ".join(item.references)),
        ("needs", ", ".join(item.needs).replace("_", " ")),
        ("proven by the faults", ", ".join(item.faults)),
    ):
        if text:
            console.print(Text(title, style="bold"))
            console.print(Text(text), soft_wrap=False)


def _meaning(severity: Severity) -> str:
    return {
        Severity.NOTICE: "nobody loses an answer",
        Severity.WARNING: "some clients lose answers or get them late",
        Severity.ERROR: "names cannot be resolved, or not validated, by clients that do it right",
        Severity.CRITICAL: "the zone, or all clients, lose service, or forged data are taken for good",
    }[severity]

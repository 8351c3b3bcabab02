"""What `dnsrig run functionality` prints: JPRS-2010's items, published and found."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from dnsrig.console import PlainConsole
from dnsrig.verification.output.terminal import SHORT, STYLES
from dnsrig.verification.raised_limits import RAISED_UDP_LIMIT
from dnsrig.verification.verdicts import Verdict


def print_published(summary: Mapping[str, Any]) -> None:
    """Print a table a role, with a column for each target; `summary` is the object of functionality.json."""
    console = PlainConsole()
    for role in dict.fromkeys(row["role"] for row in summary["published"]):
        rows = [row for row in summary["published"] if row["role"] == role]
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column("  JPRS-2010", no_wrap=True)
        table.add_column("published", no_wrap=True)
        for name in rows[0]["verdicts"]:
            table.add_column(name, overflow="fold")
        table.add_column("requirement", overflow="fold", ratio=1, min_width=20)
        for row in rows:
            cells = [_cell(verdict, row["raised"][name]) for name, verdict in row["verdicts"].items()]
            table.add_row(f"  {row['id']}", row["outcome"], *cells, row["requirement"])
        console.print(Text(role, style="bold"))
        console.print(table)


def _cell(verdict: str | None, raised: str | None) -> Text:
    """Give a verdict, and behind it the one with a raised limit where that is another."""
    if verdict is None:
        return Text("")
    text = Text(SHORT[Verdict(verdict)], style=STYLES[Verdict(verdict)])
    if raised is not None and raised != verdict:
        text.append(f"; {RAISED_UDP_LIMIT}: {SHORT[Verdict(raised)]}", style=STYLES[Verdict(raised)])
    return text

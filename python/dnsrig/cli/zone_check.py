"""`dnsrig zone check`: semantic checks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import json_option, print_json, print_table
from dnsrig.cli.zone_reading import MOST, ZONE_FILE, Reading, reading_options, work
from dnsrig.wording import counted


@click.command()
@click.argument("file", type=ZONE_FILE, required=False)
@click.option("--most", type=MOST, default=1000, show_default=True, help="Findings to print; all are counted.")
@click.option("--rules", is_flag=True, help="List all rules and exit.")
@reading_options
@json_option
def check(
    file: Path | None,
    most: int,
    rules: bool,
    origin: str | None,
    memory: int | None,
    threads: int | None,
    as_json: bool,
) -> int:
    """Check the zone FILE by the rules of DNS, as far as the zone alone tells.

    Each finding has its file, line and column, an error or a warning, what to do, and the name of the rule. What the
    zone names outside of it is not looked up. Signatures and the chains of NSEC and NSEC3 records are checked by `zone
    verify`; a ZONEMD record is verified here.

    Exit code 1 if there are errors; a file that cannot be read as a zone is refused with 2.

    \b
    Example:
      dnsrig zone check example.db
      dnsrig zone check ca.zone --most 20 --json
    """
    if rules:
        _print_rules(as_json)
        return 0
    if file is None:
        raise click.UsageError("name the zone FILE, or - for standard input.")
    reading = Reading(origin, memory, threads)
    found = work("check", [file], reading, lambda reading: _core.zone_check(file, most, reading))
    if as_json:
        print_json({"file": str(file), **found})
    else:
        _print(file, found)
    return 1 if found["errors"] else 0


def _print_rules(as_json: bool) -> None:
    rules = _core.zone_rules()
    if as_json:
        print_json({"rules": [{"rule": name, "severity": severity, "text": text} for name, severity, text in rules]})
    else:
        print_table(("rule", "severity", "what it says"), rules)


def _print(file: Path, found: Mapping[str, Any]) -> None:
    for finding in found["findings"]:
        place = f"{finding['file']}:{finding['line']}:{finding['column']}: " if finding["file"] else ""
        click.echo(f"{place}{finding['severity']}: {finding['text']} [{finding['rule']}]")
    left_out = sum(found["rules"].values()) - len(found["findings"])
    if left_out > 0:
        click.echo(f"{left_out:,} more findings; --most prints more of them")
        print_table(("rule", "findings"), [(name, f"{count:,}") for name, count in found["rules"].items()], right=(1,))
    if "zonemd-digest" in found["rules"]:
        digest = "; the digest of its ZONEMD record is wrong"
    else:
        digest = "; the digest of its ZONEMD record was verified" if found["zonemd_verified"] else ""
    totals = f"{counted(found['errors'], 'error')}, {counted(found['warnings'], 'warning')}"
    click.echo(f"{file}: zone {found['zone']}, {counted(found['records'], 'record')}: {totals}{digest}")

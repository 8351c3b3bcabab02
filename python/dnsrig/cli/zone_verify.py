"""`dnsrig zone verify`: every signature, and the whole chain of denial."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import json_option, print_json
from dnsrig.cli.times import FORMS, parse_time, present_s
from dnsrig.cli.zone_reading import (
    MOST,
    ZONE_FILE,
    Reading,
    ZoneProgress,
    reading_options,
    require_origin_of_stream,
    warn,
)
from dnsrig.trust_anchors import read_ds
from dnsrig.wording import counted


@click.command()
@click.argument("file", type=ZONE_FILE)
@click.option(
    "-s", "--now", metavar="TIME", default=None, help=f"When signatures have to be valid: {FORMS}.  [default: now]"
)
@click.option("--ignore-times", is_flag=True, help="Leave out whether signatures are valid at that time.")
@click.option(
    "--ds",
    "ds_records",
    multiple=True,
    metavar="FILE|RECORD",
    help="The parent zone's DS records, one of which has to match a key that signs the DNSKEY RRset; may be repeated.",
)
@click.option("--most", type=MOST, default=100, show_default=True, help="Faults to print; all are counted.")
@reading_options
@json_option
def verify(
    file: Path,
    now: str | None,
    ignore_times: bool,
    ds_records: tuple[str, ...],
    most: int,
    origin: str | None,
    memory: int | None,
    threads: int | None,
    as_json: bool,
) -> int:
    """Verify the signed zone FILE: every RRSIG, the whole chain of NSEC or NSEC3 records, and its digests (ZONEMD).

    Every RRset of the zone's own data has to be signed by every algorithm of the zone's keys, every signature has to
    be valid, and the chain has to have every name once, with its types, and to be closed. Each fault has its file, line
    and column. A ZONEMD record of an unknown kind is a warning. With --ds the zone is also looked at as its parent
    does.

    Exit code 1 if there are faults; a file that cannot be read as a zone is refused with 2.

    \b
    Example:
      dnsrig zone verify example.db.signed
      dnsrig ds example.db.signed > dsset-example.test.
      dnsrig zone verify example.db.signed --ds dsset-example.test. --now now+7d
      dnsrig zone verify ca.signed --ds '12345 13 2 0123456789ABCDEF...' --most 20
    """
    present = present_s()
    now_s = present if now is None else parse_time(now, "--now", present, present)
    if ds_records:
        require_origin_of_stream(file, origin, "DS records")
    ds = read_ds(ds_records, _core.zone_apex(file, origin)) if ds_records else []
    with ZoneProgress("verify", [file]) as progress:
        reading = Reading(origin, memory, threads, progress.update)
        found = _core.verify_zone(file, reading, now_s=now_s, ignore_times=ignore_times, ds=ds, most=most)
    if as_json:
        print_json({"file": str(file), **found})
    else:
        _print(file, found)
    return 1 if found["fault_count"] else 0


def _print(file: Path, found: Mapping[str, Any]) -> None:
    warn(found)
    for fault in found["faults"]:
        click.echo(fault["text"])
    left_out = found["fault_count"] - len(found["faults"])
    if left_out > 0:
        click.echo(f"{counted(left_out, 'more fault')}; --most prints more of them")
    name = "standard input" if str(file) == "-" else file
    chain = f", {counted(found['chain_names'], 'name')} in the {found['chain']} chain" if found["chain"] else ""
    digests = f", digest by {' and '.join(map(str.upper, found['zonemd']))}" if found["zonemd"] else ""
    algorithms = f" of {', '.join(found['algorithms'])}" if found["algorithms"] else ""
    click.echo(
        f"{name}: zone {found['zone']}, {counted(found['records'], 'record')}: "
        f"{counted(found['signatures'], 'valid signature')}{algorithms} "
        f"for {counted(found['rrsets'], 'RRset')}{chain}{digests}; "
        f"{counted(found['fault_count'], 'fault') if found['fault_count'] else 'no fault'}"
    )

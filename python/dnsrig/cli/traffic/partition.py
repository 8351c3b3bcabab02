"""`dnsrig traffic partition`: a stream for each piece of a zone, or for each generator."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import UTF8, WholeNumber, is_utf8, json_option, path_text, print_json, print_table
from dnsrig.cli.format import count, share
from dnsrig.cli.streams import report_on
from dnsrig.cli.traffic.captures import FILES, claim_outputs, remarks
from dnsrig.cli.traffic.reading import CaptureReading, reading_options, warn_of_files, work

PARTS_MAX = 1000
"""Files that a process may have open at once, mostly."""


@click.command()
@FILES
@click.option(
    "-f",
    "--prefix",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="Beginning of the files' names: PREFIX.1.pcap, PREFIX.2.pcap and so on.",
)
@click.option("-o", "--origin", type=UTF8, default=None, help="The zone whose names are cut by --by-label-range.")
@click.option(
    "--by-label-range",
    "labels",
    type=UTF8,
    metavar="RANGES",
    default=None,
    help="A part for each range of first letters below the zone, such as 0-9,a-j,k-z or -j,k-.",
)
@click.option(
    "--by-manifest",
    "manifest",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    default=None,
    help="A part for each piece of the zone in this manifest, which `zone split` wrote.",
)
@click.option(
    "--by-client",
    "parts",
    type=WholeNumber(1, PARTS_MAX),
    default=None,
    help="So many parts, each with all of its clients.",
)
@reading_options
@json_option
def partition(
    files: tuple[Path, ...],
    prefix: Path,
    origin: str | None,
    labels: str | None,
    manifest: Path | None,
    parts: int | None,
    ports: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Cut the captures FILE... into several pcap files.

    By label range or by manifest, a part has the queries (and answers) for the names in one piece of a zone that `zone
    split` cut in the same way. What asks for the zone's apex, which every piece has, is shared out by client; names
    outside of the zone and of all ranges are left out and counted.

    By client, the parts are for several load generators: a client is in the same part in every file.

    \b
    Examples:
      dnsrig traffic partition day.pcap -f day --by-label-range 0-9,a-l,m-z -o com
      dnsrig traffic partition day.pcap -f day --by-manifest pieces/ca.pieces
      dnsrig traffic partition day.pcap -f day --by-client 4
    """
    settings = _settings(origin, labels, manifest, parts)
    outputs = [Path(file) for file in _core.traffic_partition_files(settings, prefix)]
    if len(outputs) > PARTS_MAX:
        raise click.UsageError(f"{len(outputs)} parts are more than {PARTS_MAX}, which can be written at once.")
    claim_outputs(outputs, files)
    read = CaptureReading(ports, threads).to_json()
    result = work("partition", files, lambda progress: _core.traffic_partition(files, read, settings, prefix, progress))
    warn_of_files(result["read"]["files"])
    with report_on(f"{prefix}.* are complete"):
        if as_json:
            # `files` are those that were written.
            print_json({"captures": list(map(path_text, files)), **result})
            return
        _print_parts(result)


def _settings(origin: str | None, labels: str | None, manifest: Path | None, parts: int | None) -> str:
    if sum(one is not None for one in (labels, manifest, parts)) != 1:
        raise click.UsageError("give one of --by-label-range, --by-manifest and --by-client.")
    if (labels is None) != (origin is None):
        raise click.UsageError("--by-label-range and -o, the zone, go together.")
    if labels is not None:
        return json.dumps({"labels": {"zone": origin, "ranges": labels}})
    if manifest is not None and not is_utf8(str(manifest)):
        raise click.UsageError(f"{str(manifest)!r}: names of manifests must be UTF-8; give it another name.")
    return json.dumps({"manifest": str(manifest)} if manifest else {"clients": parts})


def _print_parts(result: Mapping[str, Any]) -> None:
    messages = result["messages"]
    rows = [
        (file, count(kept), share(kept, messages))
        for file, kept in zip(result["files"], result["messages_kept"], strict=True)
    ]
    print_table(("file", "messages", "share"), rows, right=(1, 2))
    for name, words in (
        ("at_apex", "of them for the zone's apex, shared out by client: {}"),
        ("outside_zone", "left out, as their names are not in the zone: {} messages"),
        ("in_no_range", "left out, as their labels are in none of the ranges: {} messages"),
    ):
        if result[name]:
            click.echo(words.format(count(result[name])))
    for line in remarks(result):
        click.echo(line)

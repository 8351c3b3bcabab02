"""`dnsrig traffic fit`: the profile of captures."""

import json
from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import UTF8, json_option, path_text, print_json
from dnsrig.cli.streams import report_on, say
from dnsrig.cli.traffic.captures import claim_outputs
from dnsrig.cli.traffic.reading import CAPTURE_FILE, CaptureProgress, CaptureReading, reading_options, warn_of_files
from dnsrig.cli.zone_reading import OUTPUT_FILE, file_name


@click.command()
@click.argument("files", nargs=-1, required=True, type=CAPTURE_FILE, metavar="FILES...")
@click.option("-f", "--output", type=OUTPUT_FILE, default="-", help="The profile to write.  [default: standard output]")
@click.option("--name", type=UTF8, default="fitted", show_default=True, help="What the profile is called.")
@reading_options
@json_option
def fit(
    files: tuple[Path, ...],
    output: Path,
    name: str,
    ports: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Make a profile of the traffic in the captures FILES..., from which 'dnsrig traffic synthesize' makes more.

    A profile holds counts and distributions only: no name, no label, no address and no time but hours of the day. It
    can be given to others where the capture cannot.

    \b
    Example:
      dnsrig traffic fit monday.pcap.zst -f ours.toml
      dnsrig traffic synthesize ours.toml like-monday.pcap -l 3600
    """
    claim_outputs([output], files, as_json=as_json, what="the profile", is_text=True)
    reading = CaptureReading(ports, threads)
    with CaptureProgress("fit", files) as progress:
        made = json.loads(_core.traffic_fit(files, name, output, reading.to_json(), progress.update))
    warn_of_files(made["files"])
    with report_on(f"{file_name(output)} is complete"):
        if as_json:
            print_json({"file": path_text(output), **made})
            return
        say(
            f"{file_name(output)}: profile of {made['queries']:,} queries of {made['clients']:,} clients "
            f"over {made['duration_s']:,.1f} s"
        )

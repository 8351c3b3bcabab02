"""`dnsrig traffic synthesize`: traffic as a profile describes it."""

import json
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import (
    RATE,
    SECONDS,
    UTF8,
    WholeNumber,
    chosen_seed,
    json_option,
    path_text,
    print_json,
    seed_option,
)
from dnsrig.cli.progress import WorkProgress
from dnsrig.cli.streams import report_on, say
from dnsrig.cli.traffic.captures import claim_outputs
from dnsrig.cli.traffic.warp import Moment
from dnsrig.cli.zone_reading import OUTPUT_FILE, file_name

QUERIES = WholeNumber(1, 100_000_000_000)
FORMATS = ("pcap", "text", "binary")
FORMATS_BY_ENDING = {".txt": "text", ".bin": "binary"}


@click.command()
@click.argument("profile", type=UTF8)
@click.argument("file", type=OUTPUT_FILE)
@click.option("--rate", type=RATE, default=None, help="Mean rate in queries a second.  [default: the profile's]")
@click.option("-l", "--duration", type=SECONDS, default=None, help="How long it lasts, in seconds.  [default: 60]")
@click.option("-n", "--queries", type=QUERIES, default=None, help="How many queries, instead of --rate or -l.")
@click.option("--start", type=Moment(), default=None, help="When it begins, in UTC.  [default: the profile's]")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default=None,
    help="Form of FILE.  [default: text for .txt, binary for .bin, else pcap]",
)
@click.option(
    "--packets",
    type=click.Choice(("queries", "answers", "both")),
    default="queries",
    show_default=True,
    help="Whose packets a pcap file holds: clients', the server's, or both.",
)
@seed_option
@json_option
def synthesize(
    profile: str,
    file: Path,
    rate: float | None,
    duration: float | None,
    queries: int | None,
    start: int | None,
    form: str | None,
    packets: str,
    seed: int | None,
    as_json: bool,
) -> None:
    """Write traffic as PROFILE describes it to FILE, or to standard output if that is -.

    PROFILE is one that 'dnsrig traffic profiles' lists, or a file that 'dnsrig traffic fit' made. Clients ask for names
    by popularity, cache answers, and send bursts; types, failures, flags, EDNS, TCP and the rate of each second are as
    in the profile. The same seed gives the same file to the octet.

    \b
    Example:
      dnsrig traffic synthesize root-2006 root.pcap -l 600 --packets both --seed 1
      dnsrig traffic synthesize resolver-2022 stream.txt --rate 9000
      dnsrig load -s 127.0.0.1 -p 5300 --replay stream.txt
    """
    form = form or FORMATS_BY_ENDING.get(file.suffix, "pcap")
    if packets != "queries" and form != "pcap":
        raise click.UsageError(f"--packets {packets} is for pcap only: files of form {form} hold queries.")
    profiles = [Path(profile)] if Path(profile).exists() else []
    claim_outputs([file], profiles, as_json=as_json, what="the traffic", named="FILE", is_text=form == "text")
    seed = chosen_seed(seed)
    plan = {
        "rate_qps": rate,
        "duration_s": duration,
        "queries": queries,
        "start_ns": start,
        "seed": seed,
        "format": form,
        "packets": packets,
    }
    with RequestsProgress(_total(rate, duration, queries)) as progress:
        made = json.loads(_core.traffic_synthesise(profile, json.dumps(plan), file, progress.update))
    with report_on(f"{file_name(file)} is complete"):
        _report(file, profile, seed, made, as_json)


def _total(rate: float | None, duration: float | None, queries: int | None) -> int | None:
    """Say how many queries there will be, where the command line does."""
    if queries is not None:
        return queries
    return None if rate is None else round(rate * (duration or 60))


def _report(file: Path, profile: str, seed: int, made: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"file": path_text(file), "profile": profile, "seed": seed, **made})
        return
    lines = [
        f"{file_name(file)}: {made['queries']:,} queries of {made['clients']:,} clients "
        f"in {made['duration_s']:,.1f} s, profile {profile} (seed {seed})"
    ]
    if made["left_out"]:
        lines.append(f"left out, as the form has no room for them: {made['left_out']:,} requests")
    for line in lines:
        if str(file) == "-":
            say(line)
        else:
            click.echo(line)


class RequestsProgress(WorkProgress):
    """Shows how many requests were made."""

    def __init__(self, total: int | None) -> None:
        super().__init__("synthesize", total, "names")

    def update(self, requests: int) -> None:
        """Show that `requests` requests were made."""
        self.show(requests, f"synthesize: {requests:,} requests")

"""`dnsrig traffic sample`: all queries of some clients."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import RATE, WholeNumber, json_option
from dnsrig.cli.format import count, rate
from dnsrig.cli.traffic.captures import FILES, OUTPUT, Share, claim_outputs, print_result, require_files
from dnsrig.cli.traffic.reading import CaptureReading, reading_options, warn, work
from dnsrig.cli.zone_reading import file_name

REACHED = 0.95
"""Share of the rate that was asked for with which it counts as reached."""


@click.command()
@FILES
@OUTPUT
@click.option("--clients", type=Share(0, 1), default=None, metavar="SHARE", help="How many of the clients: 10% or 0.1.")
@click.option(
    "--target-qps",
    type=RATE,
    default=None,
    help="Queries a second to reach; reads the files twice, and searches keys. Keeps every client in memory, in each "
    "thread that meets it.",
)
@click.option(
    "--key",
    type=WholeNumber(0, 2**63 - 1),
    default=0,
    show_default=True,
    help="Key of the hash by which clients are chosen, or the first that is tried.",
)
@reading_options
@json_option
def sample(
    files: tuple[Path, ...],
    output: Path,
    clients: float | None,
    target_qps: float | None,
    key: int,
    ports: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Write all packets to and from some clients of the captures FILE... to a pcap file.

    Which clients depends on their addresses and the key alone: it is the same clients in every file and on every
    machine, and a larger share has all clients of a smaller one. Fewer clients ask for the same names less often, so a
    resolver that is loaded with a sample answers a smaller part from its cache: the share of queries whose question was
    not asked before is printed, of the whole and of the sample.

    \b
    Examples:
      dnsrig traffic sample day.pcap -f tenth.pcap --clients 10%
      dnsrig traffic sample day.pcap -f 5k.pcap --target-qps 5000
    """
    if clients is None and target_qps is None:
        raise click.UsageError("give --clients, a share of them, or --target-qps, or both.")
    claim_outputs([output], files, as_json=as_json)
    if target_qps is not None:
        require_files(files, "--target-qps reads twice")
    read = CaptureReading(ports, threads).to_json()
    settings = json.dumps({"clients": clients, "target_qps": target_qps, "key": key})
    result = work("sample", files, lambda progress: _core.traffic_sample(files, read, settings, output, progress))
    print_result(output, files, result, _lines(output, result), as_json=as_json)
    if not result["sample"]["queries"]:
        warn("none of the clients was chosen: take more of them, or another --key")
    elif target_qps is not None and result["sample"]["mean_qps"] < REACHED * target_qps:
        of_all = f" of the {rate(result['whole']['mean_qps'])} that all clients together ask"
        warn(f"--target-qps {target_qps:g} was not reached: {rate(result['sample']['mean_qps'])} q/s{of_all}")


def _lines(output: Path, result: Mapping[str, Any]) -> list[str]:
    whole, some = result["whole"], result["sample"]
    error = f"+-{100 * result['count_error']:.1f} %"
    return [
        f"{file_name(output)}: {100 * result['queries_share']:.2f} % of the queries "
        f"({count(some['queries'])} of {count(whole['queries'])}), of about "
        f"{count(some['clients'])} of {count(whole['clients'])} clients ({error})",
        f"rate: {rate(some['mean_qps'])} q/s of {rate(whole['mean_qps'])}",
        f"clients asked for: --clients {result['clients_asked']!r} --key {result['key']}",
        f"questions not asked before: {100 * some['cold_miss_share']:.1f} % of the sample's queries, "
        f"{100 * whole['cold_miss_share']:.1f} % of the whole ({error})",
    ]

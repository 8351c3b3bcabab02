"""`dnsrig traffic mix`: queries of another stream among those of a stream."""

import json
from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import chosen_seed, json_option, seed_option
from dnsrig.cli.format import count
from dnsrig.cli.traffic.captures import OUTPUT, Share, claim_outputs, print_result
from dnsrig.cli.traffic.forms import form_of, refuse_parquet, stand_in_options, stand_ins
from dnsrig.cli.traffic.reading import CAPTURE_FILE, CaptureReading, reading_options, work
from dnsrig.cli.zone_reading import file_name


@click.command()
@click.argument("base", type=CAPTURE_FILE)
@click.argument("other", type=CAPTURE_FILE)
@OUTPUT
@click.option("--augment", type=Share(0, 1000), default=0.0, help="Queries to add for each of BASE: 10% or 0.1.")
@click.option("--substitute", type=Share(0, 1), default=0.0, help="Share of BASE's queries to replace.")
@seed_option
@stand_in_options
@reading_options
@json_option
def mix(
    base: Path,
    other: Path,
    output: Path,
    augment: float,
    substitute: float,
    seed: int | None,
    server: str | None,
    server_port: int,
    rate: float,
    skip_bad: bool,
    ports: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Write the queries of BASE with those of OTHER among them, at random places in OTHER's order.

    BASE, OTHER and the output are captures, query files (.txt) or binary messages (.bin). OTHER begins anew when it
    ends. A query that takes another's place has its time and its client; one that is added, too, but for the client,
    which is its own if OTHER is a capture. Answers are left out.

    \b
    Examples:
      dnsrig traffic mix day.pcap attack.txt -f both.pcap --augment 25%
      dnsrig traffic mix day.pcap aaaa.pcap -f mixed.pcap --substitute 10% --seed 7
    """
    if augment == 0 and substitute == 0:
        raise click.UsageError("give --augment or --substitute, or both.")
    for file in (base, other, output):
        refuse_parquet(file, "mix")
    claim_outputs([output], [base, other], as_json=as_json)
    seed = chosen_seed(seed)
    settings = json.dumps(
        {
            "base": form_of(base),
            "other": form_of(other),
            "to": form_of(output),
            "augment": augment,
            "substitute": substitute,
            "seed": seed,
            "stand_ins": stand_ins(server, server_port, rate, skip_bad),
        }
    )
    read = CaptureReading(ports, threads).to_json()
    result = work("mix", [base], lambda progress: _core.traffic_mix([base], [other], read, settings, output, progress))
    base_queries, substituted, added = (count(result[name]) for name in ("base_queries", "substituted", "added"))
    lines = [
        f"{file_name(output)}: {count(result['messages_written'])} queries (seed {seed})",
        f"{base_queries} of {base}, {substituted} of them replaced; {added} added",
        f"{other} was taken {'once' if result['times_read'] == 1 else count(result['times_read']) + ' times'}",
    ]
    print_result(output, [base, other], {"seed": seed, **result}, lines, as_json=as_json)

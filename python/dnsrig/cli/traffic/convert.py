"""`dnsrig traffic convert`: captures, query files, binary messages and Parquet into one another."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import json_option
from dnsrig.cli.format import count, share
from dnsrig.cli.traffic.captures import FILES, OUTPUT, claim_outputs, print_result
from dnsrig.cli.traffic.forms import FORMS, form_of, stand_in_options, stand_ins
from dnsrig.cli.traffic.reading import CaptureReading, reading_options, work
from dnsrig.cli.zone_reading import file_name


@click.command()
@FILES
@OUTPUT
@click.option(
    "--from", "source", type=click.Choice(FORMS), default=None, help="What FILEs are.  [default: by their names]"
)
@click.option("--to", "target", type=click.Choice(FORMS), default=None, help="What to write.  [default: by the name]")
@stand_in_options
@reading_options
@json_option
def convert(
    files: tuple[Path, ...],
    output: Path,
    source: str | None,
    target: str | None,
    server: str | None,
    server_port: int,
    rate: float,
    skip_bad: bool,
    ports: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Convert captures, query files, binary messages and Parquet into one another.

    \b
    capture  pcap, pcapng, dnstap or C-DNS; pcap is written
    text     lines such as `www.example.com A do=1 time=0.5 client=192.0.2.1` (.txt), for `load -d` and `load --replay`
    binary   each message after its length (.bin), for `load -B` and `dnsperf -B`
    parquet  a row for each query, with its answer's latency, response code and size (.parquet)

    A message that a form has no room for is left out and counted, never changed. Text and binary are of queries only;
    text has their times and clients' addresses, binary has neither, and none by what they came (all that came by TCP is
    UDP when it is made a capture again). From capture to capture packets stay as they were, but for
    those that hold several UDP datagrams, each of which gets one. A capture
    without a DNS message is an error, and one without a query where only queries are written; then nothing is written.

    \b
    Examples:
      dnsrig traffic convert day.pcapng.zst -f day.txt
      dnsrig traffic convert hour.1.pcap hour.2.pcap -f hours.pcap
      dnsrig traffic convert day.pcap -f day.parquet
    """
    source = source or _common_form(files)
    target = target or form_of(output)
    claim_outputs([output], files, as_json=as_json, is_text=target == "text")
    read = CaptureReading(ports, threads).to_json()
    standing_in = stand_ins(server, server_port, rate, skip_bad)
    if "parquet" in {source, target}:
        # Loading pyarrow takes longer than much work.
        from dnsrig.cli.traffic import parquet  # noqa: PLC0415

        if source == "parquet":
            result = parquet.read(files, output, target)
        else:
            result = parquet.write(files, read, {"from": source, "stand_ins": standing_in}, output)
    else:
        settings = json.dumps({"from": source, "to": target, "stand_ins": standing_in})
        result = work("convert", files, lambda progress: _core.traffic_convert(files, read, settings, output, progress))
    print_result(output, files, {"from": source, "to": target, **result}, _lines(output, result), as_json=as_json)


def _common_form(files: tuple[Path, ...]) -> str:
    forms = {form_of(file) for file in files}
    if len(forms) > 1:
        raise click.UsageError(f"FILEs are of several forms ({', '.join(sorted(forms))}): convert them one by one.")
    return forms.pop()


def _lines(output: Path, result: Mapping[str, Any]) -> list[str]:
    name = file_name(output)
    if "queries" in result:
        queries, answered = result["queries"], result["answered"]
        lines = [f"{name}: {count(queries)} queries, {count(answered)} of them answered ({share(answered, queries)})"]
        if result["unmatched_answers"]:
            lines.append(f"answers without a query, which are left out: {count(result['unmatched_answers'])}")
        return lines
    if "messages_written" in result:
        return [f"{name}: {count(result['messages_written'])} messages"]
    return [f"{name}: {count(sum(result['packets_written']))} packets, {count(result['messages'])} messages"]

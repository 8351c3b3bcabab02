"""`dnsrig load`: send a query stream to a server and account for every query of it."""

import contextlib
import sys
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import (
    CLIENTS,
    COUNT,
    OUTSTANDING,
    RATE,
    SECONDS,
    chosen_seed,
    json_option,
    print_json,
    print_table,
    seed_option,
)
from dnsrig.cli.format import count, duration, microseconds, octets, rate, share
from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.loads import LoadSettings, Route, closed_loop, fixed_rate, run_load

PROGRESS_LINE = "{second:>4} s  {qps:>9} q/s  p50 {p50:>9}  p99 {p99:>9}  timed out {timed_out}"


@click.command()
@click.option("-s", "--server", default="127.0.0.1", show_default=True, help="Address of the server.")
@click.option("-p", "--port", type=click.IntRange(1, 65535), default=53, show_default=True, help="Its port.")
@click.option(
    "-d",
    "--data",
    "data",
    type=click.Path(),
    default="-",
    help="Query file in dnsperf's format; '-' or none: stdin.",
)
@click.option("-m", "--mode", type=click.Choice(["udp", "tcp"]), default="udp", show_default=True, help="Transport.")
@click.option(
    "-l",
    "--limit",
    "limit_s",
    type=SECONDS,
    default=None,
    help="Seconds to run.",
)
@click.option("-n", "--runs", "passes", type=COUNT, default=None, help="Passes over the query file.")
@click.option("--queries", type=COUNT, default=None, help="Number of queries to send.")
@click.option(
    "-q",
    "--outstanding",
    type=OUTSTANDING,
    default=None,
    help="Closed loop: queries outstanding [100].",
)
@click.option(
    "-Q",
    "--rate",
    "rate_qps",
    type=RATE,
    default=None,
    help="Fixed rate in queries a second, sent on time whatever the answers; with -q: a cap on the closed loop.",
)
@click.option("-c", "--clients", type=CLIENTS, default=None, help="Sockets (UDP) or connections (TCP) [one a thread].")
@click.option("-T", "--threads", type=click.IntRange(1, 1024), default=1, show_default=True, help="Generator threads.")
@click.option(
    "-t",
    "--timeout",
    "timeout_s",
    type=SECONDS,
    default=5.0,
    show_default=True,
)
@click.option("-e", "--edns", is_flag=True, help="Add EDNS to every query.")
@click.option("-D", "--dnssec", is_flag=True, help="Set the DO bit (implies -e).")
@click.option("--edns-size", type=click.IntRange(512, 65535), default=4096, show_default=True, help="UDP size in EDNS.")
@click.option("--skip-bad", is_flag=True, help="Leave out bad lines of the query file instead of stopping at them.")
@click.option("--cpus", default=None, help="Processors for the generator's threads, such as 1 or 2,3.")
@click.option("--i-may-load-this", "any_target", is_flag=True, help="Permit an address that is not this machine's own.")
@seed_option
@json_option
def load(
    server: str,
    port: int,
    data: str,
    mode: str,
    limit_s: float | None,
    passes: int | None,
    queries: int | None,
    outstanding: int | None,
    rate_qps: float | None,
    clients: int | None,
    threads: int,
    timeout_s: float,
    edns: bool,
    dnssec: bool,
    edns_size: int,
    skip_bad: bool,
    cpus: str | None,
    any_target: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Send queries to a server and account for every one of them.

    The flags are dnsperf's. Without -Q it is a closed loop: the next query leaves when one is answered or times out.
    With -Q alone queries leave on a fixed schedule, and latency counts from the scheduled time. Without -l, -n and
    --queries the file is sent once. Ctrl-C ends a load early and prints what there is.

    \b
    Examples:
      dnsrig load -s 127.0.0.1 -p 5300 -d queries.txt -l 10 -D
      dnsrig load -p 5300 -d queries.txt -l 10 -Q 20000 --json
      dnsrig load -p 5300 -d queries.txt -m tcp -c 20 -q 200
    """
    processors = _processors(cpus) or []
    stream, skipped = _read(data, edns or dnssec, dnssec, edns_size, skip_bad)
    if skipped:
        click.echo(f"left out {skipped} bad lines", err=True)
    if limit_s is None and passes is None and queries is None:
        passes = 1
    schedule = closed_loop(outstanding or 100, rate_qps)
    if rate_qps is not None and outstanding is None:
        schedule = fixed_rate(rate_qps)
    settings = LoadSettings(
        routes=(Route(mode, server, port, clients=clients),),
        schedule=schedule,
        duration_s=limit_s,
        queries=queries,
        passes=passes,
        timeout_s=timeout_s,
        threads=threads,
        cpus=tuple(processors),
        allow_any_target=any_target,
    )
    live = not as_json and sys.stderr.isatty()
    report, interrupted = run_load(stream, settings, _print_second if live else None)
    report["seed"] = chosen_seed(seed)
    if as_json:
        print_json(report)
    else:
        _print_report(report)
    if interrupted:
        raise KeyboardInterrupt
    if report["answered"] == 0:
        raise SubjectFailedError(f"{server} port {port} answered none of {report['sent']} queries")


def _read(data: str, edns: bool, dnssec: bool, edns_size: int, skip_bad: bool) -> tuple[_core.QueryStream, int]:
    path = "/dev/stdin" if data == "-" else data
    if data == "-" and sys.stdin.isatty():
        raise InputError("no query file: give one with -d FILE (lines such as 'www.example.test A'), or pipe it in")
    if data != "-" and not Path(data).exists():
        raise InputError(f"-d {data}: no such file")
    log = _core.QueryLog.read(path, skip_bad)
    return log.to_stream(edns_size=edns_size if edns else None, do_bit=dnssec), log.skipped


def _processors(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = [-1]
    if min(numbers) < 0:
        raise click.BadParameter(f"--cpus '{text}' is not a list of processor numbers such as 1 or 2,3")
    return numbers


def _print_second(interval: dict[str, Any]) -> None:
    if interval["phase"] != "measure" or interval["length_s"] <= 0:
        return
    click.echo(
        PROGRESS_LINE.format(
            second=round(interval["start_s"] + interval["length_s"]),
            qps=rate(interval["answered"] / interval["length_s"]),
            p50=duration(interval["latency_ns"]["p50"]),
            p99=duration(interval["latency_ns"]["p99"]),
            timed_out=count(interval["timed_out"]),
        ),
        err=True,
    )


def _print_report(report: dict[str, Any]) -> None:
    sent = report["sent"]
    latency = report["latency_ns"]
    rows = [("sent", count(sent), "")]
    for name in ("answered", "timed_out", "refused", "abandoned", "late", "unmatched", "malformed"):
        rows.append((name.replace("_", " "), count(report[name]), share(report[name], sent)))
    rows.append(("truncated", count(report["truncated"]), share(report["truncated"], sent)))
    for rcode, number in report["rcodes"].items():
        rows.append((rcode, count(number), share(number, report["answered"])))
    print_table(("queries", "number", "share"), rows, right=(1, 2))
    click.echo()
    click.echo(f"rate         {rate(report['qps'])} answered a second over {report['duration_s']:.2f} s")
    click.echo(
        f"latency      p50 {duration(latency['p50'])}  p90 {duration(latency['p90'])}  p99 {duration(latency['p99'])}  "
        f"p99.9 {duration(latency['p999'])}  max {duration(latency['max'])}"
    )
    click.echo(
        f"send delay   p50 {duration(report['send_error_ns']['p50'])}  p99 {duration(report['send_error_ns']['p99'])}"
    )
    click.echo(
        f"mean size    query {octets(report['query_bytes_mean'])}, answer {octets(report['response_bytes_mean'])}"
    )
    generator = report["generator"]
    click.echo(
        f"generator    {microseconds(generator['cpu_us_per_query'])} of CPU a query, "
        f"socket drops {generator['socket_drops']}"
    )
    click.echo(f"bottleneck   {report['bottleneck']}")
    for sentence in report["evidence"]:
        click.echo(f"             {sentence}")
    for reason in report["tainted"]:
        click.echo(f"tainted      {reason}")


@click.command(hidden=True)
@click.option("-s", "--address", default="127.0.0.1", show_default=True)
@click.option("-p", "--port", type=click.IntRange(0, 65535), default=0, help="0 picks a free one.")
def sink(address: str, port: int) -> None:
    """Echo every datagram as an answer: what a load generator reaches when no server is in its way."""
    with contextlib.suppress(KeyboardInterrupt):
        _core.serve_echo(address, port, lambda chosen: click.echo(f"ready {chosen}"))

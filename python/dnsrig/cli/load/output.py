"""What `dnsrig load` prints."""

from typing import Any

import click

from dnsrig.cli.common import print_table
from dnsrig.cli.format import count, duration, microseconds, octets, rate, share, span
from dnsrig.cli.streams import say

PROGRESS_LINE = "{second:>4} s  {qps:>9} q/s  p50 {p50:>9}  p99 {p99:>9}  timed out {timed_out}"
TRIAL_LINE = "{asked:>11} q/s for {seconds:4.1f} s  lost {lost:>8}  p99 {p99:>9}  {outcome}"
MANY_CLIENTS = 1000
OUTCOMES = {"passed": "carried", "failed": "not carried", "generator_limited": "the generator could not keep it"}
LIMITS = {
    "server": "the server",
    "generator": "the generator: the server may carry more",
    "max_rate": "the highest rate tried (--to): the server may carry more",
    "min_rate": "the lowest rate tried (--from): it was too much",
}


def print_second(interval: dict[str, Any]) -> None:
    """Print one second's figures on standard error."""
    if interval["phase"] != "measure" or interval["length_s"] <= 0:
        return
    line = PROGRESS_LINE.format(
        second=round(interval["start_s"] + interval["length_s"]),
        qps=rate(interval["answered"] / interval["length_s"]),
        p50=duration(interval["latency_ns"]["p50"]),
        p99=duration(interval["latency_ns"]["p99"]),
        timed_out=count(interval["timed_out"]),
    )
    connections = interval["connections"]
    if connections["tried"]:
        line += f"  sessions opened {count(connections['opened'])}, failed {count(connections['failed'])}"
    say(line)


def print_trial(trial: dict[str, Any]) -> None:
    """Print one trial of a search on standard error."""
    say(
        TRIAL_LINE.format(
            asked=rate(trial["rate_qps"]),
            seconds=trial["duration_s"],
            lost=share(trial["lost"], trial["sent"]),
            p99=duration(trial["p99_ns"]),
            outcome=OUTCOMES[trial["outcome"]],
        )
    )


def print_report(report: dict[str, Any]) -> None:
    """Print a load's report as text."""
    _print_queries(report)
    click.echo()
    _print_stream(report["stream"])
    if report["sent"]:
        _print_rates(report)
    if report["case_changed"]:
        click.echo(f"0x20         {count(report['case_changed'])} answers with other case of letters")
    for kind in ("cookies", "tsig"):
        found = [f"{name.replace('_', ' ')} {count(number)}" for name, number in report.get(kind, {}).items() if number]
        if found:
            click.echo(f"{kind:<12} {', '.join(found)}")
    _print_sessions(report)
    _print_generator(report)
    if "breaking_point" in report:
        print_breaking_point(report["breaking_point"])
    click.echo(f"bottleneck   {report['bottleneck']}")
    for sentence in report["evidence"]:
        click.echo(f"             {sentence}")
    for reason in report["tainted"]:
        click.echo(f"tainted      {reason}")


def _print_queries(report: dict[str, Any]) -> None:
    """Print what became of the queries, in all and over each of several transports."""
    parts = [("queries", report), *((part["transport"], part) for part in report["transports"])]
    names = ["answered", "timed_out", "refused", "abandoned", "late", "unmatched", "malformed", "truncated"]
    rows: list[tuple[str, ...]] = [("sent", *_cells(parts, lambda part: part["sent"], None))]
    rows += [(name.replace("_", " "), *_cells(parts, lambda part, key=name: part[key], "sent")) for name in names]
    for kind in ("refusals", "malformations"):
        for cause, number in report[kind].items():
            if number:
                label = f"  {cause.replace('_', ' ')}"
                rows.append((label, *_cells(parts, lambda part, kind=kind, cause=cause: part[kind][cause], "sent")))
    for status, number in report.get("http_statuses", {}).items():
        rows.append((f"  HTTP {status}", count(number), share(number, report["sent"]), *[""] * 2 * (len(parts) - 1)))
    if report["moved_to_tcp"]:
        rows.append(("moved to TCP", *_cells(parts, lambda part: part.get("moved", report["moved_to_tcp"]), "sent")))
    for rcode in report["rcodes"]:
        rows.append((rcode, *_cells(parts, lambda part, code=rcode: part["rcodes"].get(code, 0), "answered")))
    header = [title for name, _ in parts for title in ("number" if name == "queries" else name, "share")]
    print_table(("queries", *header), rows, right=range(1, 1 + len(header)))


def _cells(parts: list[tuple[str, dict[str, Any]]], number: Any, whole: str | None) -> list[str]:  # noqa: ANN401 (a lambda)
    """Give number and share of each part."""
    cells = []
    for _, part in parts:
        cells.append(count(number(part)))
        cells.append(share(number(part), part[whole]) if whole else "")
    return cells


def _print_stream(stream: dict[str, Any]) -> None:
    """Print over what time the stream goes, and whether its capture is cut."""
    if stream.get("clients"):
        click.echo(
            f"stream       {count(stream['queries'])} queries of {count(stream['clients'])} clients "
            f"over {span(stream['span_ns'] / 1e9)}"
        )
    if stream.get("cut_packet"):
        click.echo(f"             the capture ends inside packet {count(stream['cut_packet'])}")


def _print_rates(report: dict[str, Any]) -> None:
    asked = f", asked {rate(report['asked_qps'])}" if report["asked_qps"] else ""
    click.echo(f"rate         {rate(report['qps'])} answered a second over {report['duration_s']:.2f} s{asked}")
    _print_times("latency", report["latency_ns"])
    for part in report["transports"]:
        _print_times(f"  {part['transport']}", part["latency_ns"])
    _print_times("send delay", report["send_error_ns"])
    click.echo(
        f"mean size    query {octets(report['query_bytes_mean'])}, answer {octets(report['response_bytes_mean'])}"
    )


def _print_times(title: str, times: dict[str, Any]) -> None:
    if times["p50"] is None:
        return
    shown = "  ".join(
        f"{name} {duration(times[key])}"
        for name, key in (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99.9", "p999"), ("max", "max"))
    )
    click.echo(f"{title:<12} {shown}")


def _print_sessions(report: dict[str, Any]) -> None:
    connections = report["connections"]
    if not connections["tried"]:
        return
    names = ("tried", "opened", "failed", "closed_by_peer", "closed", "full", "resumed")
    said = ", ".join(f"{name.replace('_', ' ')} {count(connections[name])}" for name in names)
    click.echo(f"sessions     {said}")
    if "sessions_held" in report:
        clients = report["generator"]["clients"]
        click.echo(f"             held {count(report['sessions_held'])} of {count(clients)} to the end")
    failures = report.get("session_failures", {})
    causes = [f"{name.replace('_', ' ')} {count(number)}" for name, number in failures.items() if number]
    if causes:
        click.echo(f"             failed: {', '.join(causes)}")
    _print_times("handshake", report["handshake_ns"])
    wire = report["wire"]
    if wire["octets_sent"]:
        click.echo(
            f"wire         {count(wire['octets_sent'])} octets in {count(wire['packets_sent'])} packets sent, "
            f"{count(wire['octets_received'])} in {count(wire['packets_received'])} received"
        )


def _print_generator(report: dict[str, Any]) -> None:
    generator = report["generator"]
    click.echo(
        f"generator    {microseconds(generator['cpu_us_per_query'])} of CPU a query, busiest thread "
        f"{generator['cpu_share']:.0%} of a CPU, socket drops {generator['socket_drops']}"
    )
    wake_up = generator["wake_up_ns"]
    # Of few clients, it is mostly memory that does not grow with them.
    memory = generator["memory_bytes_per_client"] if generator["clients"] >= MANY_CLIENTS else None
    of_memory = f", {memory:,.0f} octets of memory a client" if memory else ""
    in_load = generator["wake_up_in_load_ns"]
    of_load = f"; in it p50 {duration(in_load['p50'])}, p99 {duration(in_load['p99'])}" if in_load["p50"] else ""
    click.echo(
        f"             woken up late before the load: p50 {duration(wake_up['p50'])}, p99 {duration(wake_up['p99'])}"
        f"{of_load}{of_memory}"
    )


def print_breaking_point(found: dict[str, Any]) -> None:
    """Print what a search found."""
    low, high = found["interval"]
    if found["qps"] == 0 and found["limited_by"] == "generator":
        click.echo(
            f"breaks at    not found: the generator could send at no rate that was tried, the lowest {rate(high)} q/s; "
            "begin lower (--from)"
        )
    else:
        # Where it was not the server that gave up, its breaking point lies above.
        title = "carries" if found["limited_by"] in {"generator", "max_rate"} else "breaks at"
        click.echo(
            f"{title:<12} {rate(found['qps'])} q/s, between {rate(low)} and {rate(high)}; "
            f"kept from more by {LIMITS[found['limited_by']]}"
        )
    if found["generator_ceiling_qps"] is not None:
        source = {"sink": "measured against a bare echo server", "cpu_share": "reckoned from its CPU use"}
        click.echo(
            f"             the generator's own ceiling: {rate(found['generator_ceiling_qps'])} q/s, "
            f"{source[found['generator_ceiling_from']]}"
        )

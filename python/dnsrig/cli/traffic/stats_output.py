"""What `dnsrig traffic stats` says: ISC-2008's table in its order, then what goes beyond it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from dnsrig.cli.common import print_table
from dnsrig.cli.format import count, duration, octets, share, span
from dnsrig.report.traffic.parts import Facts, Part, Table

LISTED = 10
"""Clients, names and zones that are listed; the JSON object has more."""
ACTIVITY = ("fewer than 10 requests", "10 to 100", "more than 100")
LEVELS = ("top-level domain", "zone, second level", "zone, third level")
OPTIONS = {
    "3": "NSID",
    "8": "client subnet",
    "9": "EXPIRE",
    "10": "COOKIE",
    "11": "TCP keepalive",
    "12": "padding",
    "13": "CHAIN",
    "14": "key tags",
    "15": "extended error",
    "18": "report channel",
    "19": "ZONEVERSION",
}
"""EDNS options that are in use, by their codes (IANA, DNS EDNS0 Option Codes)."""
UNUSED_TCP = (
    ("bad_header", "segments with a bad header"),
    ("unplaced", "segments without a known place"),
    ("misplaced", "ends read from a wrong place"),
    ("given_up", "segments given up for want of memory"),
    ("gaps", "gaps"),
    ("incomplete", "messages not whole"),
)
COLUMN = 26

Row = tuple[str, str]


def print_parts(parts: Iterable[Part]) -> None:
    """Print figures and tables as text, an empty line between them."""
    for place, part in enumerate(parts):
        if place:
            click.echo()
        if isinstance(part, Facts):
            for what, value in part.rows:
                click.echo(f"{what:<{COLUMN}}{value}")
            continue
        print_table(part.columns, part.rows, right=range(1, len(part.columns)))
        if part.note:
            click.echo(part.note)


def parts_of(found: Mapping[str, Any]) -> Iterator[Part]:
    """Put statistics into words."""
    yield Facts((*_requests(found), *_tcp(found["tcp"])))
    yield _types(found)
    yield from _codes(found)
    yield Facts((*_answers(found), *_messages(found)))
    yield Facts(tuple(_clients(found["clients"])))
    yield from _top("client", found["clients"]["top"], found["requests"])
    if found["names"] is not None:
        yield from _names(found["names"], found["requests"])
    yield Facts(tuple(_packets(found)))


def _failing(part: int, whole: int) -> str:
    return f"{count(part)} ({share(part, whole)})"


def _rate(qps: float) -> str:
    return f"{qps:,.1f} q/s"


def _requests(found: Mapping[str, Any]) -> Iterator[Row]:
    requests, rd = found["requests"], found["rd"]
    yield "start", found["start"] or "-"
    yield "duration", span(found["seconds"])
    yield "requests", f"{count(requests)}, counted from {found['counted_from']}"
    yield "failed", _failing(found["failed"], requests)
    yield "mean rate", _rate(found["rate_qps"]["mean"])
    yield "95 % burst", _rate(found["rate_qps"]["p95"])
    yield "maximum burst", _rate(found["rate_qps"]["max"])
    if found["rate_qps"]["beyond"]:
        yield "", f"bursts without {count(found['rate_qps']['beyond'])} requests, whose times are too far apart"
    yield "recursion desired", f"{count(rd['count'])}, failed {_failing(rd['failed'], rd['count'])}"
    yield "authoritative answers", count(found["aa"])


def _tcp(tcp: Mapping[str, Any]) -> Iterator[Row]:
    shares = f"{100 * tcp['packet_share']:.1f} % of DNS packets, {100 * tcp['request_share']:.1f} % of requests"
    yield "TCP packets", f"{count(tcp['packets'])} ({shares})"
    yield "TCP sessions", count(tcp["sessions"])
    yield "TCP sessions never closed", count(tcp["never_closed"])
    ended = f"{count(tcp['closed'])} closed, {count(tcp['reset'])} reset"
    yield "", f"{ended}, {count(tcp['joined'])} begun before the capture"


def _types(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            row["type"] if row["class"] in ("IN", "other") else f"{row['type']} {row['class']}",
            count(row["count"]),
            share(row["count"], found["requests"]),
            count(row["failed"]),
            share(row["failed"], row["count"]),
        )
        for row in found["types"]
    )
    return Table(("type", "requests", "share", "failed", "share"), rows)


def _codes(found: Mapping[str, Any]) -> Iterator[Table]:
    answers, everything = found["answers"]["count"], sum(found["opcodes"].values())
    yield Table(("response code", "answers", "share"), _counts(found["rcodes"], answers))
    yield Table(("opcode", found["counted_from"], "share"), _counts(found["opcodes"], everything))


def _counts(counts: Mapping[str, int], whole: int) -> tuple[tuple[str, str, str], ...]:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return tuple((name, count(number), share(number, whole)) for name, number in ordered)


def _answers(found: Mapping[str, Any]) -> Iterator[Row]:
    if found["counted_from"] == "answers":
        return
    answers, requests = found["answers"], found["requests"]
    yield "answered", _failing(answers["answered"], requests)
    yield "unanswered", _failing(answers["unanswered"], requests)
    if answers["given_up"]:
        yield "", f"{count(answers['given_up'])} not waited for, for want of memory"
    yield "answers without a query", _failing(answers["unmatched"], answers["count"])
    latency = found["latency_ns"]
    if latency is not None:
        names = (("p50", "50 %"), ("p90", "90 %"), ("p99", "99 %"), ("p999", "99.9 %"), ("max", "longest"))
        yield "latency", ", ".join(f"{words} {duration(latency[key])}" for key, words in names)


def _messages(found: Mapping[str, Any]) -> Iterator[Row]:
    sizes, requests, edns = found["sizes"], found["requests"], found["edns"]
    for what in ("query", "answer"):
        spread = sizes[what]
        if spread is not None:
            mean = octets(sizes[f"{what}_mean"])
            yield f"{what} size", f"mean {mean}, 50 % {spread['p50']}, 95 % {spread['p95']}, longest {spread['max']}"
    yield "truncated answers", _failing(sizes["truncated"], found["answers"]["count"])
    yield "EDNS", _failing(edns["requests"], requests)
    if edns["udp_sizes"]:
        yield "EDNS payload sizes", _shares(edns["udp_sizes"], edns["requests"])
    if edns["options"]:
        named = {_option(code): number for code, number in edns["options"].items()}
        yield "EDNS options", _shares(named, edns["requests"])
    yield "flags", ", ".join(f"{name.upper()} {share(number, requests)}" for name, number in found["flags"].items())
    yield "transports", _shares(found["transports"], requests)
    yield "address families", _shares(found["families"], requests)


def _option(code: str) -> str:
    """Name an EDNS option, by its code where that has no name."""
    return OPTIONS.get(code, f"option {code}")


def _shares(counts: Mapping[str, int], whole: int, most: int = 6) -> str:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    words = [f"{name} {share(number, whole)}" for name, number in ordered[:most]]
    more = len(ordered) - most
    return ", ".join(words) + (f", {more} more" if more > 0 else "")


def _counted(number: int, error: float) -> str:
    return count(number) + (f" (standard error {100 * error:.1f} %)" if error else "")


def _clients(clients: Mapping[str, Any]) -> Iterator[Row]:
    yield "clients", _counted(clients["count"], clients["error"])
    activity = clients["activity"]
    everyone, everything = sum(activity["clients"]), sum(activity["requests"])
    for words, number, requests in zip(ACTIVITY, activity["clients"], activity["requests"], strict=True):
        yield f"  {words}", f"{share(number, everyone)} of clients, {share(requests, everything)} of requests"
    if not activity["is_exact"]:
        yield "", "not exact: clients of several captures count in each, or there are more than --clients"


def _names(names: Mapping[str, Any], requests: int) -> Iterator[Part]:
    exponent = names["zipf_exponent"]
    yield Facts(
        (
            ("names", _counted(names["count"], names["error"])),
            ("Zipf exponent", "-" if exponent is None else f"{exponent:.2f}"),
            ("unknown TLD", _failing(names["unknown_tld"], requests)),
            ("random label", _failing(names["random"], requests)),
        )
    )
    yield from _top("name", names["top"], requests)
    for words, zones in zip(LEVELS, names["zones"], strict=True):
        yield from _top(words, zones, requests)


def _top(what: str, top: Mapping[str, Any], requests: int) -> Iterator[Table]:
    items = top["items"][:LISTED]
    if not items:
        return
    rows = tuple((name, count(number), share(number, requests)) for name, number in items)
    is_sure = top["error"] <= items[-1][1]
    note = "" if is_sure else f"counts may be too small by up to {count(top['error'])}"
    yield Table((what, "requests", "share"), rows, note)


def _packets(found: Mapping[str, Any]) -> Iterator[Row]:
    packets, tcp = found["packets"], found["tcp"]
    yield "packets", f"{count(packets['read'])}, of DNS {count(packets['dns'])}"
    for key, words in (("not_dns", "not DNS"), ("malformed", "malformed messages"), ("fragments", "fragments")):
        seen = [f"{count(number)} {name.replace('_', ' ')}" for name, number in packets[key].items() if number]
        if seen:
            yield words, ", ".join(seen)
    if packets["merged"]:
        yield "several datagrams as one", f"{count(packets['merged'])}, the messages of which are counted each"
    if tcp["retransmitted"]:
        yield "TCP packets sent again", count(tcp["retransmitted"])
    unused = [f"{count(tcp[key])} {words}" for key, words in UNUSED_TCP if tcp[key]]
    if unused:
        yield "TCP not used", ", ".join(unused)
    read = found["throughput"]
    yield (
        "read at",
        f"{read['packets_per_second'] / 1e6:.2f} million packets/s, {read['bytes_per_second'] / 1e6:,.0f} MB/s",
    )

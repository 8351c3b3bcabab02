"""From the options of `dnsrig load` to the stream that is sent."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.capture_losses import losses_said, lost_of
from dnsrig.cli.format import count, span
from dnsrig.errors import InputError
from dnsrig.wording import counted

Options = Mapping[str, Any]
"""Values of options by name."""
TEXT_SUFFIXES = frozenset((".txt", ".text"))
"""What --replay takes for a query file with times; all else is a capture."""

EDNS_MAKERS = ("edns", "dnssec", "nsid", "ecs", "edns_options", "padding", "cookies")
"""Options that give a message EDNS, of the size that --edns-size says."""


def read_stream(options: Options, seed: int) -> tuple[_core.QueryStream, dict[str, Any]]:
    """Read or make the stream; give it with a summary of what is in it.

    Raises:
        InputError: the options contradict each other, or what they name cannot be read.

    """
    sources = [name for name in ("data", "replay", "patterns") if options[name]]
    if len(sources) > 1:
        raise click.UsageError("give one of -d, --replay and --generate: they all say what is sent")
    message = json.dumps(_message(options))
    if options["sessions_only"] and not sources:
        # Nothing of it is sent.
        sources, options = ["patterns"], {**options, "patterns": ["unsent.invalid"], "count": 1}
    if options["replay"]:
        return _replayed(options)
    if options["patterns"]:
        plan = {
            "patterns": list(options["patterns"]),
            "types": options["types"],
            "queries": options["count"],
            "seed": seed,
        }
        stream, summary = _core.QueryStream.generate(json.dumps(plan), message=message)
        return stream, json.loads(summary)
    path = _query_file(options["data"] or "-")
    if options["binary"]:
        stream, summary = _core.QueryStream.from_binary(path)
    elif options["updates"]:
        stream, summary = _core.QueryStream.from_updates(path, message=message, skip_bad=options["skip_bad"])
    else:
        stream, summary = _core.QueryStream.from_text(path, message=message, skip_bad=options["skip_bad"])
    return stream, json.loads(summary)


def remarks(summary: Mapping[str, Any], speed: float | None) -> list[str]:
    """Give sentences on the stream of `summary`: how long its replay at `speed` takes, and what was left out of it."""
    sentences = []
    if speed is not None:
        clients = f"{count(summary['queries'])} queries of {counted(summary['clients'], 'client')}"
        sentences.append(f"replaying {clients} over {span(summary['span_ns'] / 1e9 / speed)}")
    if summary.get("skipped"):
        sentences.append(f"left out {summary['skipped']} bad lines")
    return [*sentences, *losses_said(lost_of(summary), summary.get("cut_packet"))]


def _replayed(options: Options) -> tuple[_core.QueryStream, dict[str, Any]]:
    path = options["replay"]
    if path != "-" and not Path(path).exists():
        raise InputError(f"--replay {path}: no such file")
    if Path(path).suffix in TEXT_SUFFIXES:
        stream, summary = _core.QueryStream.from_text(path, message=json.dumps(_message(options)))
    else:
        wanted = {"ports": list(options["capture_ports"]), "client_by_port": options["client_by_port"]}
        stream, summary = _core.QueryStream.from_capture(path, json.dumps(wanted))
    return stream, json.loads(summary)


def _query_file(data: str) -> str:
    if data == "-":
        if sys.stdin.isatty():
            raise InputError("no query file: give one with -d FILE (lines such as 'www.example.test A'), or pipe it in")
        return "/dev/stdin"
    if not Path(data).exists():
        raise InputError(f"-d {data}: no such file")
    return data


def _message(options: Options) -> dict[str, Any]:
    """Give what every message has, as the core takes it."""
    wants_edns = any(options[name] for name in EDNS_MAKERS)
    values = {
        "edns_size": options["edns_size"] if wants_edns else None,
        "do_bit": options["dnssec"],
        "recursion_desired": not options["no_rd"],
        "checking_disabled": options["cd"],
        "authentic_data": options["ad"],
        "nsid": options["nsid"],
        "client_subnet": options["ecs"],
        "options": list(options["edns_options"]),
        "padding_block": options["padding"],
    }
    return {name: value for name, value in values.items() if value is not None}

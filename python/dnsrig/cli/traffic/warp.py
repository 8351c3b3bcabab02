"""`dnsrig traffic warp`: the same traffic at another time, faster, or several times over."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import FiniteRange, WholeNumber, is_utf8, json_option
from dnsrig.cli.format import count
from dnsrig.cli.traffic.captures import FILES, OUTPUT, claim_outputs, print_result, require_files
from dnsrig.cli.traffic.reading import CaptureReading, reading_options, work
from dnsrig.cli.zone_reading import file_name

SHIFT_MAX_S = 4_294_967_295


class Moment(click.ParamType[int]):
    """A time as ns since 1970: 2026-11-22T18:05:00Z, 20261122180500, or seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401 (click's signature)
        """Convert and check."""
        if isinstance(value, int):
            return value
        time_ns = _core.traffic_time_ns(str(value)) if is_utf8(str(value)) else None
        if time_ns is None:
            self.fail(f"{value!r} is not a time such as 2026-11-22T18:05:00Z or 1795370700.25.", param, ctx)
        return time_ns


@click.command()
@FILES
@OUTPUT
@click.option("--speed", type=FiniteRange(1e-6, 1e6), default=1.0, show_default=True, help="How many times as fast.")
@click.option("--start", type=Moment(), default=None, help="When the first packet is to be.  [default: when it was]")
@click.option("--shift", type=FiniteRange(-SHIFT_MAX_S, SHIFT_MAX_S), default=0.0, help="Seconds to add to every time.")
@click.option("--loops", type=WholeNumber(1, 1_000_000), default=1, show_default=True, help="How often all is written.")
@click.option("--same-names", is_flag=True, help="With --loops, ask for the same names each time.")
@reading_options
@json_option
def warp(
    files: tuple[Path, ...],
    output: Path,
    speed: float,
    start: int | None,
    shift: float,
    loops: int,
    same_names: bool,
    ports: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Write the DNS packets of the captures FILE... to a pcap file with other times.

    With --loops, queries are written several times, one after the other. From the second time on every name gets a
    label in front (`loop2`, `loop3`, ...), so that no cache knows it; the zone that is asked stays the same. Answers
    are left out then, as they are to other names.

    \b
    Examples:
      dnsrig traffic warp day.pcap -f fast.pcap --speed 10
      dnsrig traffic warp minute.pcap -f hour.pcap --loops 60 --start 2026-11-22T18:00:00Z
    """
    if same_names and loops == 1:
        raise click.UsageError("--same-names is of --loops: without it, all is written once, and names stay.")
    claim_outputs([output], files, as_json=as_json)
    if loops > 1:
        require_files(files, "--loops reads it several times")
    read = CaptureReading(ports, threads).to_json()
    settings = json.dumps(
        {
            "speed": speed,
            "start_ns": start,
            "shift_ns": round(shift * 1e9),
            "loops": loops,
            "same_names": same_names,
        }
    )
    result = work("warp", files, lambda progress: _core.traffic_warp(files, read, settings, output, progress))
    print_result(output, files, result, _lines(output, result, loops), as_json=as_json)


def _lines(output: Path, result: Mapping[str, Any], loops: int) -> list[str]:
    name = file_name(output)
    if loops == 1:
        return [f"{name}: {count(sum(result['packets_written']))} packets, {count(result['messages'])} messages"]
    lines = [f"{name}: {count(result['messages_written'])} messages in {count(loops)} loops"]
    if result["answers_left_out"]:
        lines.append(f"left out, as names are new: {count(result['answers_left_out'])} answers")
    if result["not_renamed"]:
        lines.append(
            f"left out, as no label could be put in front of their names: {count(result['not_renamed'])} queries"
        )
    return lines

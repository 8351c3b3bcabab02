"""From the options of `dnsrig load` to the settings of a load."""

import re
from collections.abc import Sequence
from typing import Any

import click

from dnsrig.cli.load.queries import Options
from dnsrig.errors import InputError
from dnsrig.loads import (
    STANDARD_PORTS,
    TRANSPORTS,
    Http,
    LoadSettings,
    Route,
    Tls,
    closed_loop,
    fixed_rate,
    source_addresses,
)

MIX_PART = re.compile(r"([a-z]+)(?::(\d{1,5}))?=(\d+\.?\d*|\.\d+)")
DEFAULT_TIMEOUT_S = 5.0
SEARCH_TIMEOUT_S = 1.0
"""Each failed trial of a search waits for the time-out once more."""


def load_settings(options: Options, seed: int) -> LoadSettings:
    """Give the settings that the options ask for.

    Raises:
        click.UsageError: options contradict each other.

    """
    passes = options["passes"]
    if options["limit_s"] is None and passes is None and options["queries"] is None:
        passes = 1
    default_timeout_s = SEARCH_TIMEOUT_S if options["searching"] else DEFAULT_TIMEOUT_S
    return LoadSettings(
        routes=tuple(_routes(options)),
        schedule=_schedule(options),
        duration_s=options["limit_s"],
        queries=options["queries"],
        passes=passes,
        timeout_s=options["timeout_s"] or default_timeout_s,
        threads=options["threads"],
        cpus=_processors(options["cpus"]),
        sources=source_addresses(options["sources"]),
        keep_clients=bool(options["replay"]),
        seed=seed,
        cookies=options["cookies"],
        randomise_case=options["randomise_case"],
        tsig=options["tsig"],
        tcp_fallback=options["tcp_fallback"],
        sessions_only=options["sessions_only"],
        allow_any_target=options["any_target"],
    )


def search_goal(options: Options) -> tuple[dict[str, Any], dict[str, float]]:
    """Give the goal and the limits of the search for the breaking point."""
    goal: dict[str, Any] = {"loss_ratio": options["loss"] / 100}
    if options["p99_ms"] is not None:
        goal["p99_ns"] = round(options["p99_ms"] * 1e6)
    return goal, {"min_qps": options["min_qps"], "max_qps": options["max_qps"]}


def _routes(options: Options) -> Sequence[Route]:
    mix = [(options["mode"], options["port"], 1.0)]
    if options["mix"]:
        if options["port"] is not None:
            raise click.UsageError("--mix names ports itself, as in dot:8853=0.2; leave -p out")
        mix = [_part(part) for part in options["mix"].split(",")]
    return [_route(options, transport, port, weight) for transport, port, weight in mix]


def _route(options: Options, transport: str, port: int | None, weight: float) -> Route:
    return Route(
        transport=transport,
        server=options["server"],
        port=port or STANDARD_PORTS[transport],
        weight=weight,
        clients=options["clients"],
        queries_per_session=options["queries_per_session"],
        idle_s=options["idle_s"],
        resumption=not options["no_resumption"],
        tls=Tls(options["tls_versions"], options["cipher_suites"], options["roots"], options["server_name"]),
        http=Http(options["http_path"], "get" if options["http_get"] else "post"),
    )


def _part(text: str) -> tuple[str, int | None, float]:
    """Read one part of --mix, such as dot:8853=0.2."""
    found = MIX_PART.fullmatch(text.strip())
    transport, port, weight = found.groups() if found else ("", None, "")
    if transport not in TRANSPORTS or (port is not None and not 1 <= int(port) <= 65_535):
        raise InputError(
            f"--mix: '{text}' is no transport ({', '.join(TRANSPORTS)}) with its share, such as udp=0.8 or dot:8853=0.2"
        )
    return transport, int(port) if port else None, float(weight)


def _schedule(options: Options) -> dict[str, Any]:
    named = {
        "--replay": options["replay"],
        "--ramp": options["ramp"],
        "--steps": options["steps"],
        "--search": options["searching"],
        "-q or -Q": options["outstanding"] or options["rate_qps"],
    }
    given = [name for name, value in named.items() if value]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} each say when queries are sent; give one of them")
    if options["speed"] and not options["replay"]:
        raise click.UsageError("--speed goes with --replay")
    if options["poisson"] and (options["rate_qps"] is None or options["outstanding"] is not None):
        raise click.UsageError("--poisson goes with -Q, without -q")
    if options["replay"]:
        return {"kind": "replay", "speed": options["speed"] or 1.0}
    if options["ramp"]:
        start, end, span = _numbers("--ramp", options["ramp"], 3, "FROM:TO:SECONDS, such as 1000:50000:60")
        return {"kind": "ramp", "from_qps": start, "to_qps": end, "span_s": span}
    if options["steps"]:
        shape = "RATE:SECONDS, such as 1000:10,2000:10"
        steps = [_numbers("--steps", part, 2, shape) for part in options["steps"].split(",")]
        return {"kind": "steps", "steps": [{"rate_qps": rate, "span_s": span} for rate, span in steps]}
    if options["rate_qps"] is not None and options["outstanding"] is None:
        kind = "poisson" if options["poisson"] else "fixed_rate"
        return fixed_rate(options["rate_qps"]) | {"kind": kind}
    return closed_loop(options["outstanding"] or 100, options["rate_qps"])


def _numbers(option: str, text: str, count: int, shape: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise InputError(f"{option}: '{text}' is not {shape}")
    return numbers


def _processors(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = (-1,)
    if min(numbers) < 0:
        raise click.BadParameter(f"--cpus '{text}' is not a list of processor numbers such as 1 or 2,3")
    return numbers

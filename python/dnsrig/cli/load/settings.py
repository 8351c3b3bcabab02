"""From the options of `dnsrig load` to the settings of a load."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import click

from dnsrig.cli.load.files import check_files
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

MIX_PART = re.compile(r"([a-z]+)(?::([0-9]{1,5}))?=([0-9]+\.?[0-9]*|\.[0-9]+)")
NUMBER = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
DEFAULT_TIMEOUT_S = 5.0
OPTION_OF_SETTING: Mapping[str, str] = {
    "certificates": "--ca",
    "cipher_suites": "--cipher",
    "clients": "-c",
    "duration": "-l",
    "from_qps": "--ramp",
    "hold_sessions": "--hold-sessions",
    "http_path": "--http-path",
    "keep_clients": "--replay",
    "loss_ratio": "--loss",
    "max_qps": "--to",
    "max_rate_qps": "-Q",
    "min_qps": "--from",
    "outstanding": "-q",
    "p99_ns": "--p99",
    "passes": "-n",
    "queries": "--queries",
    "queries_per_session": "--queries-per-session",
    "schedule": "--replay",
    "server_name": "--sni",
    "sessions_only": "--sessions-only",
    "sources": "-a",
    "speed": "--speed",
    "steps": "--steps",
    "tcp_fallback": "--tcp-fallback",
    "threads": "-T",
    "timeout": "-t",
    "tls_versions": "--tls",
    "to_qps": "--ramp",
    "tsig": "-y",
    "weight": "--mix",
}
"""The options of settings that the load generator may refuse."""
SHARED_SETTINGS = ("rate_qps", "span_s")
"""Settings of --ramp and of --steps; of the first, -Q has one too."""
SEARCH_TIMEOUT_S = 1.0
"""Each failed trial of a search waits for the time-out once more."""


def load_settings(options: Options, seed: int) -> LoadSettings:
    """Give the settings that the options ask for.

    Raises:
        click.UsageError: options contradict each other.

    """
    check_files(options)
    if options["hold_sessions"] and options["limit_s"] is None:
        raise click.UsageError("--hold-sessions needs -l: for how many seconds the sessions are held")
    passes = options["passes"]
    if options["limit_s"] is None and passes is None and options["queries"] is None:
        passes = 1
    default_timeout_s = SEARCH_TIMEOUT_S if options["searching"] else DEFAULT_TIMEOUT_S
    routes = tuple(_routes(options))
    _check_use(options, {route.transport for route in routes})
    return LoadSettings(
        routes=routes,
        schedule=_schedule(options),
        duration_s=options["limit_s"],
        queries=options["queries"],
        passes=passes,
        timeout_s=options["timeout_s"] or default_timeout_s,
        threads=options["threads"],
        cpus=_processors(options["cpus"]),
        sources=_sources(options["sources"]),
        keep_clients=bool(options["replay"]),
        seed=seed,
        cookies=options["cookies"],
        randomise_case=options["randomise_case"],
        tsig=options["tsig"],
        tcp_fallback=options["tcp_fallback"],
        sessions_only=options["sessions_only"],
        hold_sessions=options["hold_sessions"],
        allow_any_target=options["any_target"],
    )


def search_goal(options: Options) -> tuple[dict[str, Any], dict[str, float]]:
    """Give the goal and the limits of the search for the breaking point."""
    goal: dict[str, Any] = {"loss_ratio": options["loss"] / 100}
    if options["p99_ms"] is not None:
        goal["p99_ns"] = round(options["p99_ms"] * 1e6)
    return goal, {"min_qps": options["min_qps"], "max_qps": options["max_qps"]}


def in_options(error: InputError, options: Options) -> InputError:
    """Give an error that begins with the name of a setting with that of its option."""
    setting, colon, reason = str(error).partition(": ")
    option = OPTION_OF_SETTING.get(setting)
    if setting in SHARED_SETTINGS:
        option = next((f"--{name}" for name in ("ramp", "steps") if options[name]), "-Q")
    return InputError(f"{option}{colon}{reason}") if option else error


def _check_use(options: Options, transports: set[str]) -> None:
    """Refuse options that none of the transports heeds: the figures would be of something else than was asked for."""
    groups = (
        (
            set(TRANSPORTS[1:]),
            {"--queries-per-session": options["queries_per_session"], "--idle": options["idle_s"]},
        ),
        (
            {"dot", "doh", "doq"},
            {
                "--no-resumption": options["no_resumption"],
                "--tls": options["tls_versions"] != "any",
                "--cipher": options["cipher_suites"],
                "--ca": options["roots"],
                "--sni": options["server_name"],
            },
        ),
        ({"doh"}, {"--http-get": options["http_get"], "--http-path": options["http_path"] != Http().path}),
    )
    for users, given in groups:
        for option, value in given.items():
            if value and not users & transports:
                names = ", ".join(transport for transport in TRANSPORTS if transport in users)
                raise click.UsageError(f"{option} goes with {names}; choose the transport with -m or --mix")


def _routes(options: Options) -> Sequence[Route]:
    mix = [(options["mode"], options["port"], 1.0)]
    if options["mix"] is not None:
        if options["port"] is not None:
            raise click.UsageError("--mix names ports itself, as in dot:8853=0.2; leave -p out")
        if options["mode"] != TRANSPORTS[0]:
            raise click.UsageError("--mix names the transports itself; leave -m out")
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
    parts = text.split(":")
    # float() and int() take digits of any script, and underscores.
    numbers = [float(part) for part in parts] if all(NUMBER.fullmatch(part) for part in parts) else []
    if len(numbers) != count or not all(math.isfinite(number) for number in numbers):
        raise InputError(f"{option}: '{text}' is not {shape}")
    return numbers


def _sources(prefixes: Sequence[str]) -> tuple[str, ...]:
    try:
        return source_addresses(prefixes)
    except InputError as error:
        raise InputError(f"-a: {error}") from None


def _processors(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    if not re.fullmatch(r"[0-9]{1,20}(,[0-9]{1,20})*", text):
        raise click.BadParameter(f"--cpus '{text}' is not a list of processor numbers such as 1 or 2,3")
    numbers = tuple(int(part) for part in text.split(","))
    for number in numbers:
        _check_processor(number)
    return numbers


def _check_processor(number: int) -> None:
    """See that a thread may run there: more processors than those of its affinity may be permitted, or fewer exist."""
    usual = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {number})
    except (OSError, OverflowError, ValueError):
        listed = ", ".join(str(known) for known in sorted(usual))
        raise InputError(f"--cpus: nothing can run on processor {number} here; there are {listed}") from None
    finally:
        os.sched_setaffinity(0, usual)

"""`dnsrig internet serve`: a simulated Internet until Ctrl-C."""

import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import WholeNumber, chosen_seed, json_option, print_json, print_table, seed_option
from dnsrig.cli.internet_options import DOMAINS_MAX, MIB, domains_option, memory_option, profile_option
from dnsrig.cli.verify_files import check_outputs
from dnsrig.dates import DAY_S
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.hosts.namespace import Namespace
from dnsrig.hosts.network.users import enter_user_namespace
from dnsrig.internet import (
    DNS_PORT,
    REBUILT_PREFIXES,
    InternetFiles,
    internet_namespace,
    read_rebuilt,
    totals,
    write_accounts,
    write_files,
)

WATCH_INTERVAL_S = 0.2
"""How often it is looked whether the server still runs."""
DOMAIN_OCTETS = 27_000
"""About what a signed domain takes with what delegates it, in the Internet `internet-2022`."""
OF_PROFILES = ("profile", "domains", "loopback", "presign", "presign_file", "vantage", "no_distances")
"""Parameters that only an Internet of a profile has."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be served, and how."""

    internet: _core.Internet | _core.RebuiltInternet
    title: str
    """What it is, in words."""
    facts: dict[str, Any]
    """The same for machines: `servers` and `prefixes` at least."""
    seed: int
    port: int
    threads: int
    loopback: bool
    addresses: tuple[str, ...] = ()
    """Addresses of servers beside the prefixes."""


@dataclass(frozen=True, slots=True)
class Serving:
    """A server, and where it is: in a namespace, or on this machine's loopback device."""

    server: _core.InternetServer
    namespace: Namespace | None


@click.command()
@click.option(
    "--from",
    "rebuilt",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=None,
    help="Serve what `dnsrig internet from-capture` wrote into this folder, instead of a profile.",
)
@profile_option
@domains_option
@seed_option
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("internet"),
    show_default=True,
    help="Folder for root hints and trust anchors.",
)
@click.option("--loopback", is_flag=True, help="Serve 127.0.0.0/8 of this machine instead of a network namespace.")
@click.option(
    "-p",
    "--port",
    type=WholeNumber(0, 65535),
    default=None,
    help="UDP and TCP port; 0 takes a free one.  [default: 53]",
)
@click.option(
    "--threads", type=WholeNumber(1, 256), default=None, help="Threads for UDP.  [default: one for each processor]"
)
@memory_option("zones, signatures and answers")
@click.option(
    "--presign",
    type=WholeNumber(0, DOMAINS_MAX),
    default=0,
    help="Make the zones of so many domains beforehand, the most popular ones, with all signatures.",
)
@click.option(
    "--presign-for",
    "presign_file",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    default=None,
    help="Make what the questions of a query file lead to beforehand, with all signatures.",
)
@click.option("--vantage", default=None, help="Where resolvers are, if not where the profile says, such as asia.")
@click.option("--no-distances", is_flag=True, help="Delay and lose no answers.")
@click.option(
    "--signed-at",
    "signed_at_s",
    type=WholeNumber(DAY_S, 2**32 - 1),
    default=None,
    help="Time at which signatures are valid, in seconds since 1970; the same gives the same octets.  [default: today]",
)
@click.option(
    "--accounts",
    "accounts_file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="File for what was asked: a JSON object, by server, type and transport.",
)
@json_option
@click.pass_context
def serve(
    context: click.Context,
    rebuilt: Path | None,
    profile: str,
    domains: int | None,
    seed: int | None,
    folder: Path,
    loopback: bool,
    port: int | None,
    threads: int | None,
    memory_mib: int,
    presign: int,
    presign_file: Path | None,
    vantage: str | None,
    no_distances: bool,
    signed_at_s: int | None,
    accounts_file: Path | None,
    as_json: bool,
) -> None:
    """Serve a simulated Internet until Ctrl-C: one process answers for every server address, IPv4 and IPv6.

    It is in a network namespace of its own, where resolvers are started by the command that is printed. Without root
    that takes a user namespace; where the system allows none, --loopback serves this machine's 127.0.0.0/8 on another
    port, for BIND, which asks all servers on one port if its options name it (`port PORT;`).

    \b
    Examples:
      dnsrig internet serve --profile small --seed 1
      dnsrig internet serve --domains 10000000 --no-distances --accounts upstream.json
      dnsrig internet serve --seed 1 --presign-for queries.txt --memory 4096
      dnsrig internet serve --from rebuilt --seed 1
      dnsrig internet serve --loopback --port 5300
    """
    if loopback and port is None:
        raise InputError("--loopback needs a port: port 53 belongs to this machine's own servers; add --port 5300")
    if rebuilt is not None:
        _refuse_with_from(context)
    check_outputs({"--accounts": accounts_file})
    if not loopback:
        _enter_namespace(has_profile=rebuilt is None)
    seed = chosen_seed(seed)
    signed_at_s = int(time.time()) // DAY_S * DAY_S if signed_at_s is None else signed_at_s
    chosen_port = DNS_PORT if port is None else port
    chosen_threads = threads or len(os.sched_getaffinity(0))
    if rebuilt is not None:
        made = read_rebuilt(rebuilt, seed, signed_at_s, memory_mib * MIB)
        plan = _plan_rebuilt(made, rebuilt, seed, chosen_port, chosen_threads)
    else:
        internet = _core.Internet(
            profile,
            seed=seed,
            signed_at_s=signed_at_s,
            domains=domains,
            vantage=vantage,
            memory_octets=memory_mib * MIB,
            distances=not no_distances,
            loopback=loopback,
        )
        internet.prepare()
        if presign:
            _tell_of_memory(min(presign, internet.summary()["domains"]), memory_mib)
            internet.presign(presign, chosen_threads)
        if presign_file is not None:
            internet.presign_for(_core.QueryLog.read(presign_file).to_stream(), chosen_threads)
        facts = internet.summary()
        title = f"{facts['profile']}, seed {seed}: {facts['domains']:,} domains"
        plan = Plan(internet, title, facts, seed, chosen_port, chosen_threads, loopback)
    _serve(plan, folder, accounts_file, as_json)


def _tell_of_memory(domains: int, memory_mib: int) -> None:
    """Say so if domains that are made beforehand will not all fit: those made first are then made again when asked."""
    needed_mib = math.ceil(domains * DOMAIN_OCTETS / MIB)
    if needed_mib > memory_mib:
        click.echo(
            f"warning: --presign {domains}: about {needed_mib:,} MiB are needed, and --memory allows {memory_mib:,}: "
            "the most popular domains, made first, are dropped again; give more memory, or fewer domains",
            err=True,
        )


def _enter_namespace(*, has_profile: bool) -> None:
    try:
        enter_user_namespace()
    except EnvironmentLacksError as error:
        if has_profile:
            raise EnvironmentLacksError(f"{error}; or add --loopback --port 5300, which needs neither") from error
        raise


def _refuse_with_from(context: click.Context) -> None:
    """Refuse options that a rebuilt Internet has no use for."""
    for name in OF_PROFILES:
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            option = next(one.opts[-1] for one in context.command.params if one.name == name)
            raise click.UsageError(f"{option} is of no use with --from: leave one of them out.")


def _plan_rebuilt(internet: _core.RebuiltInternet, folder: Path, seed: int, port: int, threads: int) -> Plan:
    addresses = tuple(internet.addresses)
    facts = {
        "profile": str(folder),
        "zones": internet.zones,
        "memory_octets": internet.memory_octets,
        "servers": len(addresses),
        "prefixes": list(REBUILT_PREFIXES),
    }
    memory_mib = math.ceil(internet.memory_octets / MIB)
    title = f"rebuilt from {folder}, seed {seed}: {internet.zones:,} zones in {memory_mib:,} MiB"
    return Plan(internet, title, facts, seed, port, threads, False, addresses)


def _serve(plan: Plan, folder: Path, accounts_file: Path | None, as_json: bool) -> None:
    files = write_files(plan.internet, folder)
    serving = None
    try:
        with _serving(plan) as serving:
            _tell(plan, serving, files, as_json)
            with suppress(KeyboardInterrupt):
                while serving.server.running:
                    time.sleep(WATCH_INTERVAL_S)
    finally:
        # Also when it broke off: what it was asked until then is known, and complete now that it has stopped.
        if serving is not None:
            _account(serving.server, accounts_file, as_json)


@contextmanager
def _serving(plan: Plan) -> Iterator[Serving]:
    def start() -> _core.InternetServer:
        return _core.InternetServer(plan.internet, port=plan.port, threads=plan.threads, loopback=plan.loopback)

    if plan.loopback:
        server = start()
        try:
            yield Serving(server, None)
        finally:
            server.stop()
        return
    with internet_namespace(plan.facts["prefixes"], plan.addresses) as namespace:
        server = namespace.call(start, discard=_core.InternetServer.stop)
        try:
            yield Serving(server, namespace)
        finally:
            server.stop()


def _tell(plan: Plan, serving: Serving, files: InternetFiles, as_json: bool) -> None:
    inside = serving.namespace.look_inside() if serving.namespace else None
    facts = {
        **plan.facts,
        "seed": plan.seed,
        "port": serving.server.port,
        "root_hints": str(files.root_hints),
        "trust_anchor": str(files.trust_anchor),
        "bind_keys": str(files.bind_keys),
        "enter": inside,
    }
    if as_json:
        print_json(facts)
        return
    more = "" if plan.addresses else " and those of domains that have their own,"
    where = "their own addresses" if plan.addresses else " and ".join(plan.facts["prefixes"])
    click.echo(
        f"{plan.title}, {plan.facts['servers']:,} name servers{more} on {where} port {serving.server.port} "
        "(Ctrl-C stops it)"
    )
    click.echo(f"  root hints:   {files.root_hints}")
    click.echo(f"  trust anchor: {files.trust_anchor}, for BIND {files.bind_keys}")
    if plan.loopback:
        click.echo(
            f"  start BIND with:  options {{ port {serving.server.port}; listen-on port 5353 {{ 127.0.0.1; }}; ... }}"
        )
    if inside:
        click.echo(f"  start a resolver there, as root:  {inside} unbound -d -c ...")


def _account(server: _core.InternetServer, file: Path | None, as_json: bool) -> None:
    accounts, state = server.accounts(), server.state()
    try:
        if file is not None:
            write_accounts(file, accounts, state)
    finally:
        # What cannot be written can be read here at least.
        if not as_json:
            _print_account(accounts, state)


def _print_account(accounts: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> None:
    rows = [(*map(str, row[:2]), *(f"{number:,}" for number in row[2:])) for row in totals(accounts)]
    print_table(
        ("operator", "transport", "queries", "answers", "octets in", "octets out"), rows[:20], right=(2, 3, 4, 5)
    )
    click.echo(
        f"{state['signatures']:,} signatures made, {state['memory_octets'] // MIB:,} MiB of zones, signatures and "
        "answers"
    )

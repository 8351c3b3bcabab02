"""`dnsrig internet from-capture`: the zones that a capture shows."""

import ipaddress
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import json_option, print_json
from dnsrig.cli.internet_options import MIB, memory_option
from dnsrig.cli.traffic.reading import CAPTURE_FILE, CaptureReading, reading_options, warn, warn_of_files, work
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.internet import INDEX, write_object
from dnsrig.runs.writing import unwritable


@click.command("from-capture")
@click.argument("files", nargs=-1, required=True, type=CAPTURE_FILE, metavar="FILE...")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("rebuilt"),
    show_default=True,
    help="Folder for the zones: new, or empty.",
)
@memory_option("what the captures show")
@reading_options
@json_option
def from_capture(
    files: tuple[Path, ...],
    folder: Path,
    memory_mib: int,
    ports: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Rebuild the zones that the responses in the captures FILE... show, and who serves them.

    The captures are what a resolver exchanged with name servers, or what an authoritative server exchanged with
    resolvers. Where an RRset had different data, the most frequent is taken, of equally frequent ones the first. SOA
    records, delegations and servers that resolving needs and the captures lack are made up. Zones that were signed are
    signed again when they are served, with other keys: their chains deny what the captures do not have. Making zones of
    what the captures show takes as much memory again.

    \b
    Example:
      tcpdump -i eth0 -s 0 -w upstream.pcap port 53
      dnsrig internet from-capture upstream.pcap -o rebuilt
      dnsrig internet serve --from rebuilt
    """
    made = _make_folder(folder)
    read = CaptureReading(ports, threads).to_json()
    try:
        done = _rebuild(files, folder, memory_mib, read)
        index = done["index"]
        write_object(folder / INDEX, index)
    except BaseException:
        # Zones without an index are of no use, and would be in the way the next time.
        for file in folder.glob("*.zone"):
            file.unlink(missing_ok=True)
        for empty in made:
            with suppress(OSError):
                empty.rmdir()
        raise
    warn_of_files(done["files"])
    if done["fragments_lost"]:
        warn(f"{done['fragments_lost']:,} packets could not be put together of their fragments: they are left out")
    _warn_of_zones(index)
    counts = {name: value for name, value in index.items() if name != "schema"}
    facts = {**counts, "zones": len(index["zones"]), "folder": str(folder)}
    if as_json:
        print_json(facts)
        return
    _tell(index, facts)


def _rebuild(files: tuple[Path, ...], folder: Path, memory_mib: int, read: str) -> dict[str, Any]:
    """Write the zones into a folder; give their index, and what is to be said of the files."""
    try:
        return work(
            "capture",
            files,
            lambda progress: _core.rebuild_internet(
                files, folder, memory_octets=memory_mib * MIB, read=read, on_progress=progress
            ),
        )
    except EnvironmentLacksError as error:
        raise EnvironmentLacksError(f"{error}; make room, or choose another folder with -o") from error


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder, and those above it; give those that were not there, the innermost first."""
    try:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise unwritable(folder, error, "choose another folder with -o") from error
    if not is_empty:
        raise InputError(f"{folder} is not empty; choose another folder with -o")
    return missing


def _warn_of_zones(index: dict[str, Any]) -> None:
    """Say what the zones lack of what the captures have, and which servers resolvers may not ask."""
    if index["cut"]:
        warn(
            f"{index['cut']:,} messages are left out, as only their beginnings were captured: capture whole packets, "
            "such as by tcpdump -s 0"
        )
    if index["unfit"]:
        warn(
            f"{index['unfit']:,} records are left out that cannot stand in a zone: their data do not fit their type, "
            "it is no type of records, or there was another one of a type of which a name has one"
        )
    servers = {server for zone in index["zones"] for server in zone["servers"]}
    local = sorted(server for server in servers if ipaddress.ip_address(server).is_loopback)
    if local:
        warn(
            f"servers are at {', '.join(local)}: resolvers ask these only if told so (Unbound: "
            "do-not-query-localhost: no), and cannot listen there themselves"
        )


def _tell(index: dict[str, Any], facts: dict[str, Any]) -> None:
    zones = index["zones"]
    signed = sum(zone["algorithm"] is not None for zone in zones)
    servers = {server for zone in zones for server in zone["servers"]}
    click.echo(f"{len(zones):,} zones, {signed:,} of them signed, on {len(servers):,} servers: {facts['folder']}")
    left_out = sum(index[field] for field in ("truncated", "of_resolvers", "malformed", "failed", "astray", "cut"))
    click.echo(
        f"  from {index['used']:,} responses; left out: {index['truncated']:,} truncated, {index['of_resolvers']:,} of "
        f"resolvers, {index['malformed']:,} malformed, {index['failed']:,} failures, {index['astray']:,} referrals "
        f"astray, {index['cut']:,} cut ({left_out:,} together)"
    )
    if index["unanswered"]:
        click.echo(
            f"  at least {index['unanswered']:,} of {index['queries']:,} queries have no response (lost, repeated, or "
            "to servers that do not answer): what they alone asked for is in no zone"
        )
    click.echo(
        f"  {index['conflicts']:,} RRsets had different data; made up: {index['soa_made']:,} SOA records, "
        f"{index['ns_made']:,} sets of name servers; {index['without_server']:,} zones are delegated only"
    )
    if index["left_out"]:
        click.echo(f"  {index['left_out']:,} times an RRset had data beside the first 64 different ones: left out")

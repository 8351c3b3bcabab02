"""`dnsrig zone stats`: what is in a zone."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import json_option, print_json, print_table
from dnsrig.cli.format import share
from dnsrig.cli.zone_reading import ZONE_FILE, Reading, reading_options, warn, work

SIZES = {
    "servers_of_delegation": "NS records of a delegation",
    "label_octets": "octets of an owner's first label",
    "owner_octets": "octets of an owner name",
    "depth": "labels below the apex",
    "rrset_records": "records of an RRset",
    "rrset_octets": "octets of data of an RRset",
    "ttl_s": "TTL of an RRset, in seconds",
}
COUNTS = (
    "records",
    "rrsets",
    "names",
    "delegations",
    "signed_delegations",
    "glue_records",
    "name_servers",
    "wildcards",
    "empty_non_terminals",
)


@click.command()
@click.argument("file", type=ZONE_FILE)
@reading_options
@json_option
def stats(file: Path, origin: str | None, memory: int | None, threads: int | None, as_json: bool) -> None:
    """Read the zone FILE and say what is in it.

    Counts of records, RRsets, names, delegations and types; lengths of names and labels, sizes of RRsets, TTLs;
    algorithms of keys, DS records and signatures; parameters of NSEC3. FILE may be in any order, of any size, or -
    for standard input.

    \b
    Example:
      dnsrig zone stats example.db
      dnsrig zone stats ca.zone --json
    """
    reading = Reading(origin, memory, threads)
    found = work("stats", [file], reading, lambda reading: _core.zone_survey(file, reading))
    if as_json:
        print_json({"file": str(file), **found})
        return
    warn(found)
    click.echo(f"zone {found['origin']} with serial {found['serial']}")
    print_table(("what", "count"), [(name.replace("_", " "), f"{found[name]:,}") for name in COUNTS], right=(1,))
    if found["delegations"]:
        click.echo(f"signed delegations: {share(found['signed_delegations'], found['delegations'])}")
    click.echo()
    print_table(("type", "records"), [(name, f"{count:,}") for name, count in found["types"].items()], right=(1,))
    click.echo()
    _print_sizes(found["sizes"])
    rows = list(_dnssec_rows(found))
    if rows:
        click.echo()
        print_table(("DNSSEC", "records"), rows, right=(1,))
    if found["expiration_unix"]:
        first, last = (datetime.fromtimestamp(time, UTC) for time in found["expiration_unix"])
        click.echo(f"signatures expire from {first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S} UTC")


def _print_sizes(sizes: Mapping[str, Any]) -> None:
    columns = ("size", "least", "median", "95 %", "most", "mean")
    rows = [
        (words, *(f"{sizes[name][key]:,}" for key in ("min", "median", "p95", "max")), f"{sizes[name]['mean']:,.2f}")
        for name, words in SIZES.items()
        if sizes[name]["count"]
    ]
    print_table(columns, rows, right=(1, 2, 3, 4, 5))


def _dnssec_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in found["dnskey"]:
        yield f"DNSKEY, flags {key['flags']}, algorithm {key['algorithm']}", f"{key['records']:,}"
    for ds in found["ds"]:
        yield f"DS, algorithm {ds['algorithm']}, digest type {ds['digest_type']}", f"{ds['records']:,}"
    for signature in found["rrsig"]:
        yield f"RRSIG, algorithm {signature['algorithm']}", f"{signature['records']:,}"
    for nsec3 in found["nsec3"]:
        salt = nsec3["salt"] or "none"
        words = f"NSEC3, {nsec3['iterations']} additional iterations, salt {salt}"
        yield words, f"{nsec3['records']:,}"
        if nsec3["opt_out_records"]:
            yield "NSEC3 with opt-out", f"{nsec3['opt_out_records']:,}"

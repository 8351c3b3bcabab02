"""`dnsrig servers` and `dnsrig serve`: which name servers there are, and one of them started by hand."""

import tempfile
import time
from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import EXISTING_FILE, json_option, print_json, print_table
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver, drivers

WATCH_INTERVAL_S = 0.5
"""How often `serve` looks whether its server still runs."""


@click.command()
@json_option
def servers(as_json: bool) -> None:
    """List the servers that the rig can drive: which are found, their version, the package to install."""
    rows = []
    for name, kind in drivers().items():
        installation = kind.find()
        rows.append(
            {
                "server": name,
                "title": kind.title,
                "found": installation is not None,
                "version": installation.version if installation else None,
                "path": str(installation.path) if installation else None,
                "package": kind.package,
            }
        )
    if as_json:
        print_json({"servers": rows})
        return
    print_table(
        ("server", "program", "version", "found at"),
        [
            (
                str(row["server"]),
                str(row["title"]),
                str(row["version"] or "-"),
                str(row["path"]) if row["found"] else f"not found: apt-get install {row['package']}",
            )
            for row in rows
        ],
    )


@click.command()
@click.argument("server")
@click.argument("zonefile", type=EXISTING_FILE)
@click.option("-o", "--origin", default=None, help="Name of the zone's apex, if the file does not say it.")
@click.option("-a", "--address", default="127.0.0.1", show_default=True)
@click.option("-p", "--port", type=click.IntRange(0, 65535), default=0, help="0 picks a free one.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Worker threads of the server.")
@click.option("--answers", type=click.Choice(["server", "full"]), default="server", show_default=True)
def serve(server: str, zonefile: str, origin: str | None, address: str, port: int, threads: int, answers: str) -> None:
    """Start SERVER with ZONEFILE, as the studies do, until Ctrl-C.

    \b
    Example:
      dnsrig serve nsd example.db.signed -p 5300
    """
    zone = _core.Zone.read(zonefile, origin)
    settings = ServerSettings(
        address=address, port=port, threads=threads, answers="full" if answers == "full" else "server"
    )
    with tempfile.TemporaryDirectory(prefix="dnsrig-serve-") as folder:
        subject = driver(server)([ServedZone(zone.origin, Path(zonefile).resolve())], settings, Path(folder))
        with subject:
            host, chosen = subject.address
            click.echo(f"{server} {subject.version} serves {zone.origin} on {host} port {chosen} (Ctrl-C stops it)")
            for remark in subject.remarks():
                click.echo(f"  {remark}")
            try:
                while True:
                    subject.check_running()
                    time.sleep(WATCH_INTERVAL_S)
            except KeyboardInterrupt:
                return

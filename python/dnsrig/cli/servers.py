"""`dnsrig servers` and `dnsrig serve`: which name servers there are, and one of them started by hand."""

import time
from pathlib import Path
from typing import Any, Literal

import click

from dnsrig import _core
from dnsrig.cli.common import EXISTING_FILE, WholeNumber, comma_list, json_option, print_json, print_table
from dnsrig.cli.scratch_room import scratch_folder
from dnsrig.errors import InputError
from dnsrig.servers.base import Installation, ServedZone, Server, ServerSettings
from dnsrig.servers.certificates import CertificateKey, make_certificate
from dnsrig.servers.dnsdist import Dnsdist, find_dnsdist
from dnsrig.servers.driven import DrivenServer
from dnsrig.servers.registry import driver, drivers
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.registry import resolver_drivers
from dnsrig.servers.transports import ENCRYPTED_TRANSPORTS, LABELS, EncryptedTransport, in_order, listed

WATCH_INTERVAL_S = 0.5
"""How often `serve` looks whether its server still runs."""


@click.command()
@json_option
def servers(as_json: bool) -> None:
    """List the servers that the rig can drive: which are found, what they encrypt, how to install the others.

    dnsdist goes in front of another server: `dnsdist+nsd` names dnsdist in front of NSD. Resolvers and proxies have
    their own names: `dnsrig verify` takes them, and the studies of resolvers.
    """
    rows = [_row(name, kind, kind.find()) for name, kind in drivers().items()]
    front = _row(f"{Dnsdist.name}+SERVER", Dnsdist, find_dnsdist())
    resolvers = [_resolver_row(name, kind, kind.find()) for name, kind in resolver_drivers().items()]
    if as_json:
        print_json({"servers": rows, "fronts": [front], "resolvers": resolvers})
        return
    print_table(
        ("server", "role", "program", "version", "encrypted", "found at"),
        [
            (
                str(row["server"]),
                str(row["role"]),
                str(row["title"]),
                str(row["version"] or "-"),
                listed(frozenset(row["encrypted"])) or "-",
                str(row["path"]) if row["found"] else f"not found: {row['install']}",
            )
            for row in (*rows, front, *resolvers)
        ],
    )


def _row(name: str, kind: type[Server], installation: Installation | None) -> dict[str, Any]:
    encrypted = kind.encrypted_transports(installation) if installation else frozenset()
    return _facts(name, "authoritative", kind, installation, encrypted)


def _resolver_row(name: str, kind: type[Resolver], installation: Installation | None) -> dict[str, Any]:
    is_able = installation is not None and kind.role == "resolver"
    lacking = kind.lacking(installation) if installation else {}
    encrypted = frozenset(ENCRYPTED_TRANSPORTS) - lacking.keys() if is_able else frozenset()
    return _facts(name, kind.role, kind, installation, encrypted)


def _facts(
    name: str,
    role: str,
    kind: type[DrivenServer],
    installation: Installation | None,
    encrypted: frozenset[EncryptedTransport],
) -> dict[str, Any]:
    return {
        "server": name,
        "role": role,
        "title": kind.title,
        "found": installation is not None,
        "version": installation.version if installation else None,
        "encrypted": in_order(encrypted),
        "path": str(installation.path) if installation else None,
        "package": kind.package,
        "install": kind.how_to_install(),
    }


@click.command()
@click.argument("server")
@click.argument("zonefile", type=EXISTING_FILE)
@click.option("-o", "--origin", default=None, help="Name of the zone's apex, if the file does not say it.")
@click.option("-a", "--address", default="127.0.0.1", show_default=True)
@click.option("-p", "--port", type=WholeNumber(0, 65535), default=0, help="0 picks a free one.")
@click.option("--threads", type=WholeNumber(1), default=1, show_default=True, help="Worker threads of the server.")
@click.option("--answers", type=click.Choice(["server", "full"]), default="server", show_default=True)
@click.option(
    "--encrypted",
    multiple=True,
    callback=comma_list,
    default=[""],
    help=f"Encrypted transports to serve as well, of {','.join(ENCRYPTED_TRANSPORTS)}, each on a free port.",
)
@click.option(
    "--certificate-key",
    type=click.Choice(["ecdsa-p256", "rsa-2048"]),
    default="ecdsa-p256",
    show_default=True,
    help="Key of the self-signed certificate for them.",
)
def serve(
    server: str,
    zonefile: str,
    origin: str | None,
    address: str,
    port: int,
    threads: int,
    answers: Literal["server", "full"],
    encrypted: tuple[str, ...],
    certificate_key: CertificateKey,
) -> None:
    """Start SERVER with ZONEFILE, as the studies do, until Ctrl-C.

    \b
    Examples:
      dnsrig serve nsd example.db.signed -p 5300
      dnsrig serve dnsdist+nsd example.db.signed --encrypted dot,doh
    """
    zone = _core.Zone.read(zonefile, origin)
    with scratch_folder("serve-") as folder:
        transports = _known(encrypted)
        settings = ServerSettings(
            address=address,
            port=port,
            threads=threads,
            answers=answers,
            encrypted=transports,
            certificate=make_certificate(folder, certificate_key, [address]) if transports else None,
        )
        subject = driver(server)([ServedZone(zone.origin, Path(zonefile).resolve())], settings, folder / "server")
        with subject:
            host, chosen = subject.address
            click.echo(f"{server} {subject.version} serves {zone.origin} on {host} port {chosen} (Ctrl-C stops it)")
            for transport in in_order(transports):
                click.echo(f"  {LABELS[transport]} on port {subject.endpoints()[transport][1]}")
            if settings.certificate:
                click.echo(f"  certificate: {settings.certificate.chain}")
            for remark in subject.remarks():
                click.echo(f"  {remark}")
            try:
                while True:
                    subject.check_running()
                    time.sleep(WATCH_INTERVAL_S)
            except KeyboardInterrupt:
                return


def _known(names: tuple[str, ...]) -> frozenset[EncryptedTransport]:
    unknown = [name for name in names if name not in ENCRYPTED_TRANSPORTS]
    if unknown:
        raise InputError(f"'{unknown[0]}' is not one of {', '.join(ENCRYPTED_TRANSPORTS)}")
    return frozenset(transport for transport in ENCRYPTED_TRANSPORTS if transport in names)

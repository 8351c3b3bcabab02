"""Run the embedded server: `python -m dnsrig.servers.embedded_main FILE [--check] [OPTIONS]`, FILE being JSON.

`--dot-port`, `--doh-port` and `--doq-port` add the encrypted transports (0: a free port), which need `--certificate`
and `--key`, PEM files. It prints "ready PORT" when it answers, followed by " dot=PORT", " doh=PORT" and " doq=PORT" for
those that it serves; it ends at SIGTERM, and reads its zone files again at SIGHUP. A failure is printed as
"error CODE: TEXT", with the exit code of a DnsrigError, and 3 for what the system refused.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from dnsrig import _core
from dnsrig.errors import DnsrigError, EnvironmentLacksError, InputError


@dataclass(frozen=True, slots=True)
class Configuration:
    """What `Embedded.render` writes."""

    zones: list[tuple[str, str]]
    """Name and zone file of each zone."""
    address: str
    port: int
    threads: int
    minimal: bool

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the file.

        Raises:
            InputError: it cannot be read, or something is missing in it.

        """
        try:
            values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                zones=[(zone["origin"], zone["path"]) for zone in values["zones"]],
                address=values["address"],
                port=int(values["port"]),
                threads=int(values["threads"]),
                minimal=bool(values["minimal"]),
            )
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        except KeyError as error:
            raise InputError(f"{path} has no member {error}") from error
        except (ValueError, TypeError) as error:
            raise InputError(f"{path} is no configuration of the embedded server: {error}") from error


@dataclass(frozen=True, slots=True)
class Encryption:
    """What the options say about the encrypted transports; a transport without a port is not served."""

    dot_port: int | None = None
    doh_port: int | None = None
    doq_port: int | None = None
    certificate: Path | None = None
    """PEM file of the certificate chain, the server's own first."""
    key: Path | None = None
    """PEM file of its private key."""


def serve(configuration: Configuration, encryption: Encryption) -> None:
    """Serve until SIGTERM.

    Raises:
        EnvironmentLacksError: the port cannot be had.
        DnsrigError: a zone cannot be read.

    """
    try:
        _core.serve(
            configuration.zones,
            configuration.address,
            configuration.port,
            configuration.threads,
            configuration.minimal,
            announce,
            dot_port=encryption.dot_port,
            doh_port=encryption.doh_port,
            doq_port=encryption.doq_port,
            certificate=encryption.certificate,
            key=encryption.key,
        )
    except OSError as error:
        raise EnvironmentLacksError(
            f"cannot listen on {configuration.address} port {configuration.port}: {error}"
        ) from error


def port(text: str) -> int:
    """Read a port number of the command line."""
    if not text.isascii() or not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"'{text}' is no port; give a number from 0 (a free one) to 65535")
    return int(text)


def announce(ports: dict[str, int]) -> None:
    """Print the ports that are served, that of UDP and TCP first."""
    encrypted = "".join(f" {transport}={ports[transport]}" for transport in ports if transport != "dns")
    print(f"ready {ports['dns']}{encrypted}", flush=True)


def main(arguments: list[str]) -> int:
    """Do what the command line says; give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dnsrig.servers.embedded_main")
    parser.add_argument("configuration", type=Path)
    parser.add_argument("--check", action="store_true", help="read the configuration only")
    for transport in ("dot", "doh", "doq"):
        parser.add_argument(f"--{transport}-port", type=port, metavar="PORT")
    parser.add_argument("--certificate", type=Path, metavar="FILE")
    parser.add_argument("--key", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    encryption = Encryption(options.dot_port, options.doh_port, options.doq_port, options.certificate, options.key)
    try:
        configuration = Configuration.read(options.configuration)
        if not options.check:
            serve(configuration, encryption)
    except DnsrigError as error:
        print(f"error {error.exit_code}: {error}", flush=True)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

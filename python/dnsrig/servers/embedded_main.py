"""Run the embedded server: `python -m dnsrig.servers.embedded_main FILE [--check]`, FILE being JSON.

It prints "ready PORT" when it answers, followed by " dot=PORT", " doh=PORT" and " doq=PORT" for the encrypted
transports that it serves; it ends at SIGTERM, and reads its zone files again at SIGHUP. A failure is printed as
"error CODE: TEXT", with the exit code of a DnsrigError, and 3 for what the system refused.
"""

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
    encrypted: dict[str, int]
    """Port of each encrypted transport to serve."""
    certificate: tuple[str, str] | None
    """PEM files of the certificate chain and the key, for these."""

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
                encrypted={name: int(port) for name, port in values.get("encrypted", {}).items()},
                certificate=(pair["chain"], pair["key"]) if (pair := values.get("certificate")) else None,
            )
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        except KeyError as error:
            raise InputError(f"{path} has no member {error}") from error
        except (ValueError, TypeError) as error:
            raise InputError(f"{path} is no configuration of the embedded server: {error}") from error


def serve(configuration: Configuration) -> None:
    """Serve until SIGTERM.

    Raises:
        EnvironmentLacksError: the port cannot be had.
        DnsrigError: a zone cannot be read.

    """
    chain, key = configuration.certificate or (None, None)
    try:
        _core.serve(
            configuration.zones,
            configuration.address,
            configuration.port,
            configuration.threads,
            configuration.minimal,
            announce,
            **{f"{transport}_port": port for transport, port in configuration.encrypted.items()},
            certificate=chain,
            key=key,
        )
    except OSError as error:
        raise EnvironmentLacksError(
            f"cannot listen on {configuration.address} port {configuration.port}: {error}"
        ) from error


def announce(ports: dict[str, int]) -> None:
    """Print the ports that are served, that of UDP and TCP first."""
    encrypted = "".join(f" {transport}={ports[transport]}" for transport in ports if transport != "dns")
    print(f"ready {ports['dns']}{encrypted}", flush=True)


def main(arguments: list[str]) -> int:
    """Do what the command line says; give the exit code."""
    try:
        configuration = Configuration.read(Path(arguments[0]))
        if "--check" not in arguments:
            serve(configuration)
    except DnsrigError as error:
        print(f"error {error.exit_code}: {error}", flush=True)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

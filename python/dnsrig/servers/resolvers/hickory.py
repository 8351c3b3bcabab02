"""Hickory DNS as a resolver: its program with the recursor for the root."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from dnsrig.errors import InputError
from dnsrig.servers import programs
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.settings import ResolverSettings
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import ENCRYPTED_TRANSPORTS, EncryptedTransport

CONFIGURATION = "hickory.toml"
ANCHORS = "trust-anchors.key"


class HickoryRecursor(Resolver):
    """Hickory DNS (hickory-dns), of 0.26 or later, built with its recursor and with validation."""

    name = "hickory-recursor"
    role: ClassVar[Literal["resolver", "proxy"]] = "resolver"
    title = "Hickory DNS (recursor)"
    package = ""
    build = "cargo install hickory-dns --no-default-features --features recursor,dnssec-aws-lc-rs"
    program = "hickory-dns"
    can_count = False
    reads_ds = False
    files: ClassVar[Mapping[str, str]] = {CONFIGURATION: "hickory.toml.j2"}
    signs = LogSigns(
        port_refused=re.compile(r"failed to bind to (?:UDP|TCP) socket address"),
        zone_refused=re.compile(r"could not load zone|failed to read config file"),
        complaint=re.compile(r"\b(?:ERROR|WARN)\b|^Error: "),
    )

    @classmethod
    def find(cls) -> Installation | None:
        """Find hickory-dns; `hickory-dns --version` says "Hickory DNS named server 0.26.3"."""
        return programs.installation(cls.program, "--version", re.compile(r"Hickory DNS .*?(\d+\.\d\S*)"))

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Say that it is driven without: what it can encrypt hangs on how it was built, which it does not say."""
        return dict.fromkeys(ENCRYPTED_TRANSPORTS, f"{cls.title} is driven without encrypted transports")

    def _refuse_unfit_settings(self) -> None:
        super()._refuse_unfit_settings()
        if unfit := _unfit(self.settings):
            raise InputError(f"{self.title} {unfit}")

    def render(self) -> dict[str, str]:
        """Give the configuration, the root hints, and a file of trust anchors for all zones."""
        keys = "".join(text for text in self._anchor_files().values())
        return super().render() | ({ANCHORS: keys} if keys else {})

    def _values(self) -> dict[str, Any]:
        return super()._values() | {"anchor_file": ANCHORS}

    def _environment(self) -> dict[str, str]:
        """Keep its log plain, and as detailed as it ships, whatever is wanted of dnsrig's own programs."""
        kept = {name: value for name, value in super()._environment().items() if name != "RUST_LOG"}
        return kept | {"NO_COLOR": "1"}

    def _command(self) -> list[str]:
        debug = ["--debug"] if self.settings.verbose else []
        workers = ["--workers", str(self.settings.threads)]
        return [str(self.installation.path), *debug, *workers, "--config", CONFIGURATION]

    def _checker(self) -> list[str]:
        return [self.program, "--validate", "--config", CONFIGURATION]

    def _own_remarks(self) -> list[str]:
        said = [
            f"{self.settings.threads} worker thread(s) (--workers); as shipped, one for each processor",
            "private, loopback and reserved addresses may be asked (deny_server); as shipped, they are not",
            "it stays the user who started it (drop_privileges false); as shipped, root becomes nobody",
            "log to a file by standard output",
        ]
        if self.validates:
            said.append("trust anchors fixed (ValidateWithStaticKey); as shipped, it does not validate")
        else:
            said.append("DNSSEC records are asked for (ValidationDisabled); as shipped, they are not")
        return said


def _unfit(settings: ResolverSettings) -> str | None:
    """Say what of the settings Hickory DNS 0.26 has not, as the rest of a sentence about it."""
    if settings.cache_octets is not None:
        return "counts responses in its cache, not octets: no size of its cache can be set"
    if settings.prefetch:
        return "asks for no record before it expires (prefetch)"
    if settings.serve_stale:
        return "answers no expired records (serve-stale)"
    if settings.udp_limit is not None:
        return "has no setting for the octets that responses by UDP may have"
    if any(anchor.is_ds for anchor in settings.anchors) and settings.validate is not False:
        return "reads trust anchors as DNSKEY records, and no DS records"
    return None

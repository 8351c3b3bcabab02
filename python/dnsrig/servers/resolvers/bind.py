"""BIND 9's named as a resolver."""

import math
import os
import re
import secrets
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from dnsrig.errors import InputError
from dnsrig.servers.bind import Bind
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.base import CONTROL_ADDRESS, Resolver
from dnsrig.servers.resolvers.counts import ResolverCounts, read_bind
from dnsrig.servers.resolvers.settings import ManagedAnchors
from dnsrig.servers.startup import LogSigns
from dnsrig.servers.transports import EncryptedTransport

CONTROL_KEY = "rndc.key"
STATISTICS = "named.stats"
CONTROL_KEY_OCTETS = 32
LONGEST_PROBE_DAYS = 15
"""BIND probes at least every 15 days (RFC 5011 section 2.3), which `mkeytimers` counts in its own days."""


class BindResolver(Resolver):
    """BIND 9 (named), of 9.18 or later."""

    name = "bind"
    role: ClassVar[Literal["resolver", "proxy"]] = "resolver"
    title = Bind.title
    package = "bind9 bind9-utils"
    can_limit_udp = True
    program = Bind.program
    can_manage_anchors = True
    files: ClassVar[Mapping[str, str]] = {"named.conf": "named.conf.j2"}
    signs = LogSigns(
        port_refused=Bind.signs.port_refused,
        zone_refused=re.compile(r"(?!)"),
        complaint=re.compile(r"\.conf:\d+: |in use|failure|failed|fatal|broken trust chain|managed-keys-zone: "),
    )

    @classmethod
    def find(cls) -> Installation | None:
        """Find named, as the driver of it as an authoritative server does."""
        return Bind.find()

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Say what this named was built without."""
        return Bind.lacking(installation)

    def _values(self) -> dict[str, Any]:
        return super()._values() | {"control_key": CONTROL_KEY}

    def _write(self) -> None:
        """Write also the key of the control channel, for its owner only; `render` must not depend on chance."""
        super()._write()
        path = self.folder / CONTROL_KEY
        if self._is_controlled and not path.exists():
            secret = b64encode(secrets.token_bytes(CONTROL_KEY_OCTETS)).decode()
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(f'key "dnsrig" {{ algorithm hmac-sha256; secret "{secret}"; }};\n')

    def _command(self) -> list[str]:
        argv = [str(self.installation.path), "-g", "-n", str(self.settings.threads), "-c", "named.conf"]
        if self.settings.verbose:
            argv += ["-d", "3"]
        if managed := self._managed:
            argv += ["-T", f"mkeytimers={managed.probe_s}/{_day_s(managed)}/{managed.hold_down_s}"]
        return argv

    def _checker(self) -> list[str]:
        return ["named-checkconf", "named.conf"]

    def managed_keys(self) -> str:
        """Give what `rndc managed-keys status` says.

        Raises:
            InputError: the trust anchors are not managed.
            SubjectFailedError: named does not say it.

        """
        return self._control("status")

    def refresh_managed_keys(self) -> None:
        """Have named probe for keys now; what it raises is that of `managed_keys`."""
        self._control("refresh")

    def _control(self, command: str) -> str:
        if self._managed is None:
            raise InputError(f"{self.title} does not keep its trust anchors up to date (RFC 5011)")
        return self._rndc("managed-keys", command)

    def _rndc(self, *command: str) -> str:
        where = ["-s", CONTROL_ADDRESS, "-p", str(self._control_port), "-k", CONTROL_KEY]
        return self._ask_control(["rndc", *where, *command])

    @property
    def _is_controlled(self) -> bool:
        return self._managed is not None or self.settings.statistics

    def _read_counts(self) -> ResolverCounts:
        path = self.folder / STATISTICS
        path.unlink(missing_ok=True)
        self._rndc("stats")
        return read_bind(path.read_text(encoding="utf-8"))

    def _flush_cache(self) -> None:
        self._rndc("flush")

    def _own_remarks(self) -> list[str]:
        managed = self._managed
        said = [
            f"{self.settings.threads} worker thread(s) (-n); as shipped, one for each CPU",
            "any client may ask (allow-recursion any); as shipped, networks of this machine alone",
            "NOTIFY, statistics"
            + ("" if self._is_controlled else " and control channel")
            + " off; log to a file by standard error (-g)",
        ]
        if queries := self.settings.upstream_queries:
            said.append(f"at most {queries:,} upstream queries for one of a client's (max-recursion-queries)")
        if managed:
            said.append(
                f"RFC 5011 with a hold-down time of {managed.hold_down_s} s (-T mkeytimers; as shipped 30 days); it "
                "probes after half the DNSKEY RRset's TTL, or half the time until its signature expires, and within "
                f"{managed.probe_s} and {LONGEST_PROBE_DAYS * _day_s(managed)} s"
            )
        elif self.validates:
            said.append("trust anchors fixed (static-ds, static-key); as shipped RFC 5011 (dnssec-validation auto)")
        return said


def _day_s(managed: ManagedAnchors) -> int:
    """Give BIND's day, in seconds: the shortest with which it may wait for the whole probing interval."""
    return math.ceil(managed.probe_s / LONGEST_PROBE_DAYS)

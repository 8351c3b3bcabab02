"""What the drivers of resolvers and proxies share, from configuration to readiness."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.hosts.host import Host
from dnsrig.hosts.local import LocalProcess
from dnsrig.servers import ports, programs, rendering
from dnsrig.servers.driven import BASE_DEADLINE_S, PORT_ATTEMPTS, DrivenServer
from dnsrig.servers.ports import PortState
from dnsrig.servers.programs import Installation
from dnsrig.servers.resolvers.anchors import Anchor, by_zone
from dnsrig.servers.resolvers.counts import ResolverCounts
from dnsrig.servers.resolvers.settings import ManagedAnchors, ResolverSettings
from dnsrig.servers.startup import ASK_RESOLVER, PortRefusedError, Watch, port_reason, retry_port
from dnsrig.servers.transports import DOH_PATH, ENCRYPTED_TRANSPORTS, LABELS, EncryptedTransport, listed

HINTS = "root.hints"
ROOT = "."
CONTROL_ADDRESS = "127.0.0.1"
"""Where resolvers take commands; a socket in their folder would need a path of at most 107 octets."""


class Resolver(DrivenServer):
    """A driver of one kind of resolver or proxy.

    `start` returns when it answers on all its addresses, by UDP and TCP. When it is stopped and started again, what it
    knows of managed trust anchors (RFC 5011) stays, and its cache is empty.
    """

    role: ClassVar[Literal["resolver", "proxy"]]
    """A resolver asks the tree's servers itself; a proxy forwards each query."""
    can_validate: ClassVar[bool] = True
    can_limit_udp: ClassVar[bool] = False
    """Whether `udp_limit` of its settings can be set."""
    can_manage_anchors: ClassVar[bool] = False
    """Whether it keeps trust anchors up to date (RFC 5011)."""
    can_count: ClassVar[bool] = True
    """Whether a resolver can be asked what it counts (`statistics` of its settings)."""
    reads_ds: ClassVar[bool] = True
    """Whether its trust anchors may be DS records; otherwise they are DNSKEY records."""

    def __init__(self, settings: ResolverSettings, folder: Path, host: Host | None = None) -> None:
        """Make the driver; nothing is written or started yet.

        Args:
            settings: how it runs.
            folder: where everything of it goes.
            host: where it runs; None is this machine.

        Raises:
            InputError: the settings are not for this server, or lack something.

        """
        super().__init__(folder, host)
        self.settings = settings
        self._port = settings.port
        self._control_port = 0
        self._refuse_unfit_settings()

    def _refuse_unfit_settings(self) -> None:
        settings = self.settings
        if self.role == "resolver":
            if not settings.root_hints:
                raise InputError(f"{self.title} needs root hints: the names and addresses of the tree's root servers")
            if settings.forwarders:
                raise InputError(f"{self.title} is driven as a resolver, which has no forwarders")
        elif not settings.forwarders:
            raise InputError(f"{self.title} is driven as a proxy: it needs an address to forward to")
        elif settings.cache_octets is not None or settings.prefetch is not None or settings.statistics:
            raise InputError(f"{self.title} is driven as a proxy: size of cache, prefetch, statistics are of resolvers")
        elif settings.encrypted_ports:
            raise InputError(f"{self.title} is driven as a proxy: encrypted transports are of resolvers")
        if settings.statistics and not self.can_count:
            raise InputError(f"{self.title} has no statistics that dnsrig can ask for")
        if self.validates and not self.can_validate:
            raise InputError(f"{self.title} does not validate")
        if self.validates and not settings.anchors:
            raise InputError(f"{self.title} needs trust anchors to validate")
        if settings.managed and not self.can_manage_anchors:
            raise InputError(f"{self.title} cannot keep trust anchors up to date (RFC 5011)")
        if settings.managed and not self.validates:
            raise InputError("trust anchors are kept up to date (RFC 5011) by a server that validates")

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """Map each encrypted transport that this installation cannot serve to the reason, a clause of a sentence."""
        return dict.fromkeys(ENCRYPTED_TRANSPORTS, f"{cls.title} {installation.version} has no encrypted transport")

    @property
    def validates(self) -> bool:
        """Whether it validates, with these settings."""
        if self.settings.validate is None:
            return self.role == "resolver" and bool(self.settings.anchors)
        return self.settings.validate

    @property
    def address(self) -> tuple[str, int]:
        """Its first address, and its port, which is known once it has been started or checked."""
        return self.settings.addresses[0], self._port

    def managed_keys(self) -> str:
        """Give what it has noted of the states of managed keys (RFC 5011 section 4), as it writes them itself.

        Raises:
            InputError: it does not manage its trust anchors.

        """
        if self._managed is None:
            raise InputError(f"{self.title} does not keep its trust anchors up to date (RFC 5011)")
        return "".join(
            path.read_text(encoding="utf-8", errors="replace")
            for name in self._anchor_files()
            if (path := self.folder / name).exists()
        )

    def counts(self) -> ResolverCounts:
        """Ask the running resolver what it has counted since its start.

        Raises:
            InputError: its settings do not have `statistics`.
            SubjectFailedError: it does not say.

        """
        if not self.settings.statistics:
            raise InputError(f"{self.title} was not told to keep statistics that can be asked for")
        return self._read_counts()

    def counts_in_load(self) -> ResolverCounts:
        """Ask for the counts while it is measured: without what takes it long to say; raises as `counts` does."""
        return self.counts()

    def flush_cache(self) -> None:
        """Have the running resolver empty its caches by its own command, as an operator does; other state of it stays.

        Raises:
            InputError: its settings do not have `statistics`, which come by the same channel.
            SubjectFailedError: it does not do that.

        """
        if not self.settings.statistics:
            raise InputError(f"{self.title} was not told to take commands")
        self._flush_cache()

    def _flush_cache(self) -> None:
        raise InputError(f"{self.title} has no command by which dnsrig can empty its cache")

    @property
    def _is_controlled(self) -> bool:
        """Whether it takes commands at `CONTROL_ADDRESS`, if it is of a kind that can."""
        return self.settings.statistics

    def _read_counts(self) -> ResolverCounts:
        raise InputError(f"{self.title} has no statistics that dnsrig can read")

    @property
    def _managed(self) -> ManagedAnchors | None:
        return self.settings.managed if self.validates else None

    @property
    def _anchors(self) -> tuple[Anchor, ...]:
        return self.settings.anchors if self.validates else ()

    def _anchor_files(self) -> dict[str, str]:
        """Give the text of a file of trust anchors for each zone that has some, for servers that read files."""
        return {
            f"anchors-{number}.keys": "".join(f"{anchor.record}\n" for anchor in anchors)
            for number, anchors in enumerate(by_zone(self._anchors).values())
        }

    def _kept_files(self) -> frozenset[str]:
        """Name the files that the server goes on with when it starts again, and that are not written anew."""
        return frozenset()

    def render(self) -> dict[str, str]:
        """Give the text of each configuration file by its name; depends on nothing but this object."""
        values = self._values()
        files = {name: rendering.render(f"resolvers/{template}", values) for name, template in self.files.items()}
        if self.role == "resolver":
            files[HINTS] = self.settings.root_hints.rstrip("\n") + "\n"
        return files

    def _values(self) -> dict[str, Any]:
        settings = self.settings
        return {
            "addresses": settings.addresses,
            "ipv4_addresses": [address for address in settings.addresses if ":" not in address],
            "ipv6_addresses": [address for address in settings.addresses if ":" in address],
            "port": self._port,
            "role": self.role,
            "hints": HINTS,
            "forwarders": settings.forwarders,
            "validates": self.validates,
            "anchors": self._anchors,
            "anchor_files": list(self._anchor_files()),
            "anchored_zones": list(by_zone(self._anchors)),
            "managed": self._managed,
            "unhidden": settings.unhidden,
            "asks_ipv6": settings.asks_ipv6,
            "cache": settings.cache,
            "cache_octets": settings.cache_octets,
            "prefetch": settings.prefetch,
            "serve_stale": settings.serve_stale,
            "encrypted": settings.encrypted_ports,
            "certificate": settings.certificate,
            "doh_path": DOH_PATH,
            "tcp_clients": settings.tcp_clients,
            "upstream_queries": settings.upstream_queries,
            "statistics": settings.statistics,
            "control_address": CONTROL_ADDRESS,
            "control_port": self._control_port,
            "verbose": settings.verbose,
            "threads": settings.threads,
            "udp_limit": settings.udp_limit,
        }

    def check(self) -> None:
        """Write the configuration into the folder and have the server's own checker, if it has one, judge it.

        Raises:
            InputError: it cannot serve an encrypted transport that is wanted.
            SubjectFailedError: the checker found fault; the message holds what it said.
            EnvironmentLacksError: the checker or the server is not installed.

        """
        self._refuse_lacking()
        self._choose_ports()
        self._write()
        self._run_checker()

    def _refuse_lacking(self) -> None:
        lacking = self.lacking(self.installation) if self.settings.encrypted_ports else {}
        for transport in self.settings.encrypted_ports:
            if transport in lacking:
                raise InputError(f"{LABELS[transport]}: {lacking[transport]}")

    def _choose_ports(self) -> None:
        if self._port == 0:
            self._port = self.host.call(lambda: ports.find_free_port(self.settings.addresses[0]))
        if self._is_controlled:
            self._control_port = self.host.call(lambda: ports.find_free_port(CONTROL_ADDRESS))

    def start(self) -> None:
        """Start the server and return when it answers on each address.

        Raises:
            EnvironmentLacksError: the server is not installed, or a port cannot be had.
            SubjectFailedError: the server ended or did not answer in time. The message holds its own lines and its
                command.

        """
        if self._process is not None:
            raise RuntimeError(f"{self.title} is already running in {self.folder}")
        retry_port(PORT_ATTEMPTS if self.settings.port == 0 else 1, self._start_once)

    def _start_once(self) -> None:
        self._port = self.settings.port
        self.check()
        state = self.host.call(self._port_state)
        self._prepare()
        self._launch(state, self.settings.cpus, self._environment(), self.settings.memory_octets)

    def _port_state(self) -> PortState:
        """Say in which state the first address is whose port is not free; FREE if there is none."""
        for address in self.settings.addresses:
            state = ports.port_state(address, self._port)
            if state is PortState.SHARED or (state is not PortState.FREE and address != self.settings.addresses[0]):
                raise PortRefusedError(f"{self._versioned_title()}: {port_reason(address, self._port, state)}")
            if state is not PortState.FREE:
                return state
        return PortState.FREE

    def _environment(self) -> dict[str, str]:
        return programs.clean_environment()

    def _write(self) -> None:
        kept = {name for name in self._kept_files() if (self.folder / name).exists()}
        self._write_files({name: text for name, text in self.render().items() if name not in kept})

    def _watch(self, process: LocalProcess, log_start: int) -> Watch:
        endpoints = dict.fromkeys(ASK_RESOLVER, self.address)
        return Watch(process, self._versioned_title(), endpoints, self.signs, log_start, ASK_RESOLVER)

    @property
    def _deadline_s(self) -> float:
        return BASE_DEADLINE_S if self.settings.deadline_s is None else self.settings.deadline_s

    def _await_serving(self, watch: Watch) -> None:
        resolves = self.settings.ready == "resolves" or (self.settings.ready is None and self.role == "resolver")
        try:
            for address in self.settings.addresses:
                replace(watch, endpoints=dict.fromkeys(ASK_RESOLVER, (address, self._port))).wait_serving(
                    [ROOT],
                    lambda _, answer: answer.serial is not None if resolves else answer.responded,
                    deadline_s=self._deadline_s,
                )
        except SubjectFailedError as error:
            if not (resolves and self.validates and "SERVFAIL" in str(error)):
                raise
            raise SubjectFailedError(
                f"{error}\nIt validates, and says SERVFAIL for the root itself: it refuses the trust anchor, or what "
                "the anchor is to vouch for"
            ) from error

    def _ask_control(self, argv: list[str]) -> str:
        """Run one of the server's helpers on the host; give what it said."""
        status, said = self._helper(argv)
        if status != 0:
            raise SubjectFailedError(f"{self._versioned_title()}: {' '.join(argv)} failed; it said: {said.strip()}")
        return said

    def remarks(self) -> list[str]:
        """List, a sentence each, what is set apart from how the distribution ships the server."""
        settings = self.settings
        said = self._own_remarks()
        if self.role == "resolver":
            said.append("the tree's root servers alone as root hints" + ("" if settings.asks_ipv6 else "; IPv4 only"))
        else:
            to = ", ".join(f"{forwarder.address} port {forwarder.port}" for forwarder in settings.forwarders)
            said.append(f"a proxy: every query goes to {to}")
        if self.validates:
            said.append(f"validates from {len(settings.anchors)} trust anchor(s) of the tree, no other")
        elif self.can_validate:
            said.append("does not validate")
        if settings.cache_octets is not None:
            said.append(f"a cache of {settings.cache_octets / 2**20:g} MiB")
        if settings.memory_octets is not None:
            said.append(f"at most {settings.memory_octets / 2**20:g} MiB of memory of its own (RLIMIT_DATA)")
        if settings.prefetch is not None:
            said.append(f"prefetch {'on' if settings.prefetch else 'off'}")
        if settings.serve_stale is not None:
            said.append(f"serve-stale {'on' if settings.serve_stale else 'off'}")
        if settings.encrypted_ports:
            said.append(
                f"{listed(frozenset(settings.encrypted_ports))} beside UDP and TCP, with a certificate of its own"
            )
        if settings.tcp_clients is not None:
            said.append(f"{settings.tcp_clients:,} connections of clients at a time, where there is a limit to set")
        if settings.statistics:
            said.append("statistics can be asked for by its control channel")
        if settings.unhidden:
            said.append(f"its built-in zones do not hide {', '.join(settings.unhidden)}")
        return said

    @abstractmethod
    def _own_remarks(self) -> list[str]:
        """List what is set apart in this kind of server."""

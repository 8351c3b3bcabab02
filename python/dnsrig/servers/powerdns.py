"""PowerDNS Authoritative Server with the bind backend and zones that are signed already."""

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from typing import Any, ClassVar

from dnsrig.errors import EnvironmentLacksError, SubjectFailedError
from dnsrig.servers import programs
from dnsrig.servers.base import Installation, Server
from dnsrig.servers.presigned import signing_of
from dnsrig.servers.readiness import serial_in_file
from dnsrig.servers.settings import ServedZone
from dnsrig.servers.startup import LogSigns, Watch, command_failure
from dnsrig.servers.transfer import transfer_completes
from dnsrig.servers.transports import ENCRYPTED_TRANSPORTS, EncryptedTransport

TRANSFER_TIMEOUT_S = 30.0
CHECK_ZONE_S = 10.0
"""How long pdnsutil may look for the fault in a zone; its time grows with the square of the delegations."""
METADATA_DATABASE = "dnssec.sqlite3"
LARGEST_ITERATIONS = 65535
"""The iterations field of NSEC3 has 16 bits (RFC 5155 section 3.1.3)."""
ZONE_FAULT = re.compile(r"had a problem|Error was: |No SOA record|not loaded")
"""Lines of `pdnsutil check-zone` about faults for which the server would answer SERVFAIL or not at all.

Its other complaints do not matter here: it wants the backend's flags of a zone it signs itself.
"""


class PowerDns(Server):
    """PowerDNS Authoritative Server (pdns_server), of 4.7 or later."""

    name = "powerdns"
    title = "PowerDNS (pdns_server)"
    package = "pdns-server pdns-backend-bind"
    program = "pdns_server"
    files: ClassVar[Mapping[str, str]] = {"pdns.conf": "pdns.conf.j2", "zones.conf": "pdns-zones.conf.j2"}
    signs = LogSigns(
        port_refused=re.compile(r"Unable to (?:bind|listen)"),
        zone_refused=re.compile(
            r"\[bindbackend\] error at .* parsing|is above 'max-nsec3-iterations'"
            r"|Fatal error: (?!Unable to bind)"
        ),
        complaint=re.compile(r"[Ee]rror|Unable|above 'max-nsec3-iterations'"),
    )
    logs_queries = True
    can_limit_udp = True
    transfers_by_key = True
    iteration_limit = (
        "PowerDNS 4.7 takes at most 100 iterations (max-nsec3-iterations) and answers with wrong proofs for "
        "a presigned zone with more, which counts as a failed start; the limit is raised unless raise_limits "
        "is off"
    )

    @classmethod
    def find(cls) -> Installation | None:
        """Find pdns_server with its bind backend; it says "PowerDNS Authoritative Server 4.7.3 (C) ..."."""
        found = programs.installation(cls.program, "--version", re.compile(r"PowerDNS Authoritative Server (\S+)"))
        if found is None or programs.find_program("pdnsutil") is None:
            return None
        status, _ = programs.run_helper([str(found.path), "--no-config", "--launch=bind", "--help"])
        return found if status == 0 else None

    @classmethod
    def lacking(cls, installation: Installation) -> Mapping[EncryptedTransport, str]:
        """PowerDNS leaves encryption to dnsdist."""
        reason = "it has no encrypted transport; dnsdist+powerdns puts dnsdist in front of it"
        return dict.fromkeys(ENCRYPTED_TRANSPORTS, reason)

    def _values(self) -> dict[str, Any]:
        return super()._values() | {"max_nsec3_iterations": LARGEST_ITERATIONS}

    def _command(self) -> list[str]:
        return [str(self.installation.path), "--config-dir=."]

    def _checker(self) -> list[str]:
        return ["pdns_server", "--config-dir=.", "--config=check"]

    def _prepare(self) -> None:
        """Tell PowerDNS which zones are signed.

        The bind backend keeps what a zone file does not say in a database: PRESIGNED makes it serve the
        file's signatures, and NSEC3PARAM makes it order the names by hash, without which it would answer
        with NSEC. The rows are those of `pdnsutil set-presigned`, `set-nsec3`, `import-tsig-key` and
        `activate-tsig-key`, which would read all zones again for each change.
        """
        database = self.folder / METADATA_DATABASE
        for leftover in (database, *self.folder.glob(f"{METADATA_DATABASE}-*")):
            leftover.unlink(missing_ok=True)
        self._pdnsutil("create-bind-db", METADATA_DATABASE)
        self._write_metadata()
        for zone in self.zones:
            self._check_soa(zone)

    def _write_metadata(self) -> None:
        rows, key = [], self.settings.transfer_key
        keys = [] if key is None else [(key.name, key.algorithm, key.secret_text)]
        for zone in self.zones:
            domain = zone.origin.rstrip(".") or "."
            signing = signing_of(zone.path)
            if signing.signed:
                rows.append((domain, "PRESIGNED", "1"))
            if nsec3 := signing.nsec3:
                content = f"1 {int(nsec3.opt_out)} {nsec3.iterations} {nsec3.salt}"
                rows.append((domain, "NSEC3PARAM", content))
            if key is not None:
                rows.append((domain, "TSIG-ALLOW-AXFR", key.name))
        try:
            with closing(sqlite3.connect(self.folder / METADATA_DATABASE)) as database, database:
                database.execute("DELETE FROM domainmetadata")
                database.executemany("INSERT INTO domainmetadata (domain, kind, content) VALUES (?, ?, ?)", rows)
                database.execute("DELETE FROM tsigkeys")
                database.executemany("INSERT INTO tsigkeys (name, algorithm, secret) VALUES (?, ?, ?)", keys)
        except sqlite3.Error as error:
            raise EnvironmentLacksError(f"{self.folder / METADATA_DATABASE} cannot be written: {error}") from error

    def _examine(self, watch: Watch) -> None:
        """Have the server parse every record: it does so only when a record is asked for."""
        for zone in self.zones:
            if not transfer_completes(*self.address, zone.origin, TRANSFER_TIMEOUT_S):
                raise SubjectFailedError(
                    watch.failure(
                        f"it cannot read every record of {zone.origin} in {zone.path}"
                        + _listed("its checker said:", self._faults(zone))
                    )
                )

    def _check_soa(self, zone: ServedZone) -> None:
        """Refuse a zone without SOA record, which the server would load without a word and not serve."""
        if serial_in_file(zone.path, zone.origin) is None and (faults := self._faults(zone)):
            raise SubjectFailedError(
                f"{self._versioned_title()}: it cannot serve {zone.origin} from {zone.path}"
                + _listed("the server said:", faults)
            )

    def _faults(self, zone: ServedZone) -> list[str]:
        """Ask pdnsutil what is wrong with a zone; empty if it takes too long, as with many delegations."""
        try:
            _, said = self._helper(["pdnsutil", "--config-dir=.", "check-zone", zone.origin], CHECK_ZONE_S)
        except SubjectFailedError:
            return []
        return [line for line in said.splitlines() if ZONE_FAULT.search(line)]

    def _pdnsutil(self, *arguments: str) -> None:
        argv = ["pdnsutil", "--config-dir=.", *arguments]
        status, said = self._helper(argv)
        if status != 0:
            raise command_failure(self._versioned_title(), argv, said)

    def _request_reload(self) -> None:
        """Reload each zone over the control socket: pdns_server has no signal for it (pdns_control(1))."""
        self._running()
        self._write_metadata()
        for zone in self.zones:
            self._check_soa(zone)
        for command in (["purge"], *(["bind-reload-now", zone.origin] for zone in self.zones), ["purge"]):
            argv = ["pdns_control", "--config-dir=.", *command]
            status, said = self._helper(argv)
            if status != 0:
                raise command_failure(self._versioned_title(), argv, said)

    def remarks(self) -> list[str]:
        """List what is set apart from how Debian ships PowerDNS."""
        settings = self.settings
        said = [
            "no response rate limiting (PowerDNS has none built in)",
            f"{settings.threads} receiver thread(s), each asking the backend itself (distributor-threads 1); "
            "as shipped 1 receiver and 3 distributors",
            f"room for {settings.tcp_clients} TCP clients (max-tcp-connections); as shipped 20",
            "bind backend, zones presigned: signatures come from the zone file, none is made",
            "security polling off; control socket in the run's folder; log to a file by standard error",
            f"query logging {'on' if settings.log_queries else 'off'}",
        ]
        if settings.answer_cache == "off":
            said.append("packet cache and query caches off (cache-ttl 0, query-cache-ttl 0, negquery-cache-ttl 0)")
        else:
            said.append(
                "packet cache on for 20 s, as shipped: repeated questions (existence) are answered from it, "
                "unique ones (denial) are not"
            )
        if settings.raise_limits:
            said.append(f"max-nsec3-iterations raised to {LARGEST_ITERATIONS}; as shipped 100")
        if settings.threads > 1:
            said.append("a socket for each receiver thread (reuseport yes); as shipped all share one")
        if settings.udp_limit is not None:
            said.append(f"responses of up to {settings.udp_limit} octets by UDP (udp-truncation-threshold)")
        if settings.answers == "full":
            said.append("full answers: not available, PowerDNS has no setting for them; only ANY over UDP is answered")
        return [*said, *self._transfer_remarks()]


def _listed(heading: str, lines: list[str]) -> str:
    return "".join(f"\n{text}" for text in (heading, *(f"  {line}" for line in lines[:8]))) if lines else ""

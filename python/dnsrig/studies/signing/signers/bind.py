"""BIND's dnssec-signzone."""

from collections.abc import Sequence
from typing import ClassVar

from dnsrig.studies.signing.signers.base import Signer, Task, date


class Bind(Signer):
    """`dnssec-signzone`."""

    name: ClassVar[str] = "bind"
    title: ClassVar[str] = "dnssec-signzone (BIND 9)"
    program: ClassVar[str] = "dnssec-signzone"
    package: ClassVar[str | None] = "bind9-utils"
    resigns: ClassVar[bool] = True
    has_threads: ClassVar[bool] = True
    remarks: ClassVar[tuple[str, ...]] = (
        "with -P: without the verification after signing, which doubles its time",
        "with -S, so that it adds the keys to the zone",
    )

    @classmethod
    def version_options(cls) -> Sequence[str]:
        """Give the options that make the program say its version."""
        return ("-V",)

    def command(self, task: Task) -> list[str]:
        """Give the command line that signs."""
        command = [self.program, "-P", "-q", "-S", "-K", str(task.keys.folder), "-d", str(task.folder)]
        command += ["-o", task.origin, "-f", str(task.output), "-n", str(task.threads)]
        command += ["-s", date(task.inception), "-e", date(task.expiration)]
        if task.chain != "nsec":
            command += ["-3", "-", "-H", "0"]
        if task.chain == "opt-out":
            command.append("-A")
        if task.refresh_s is not None:
            command += ["-i", str(task.refresh_s)]
        return [*command, str(task.zone)]

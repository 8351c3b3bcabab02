"""ldns-signzone."""

from collections.abc import Sequence
from typing import ClassVar

from dnsrig.studies.signing.signers.base import Signer, Task, date


class Ldns(Signer):
    """`ldns-signzone`."""

    name: ClassVar[str] = "ldns"
    title: ClassVar[str] = "ldns-signzone"
    program: ClassVar[str] = "ldns-signzone"
    package: ClassVar[str | None] = "ldnsutils"
    remarks: ClassVar[tuple[str, ...]] = (
        "has one thread",
        "its -p sets the opt-out flag only: insecure delegations are in the chain all the same",
    )

    @classmethod
    def version_options(cls) -> Sequence[str]:
        """Give the options that make the program say its version."""
        return ("-v",)

    def command(self, task: Task) -> list[str]:
        """Give the command line that signs."""
        command = [self.program, "-o", task.origin, "-f", str(task.output)]
        command += ["-i", date(task.inception), "-e", date(task.expiration)]
        if task.chain != "nsec":
            command += ["-n", "-t", "0"]
        if task.chain == "opt-out":
            command.append("-p")
        return [*command, str(task.zone), *task.keys.files("")]

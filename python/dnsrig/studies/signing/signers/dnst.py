"""NLnet Labs' dnst."""

from collections.abc import Sequence
from typing import ClassVar

from dnsrig.studies.signing.signers.base import Signer, Task, date


class Dnst(Signer):
    """`dnst signzone`."""

    name: ClassVar[str] = "dnst"
    title: ClassVar[str] = "dnst signzone"
    program: ClassVar[str] = "dnst"
    package: ClassVar[str | None] = None
    remarks: ClassVar[tuple[str, ...]] = ("has no option for its number of threads",)

    @classmethod
    def version_options(cls) -> Sequence[str]:
        """Give the options that make the program say its version."""
        return ("--version",)

    def command(self, task: Task) -> list[str]:
        """Give the command line that signs."""
        command = [self.program, "signzone", "-o", task.origin, "-f", str(task.output)]
        command += ["-i", date(task.inception), "-e", date(task.expiration)]
        if task.chain != "nsec":
            command.append("-n")
        if task.chain == "opt-out":
            command.append("-A")
        return [*command, str(task.zone), *task.keys.files("")]

"""dnsrig's own signer."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from dnsrig import __version__
from dnsrig.studies.signing.child import DNSRIG
from dnsrig.studies.signing.signers.base import Signer, Task, date

CHAIN_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "nsec": (),
    "nsec3": ("-3", "-"),
    "opt-out": ("-3", "-", "-A"),
    "given": ("--given-chain",),
}


class Dnsrig(Signer):
    """`dnsrig sign`."""

    name: ClassVar[str] = "dnsrig"
    title: ClassVar[str] = "dnsrig sign"
    program: ClassVar[str] = DNSRIG[0]
    package: ClassVar[str | None] = None
    resigns: ClassVar[bool] = True
    has_state: ClassVar[bool] = True
    has_threads: ClassVar[bool] = True
    remarks: ClassVar[tuple[str, ...]] = (
        "its time includes starting Python",
        "each signing also writes the state file by which signatures are known later",
    )

    @classmethod
    def version(cls) -> str:
        """Give dnsrig's version."""
        return __version__

    @classmethod
    def version_options(cls) -> Sequence[str]:
        """Give the options that make the program say its version."""
        return ("-m", "dnsrig", "--version")

    def command(self, task: Task) -> list[str]:
        """Give the command line that signs."""
        command = [*DNSRIG, "sign", "-o", task.origin, "-f", str(task.output), "-n", str(task.threads)]
        command += ["-s", date(task.inception), "-e", date(task.expiration)]
        command += CHAIN_OPTIONS[task.chain]
        if task.refresh_s is not None:
            command += ["-i", str(task.refresh_s)]
        if task.verifies_kept:
            command.append("--verify-kept")
        return [*command, str(task.zone), *task.keys.files(".private")]

    def chain_command(self, task: Task) -> list[str]:
        """Give the command line that puts in keys and chain and does not sign."""
        return [*self.command(task), "--chain-only"]

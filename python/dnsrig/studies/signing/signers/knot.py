"""Knot DNS's kzonesign."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from dnsrig.dates import DAY_S
from dnsrig.studies.signing.child import run_to_end
from dnsrig.studies.signing.signers.base import Signer, Task

SMALLEST_REFRESH_S = DAY_S


class Knot(Signer):
    """`kzonesign`, with a key store of its own for each signing."""

    name: ClassVar[str] = "knot"
    title: ClassVar[str] = "kzonesign (Knot DNS)"
    program: ClassVar[str] = "kzonesign"
    package: ClassVar[str | None] = "knot-dnssecutils"
    resigns: ClassVar[bool] = True
    has_threads: ClassVar[bool] = True
    remarks: ClassVar[tuple[str, ...]] = ("importing the keys into its key store is not measured",)

    @classmethod
    def version_options(cls) -> Sequence[str]:
        """Give the options that make the program say its version."""
        return ("-V",)

    def prepare(self, task: Task) -> None:
        """Write its configuration and import the keys."""
        store = task.folder / "kasp"
        store.mkdir()
        (task.folder / "signed").mkdir()
        configuration = task.folder / "knot.conf"
        configuration.write_text(knot_configuration(task, store), encoding="utf-8")
        for key in task.keys.files(".private"):
            run_to_end(["keymgr", "-c", str(configuration), task.origin, "import-bind", key], task.folder)

    def command(self, task: Task) -> list[str]:
        """Give the command line that signs."""
        configuration = task.folder / "knot.conf"
        return [self.program, "-c", str(configuration), "-o", str(task.folder / "signed"), task.origin]

    def finish(self, task: Task) -> None:
        """Move the signed zone, which is named after the input."""
        (task.folder / "signed" / task.zone.name).replace(task.output)


def knot_configuration(task: Task, store: Path) -> str:
    """Give the configuration of a task, with keys managed by hand and signatures of the task's length."""
    refresh_s = SMALLEST_REFRESH_S if task.refresh_s is None else task.refresh_s
    nsec3 = "on" if task.chain != "nsec" else "off"
    opt_out = "on" if task.chain == "opt-out" else "off"
    return f"""\
server:
  rundir: "{task.folder}"
database:
  storage: "{store}"
policy:
  - id: study
    manual: on
    rrsig-lifetime: {task.expiration - task.inception}
    rrsig-refresh: {refresh_s}
    rrsig-pre-refresh: 0
    propagation-delay: 0
    zone-max-ttl: 3600
    signing-threads: {task.threads}
    cds-cdnskey-publish: none
    nsec3: {nsec3}
    nsec3-iterations: 0
    nsec3-salt-length: 0
    nsec3-opt-out: {opt_out}
zone:
  - domain: {task.origin}
    file: "{task.zone}"
    adjust-threads: {task.threads}
    zonefile-load: whole
    dnssec-signing: on
    dnssec-policy: study
"""

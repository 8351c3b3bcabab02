"""What a fault of data is: a zone that a server that is right serves as it stands."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dns.rdtypes.ANY.DS import DS

from dnsrig.verification.zones.editing import ZoneEditor
from dnsrig.verification.zones.making import VARIANTS, RigZone, Variant, make_files, read_zone, with_ds
from dnsrig.verification.zones.source import zone_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneFault:
    """What is wrong with a zone, or with what its parent zone says of it."""

    name: str
    """Such as `expired`; no fault of a server (`Fault`) has the same."""
    does: str
    """What it does, in words that go on after "The zone"."""
    variant: Variant = field(default_factory=lambda: VARIANTS["nsec"])
    adds: str = ""
    """Lines that the zone file has besides, before it is signed; names are relative to the apex."""
    turns: tuple[str, str] = ("", "")
    """What stands in the zone file of the right zone, and what stands there instead, before it is signed."""
    edit: Callable[[ZoneEditor], None] | None = None
    """Changes the zone after it was signed."""
    keeps_digest: bool = False
    """The zone's digest stays what it was before the change."""
    ds: Callable[[RigZone], tuple[DS, ...]] | None = None
    """Makes the parent zone's DS records."""

    def make(self, folder: Path) -> RigZone:
        """Make the zone in `folder`, named after the fault."""
        there, instead = self.turns
        text = zone_text()
        if there not in text:
            raise ValueError(f"the rig's zone has no {there}")
        text = text.replace(there, instead, 1) + self.adds if there else text + self.adds
        files = make_files(folder, self.variant, f"{self.name}.dnsrig.test", text)
        if self.edit is None:
            zone = read_zone(files)
        else:
            editor = ZoneEditor(files)
            self.edit(editor)
            zone = editor.finish(digests=not self.keeps_digest)
        return zone if self.ds is None else with_ds(zone, *self.ds(zone))

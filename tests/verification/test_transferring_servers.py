"""Real servers that transfer zones to the rig, which those that it starts do not all do."""

from pathlib import Path

import pytest
from dnsrig.items.authoritative import a_axfr_complete, a_axfr_form
from dnsrig.servers.base import ServedZone, Server, ServerSettings
from dnsrig.servers.knot import Knot
from dnsrig.servers.nsd import Nsd
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import known_deviations, why_known
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.making import VARIANTS, make_zone

ACL = "acl:\n  - id: rig\n    address: 127.0.0.1\n    action: transfer\n\n"


class TransferringKnot(Knot):
    """Knot DNS with an ACL."""

    def render(self) -> dict[str, str]:
        """Allow transfers to this host."""
        return {
            name: text.replace("\nzone:", f"\n{ACL}zone:").replace("    file: ", "    acl: rig\n    file: ")
            for name, text in super().render().items()
        }


class TransferringNsd(Nsd):
    """NSD with secondaries."""

    def render(self) -> dict[str, str]:
        """Allow transfers to this host."""
        provide = "    provide-xfr: 127.0.0.1 NOKEY\n"
        return {
            name: text.replace("    zonefile: ", f"{provide}    zonefile: ") for name, text in super().render().items()
        }


@pytest.mark.parametrize("kind", [TransferringKnot, TransferringNsd])
def test_transfers_are_not_accused_but_for_what_is_known(kind: type[Server], tmp_path: Path) -> None:
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    zone = make_zone(tmp_path, VARIANTS["nsec3"])
    with kind([ServedZone(zone.name, zone.path)], ServerSettings(), tmp_path / "server") as server:
        subject = AuthoritativeSubject(Asker(Endpoint(*server.address)), zone.landmarks)
        assert subject.lacks("transfer") is None
        assert a_axfr_complete.check(subject).verdict is Verdict.PASS
        form = a_axfr_form.check(subject)
    known = known_deviations("authoritative", server.name, server.version, is_of_rig=False)
    is_known = why_known(known, "A-axfr-form", form.reason) is not None
    assert form.verdict is (Verdict.FAIL if is_known else Verdict.PASS), form
    assert is_known == (server.name == "knot")

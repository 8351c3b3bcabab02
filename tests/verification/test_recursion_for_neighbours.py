"""Servers that resolve names for hosts of their own networks: whoever asks from there cannot accuse them of it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.bind import Bind
from dnsrig.servers.registry import driver
from dnsrig.verification.addresses import is_near
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.relay import Relay
from dnsrig.verification.runner import run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.targets import Told, authoritative_target
from dnsrig.verification.verdicts import Verdict

HEAD = "$TTL 3600\n@ SOA ns1 hostmaster 1 7200 900 1209600 300\n@ NS ns1\nns1 A 192.0.2.1\n"
ABOUT_RECURSION = {"A-ra", "A-outside", "A-recursion"}
HINTS = ". 3600 IN NS ns.\nns. 3600 IN A 127.0.0.1\n"
"""So that nothing is sent to the root's servers."""


class Recursing(Bind):
    """BIND as it ships: it resolves names for hosts of its own networks; here by asking a root of the rig's."""

    root = ("127.0.0.1", 53)

    def _write(self) -> None:
        super()._write()
        path = self.folder / "named.conf"
        address, port = self.root
        forwarding = f"forward only; forwarders {{ {address} port {port}; }};"
        text = path.read_text().replace("recursion no;", forwarding)
        (self.folder / "hints").write_text(HINTS)
        path.write_text(text + '\nzone "." { type hint; file "hints"; };\n')


@contextmanager
def recursing(folder: Path) -> Iterator[Endpoint]:
    """Start such a BIND, with the zone own.example."""
    if Bind.find() is None:
        pytest.skip("BIND is not installed: install the Debian package bind9")
    zones = {name: folder / f"{number}.zone" for number, name in enumerate((".", "own.example."))}
    for path in zones.values():
        path.write_text(HEAD)
    root, own = (ServedZone(name, path) for name, path in zones.items())
    with ExitStack() as running:
        above = running.enter_context(driver("embedded")([root], ServerSettings(), folder / "root"))
        kind = type("RecursingBelow", (Recursing,), {"root": above.address})
        server = running.enter_context(kind([own], ServerSettings(), folder / "server"))
        yield Endpoint(*server.address)


def verdicts_about_recursion(subject: AuthoritativeSubject) -> dict[str, Verdict]:
    chosen = [known for known in items("authoritative") if known.item.id in ABOUT_RECURSION]
    return {result.item.id: result.outcome.verdict for result in run_items(chosen, subject)}


def test_recursion_for_this_host_alone_accuses_no_server(tmp_path: Path) -> None:
    with (
        recursing(tmp_path) as endpoint,
        authoritative_target(endpoint.address, endpoint.port, Told(zone="own.example"), tmp_path) as target,
    ):
        (subject,) = target.subjects
        assert verdicts_about_recursion(subject) == dict.fromkeys(ABOUT_RECURSION, Verdict.INCONCLUSIVE)
        # Where the rig starts the server, or asks from elsewhere, that is no excuse.
        elsewhere = AuthoritativeSubject(Asker(endpoint), subject.landmarks)
        assert verdicts_about_recursion(elsewhere) == dict.fromkeys(ABOUT_RECURSION, Verdict.FAIL)


@pytest.mark.parametrize("fault", ["refers-upward", "denies-outside"])
def test_servers_near_that_offer_no_recursion_have_no_excuse(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "own.zone"
    path.write_text(HEAD)
    zones = [ServedZone("own.example.", path)]
    with (
        driver("embedded")(zones, ServerSettings(), tmp_path / "server") as server,
        Relay(Endpoint(*server.address), fault_named(fault)) as relay,
        authoritative_target(relay.endpoint.address, relay.endpoint.port, Told(zone="own.example"), tmp_path) as target,
    ):
        assert verdicts_about_recursion(target.subjects[0])["A-outside"] is Verdict.FAIL


@pytest.mark.parametrize(
    ("address", "expected"),
    [("127.0.0.1", True), ("10.1.2.3", True), ("fe80::1%lo", True), ("::1", True), ("9.9.9.9", False)],
)
def test_near_addresses(address: str, expected: bool) -> None:
    assert is_near(Endpoint(address, 53)) is expected

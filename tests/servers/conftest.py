"""Fixtures: zones to serve, and every driver whose server is installed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from dnsrig.servers.base import ServedZone, Server
from dnsrig.servers.registry import driver, drivers
from served_zones import Zones

KINDS = [*drivers(), "dnsdist+embedded"]


@pytest.fixture(scope="session")
def zones(tmp_path_factory: pytest.TempPathFactory) -> Zones:
    return Zones(tmp_path_factory.mktemp("zones"))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> type[Server]:
    """Each driver whose server is installed."""
    found = driver(request.param)
    if found.find() is None:
        pytest.skip(f"{found.title} is not installed: install the Debian package {found.package}")
    return found


@pytest.fixture
def write_zone(tmp_path: Path) -> Callable[[str], ServedZone]:
    def write(text: str) -> ServedZone:
        path = tmp_path / "own.zone"
        path.write_text(text)
        return ServedZone("example", path)

    return write

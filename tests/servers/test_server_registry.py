"""Drivers by name, and the errors for names that are none."""

import pytest
from dnsrig.errors import InputError
from dnsrig.servers import registry


def test_order_of_drivers() -> None:
    assert list(registry.drivers()) == ["embedded", "bind", "nsd", "knot", "powerdns"]
    assert all(name == kind.name for name, kind in registry.drivers().items())


@pytest.mark.parametrize(
    ("name", "meant"),
    [("named", "bind"), ("bnid", "bind"), ("NSD", "nsd"), ("pdns", "powerdns"), ("knotd", "knot")],
)
def test_unknown_name_gets_the_nearest(name: str, meant: str) -> None:
    with pytest.raises(InputError, match=rf"did you mean {meant}") as caught:
        registry.driver(name)
    assert caught.value.exit_code == 2


def test_name_without_near_ones_lists_all() -> None:
    with pytest.raises(InputError, match="known are embedded, bind, nsd, knot, powerdns") as caught:
        registry.driver("zzzzzz")
    assert "did you mean" not in str(caught.value)


def test_hickory_is_explained() -> None:
    with pytest.raises(InputError, match=r"docs/decisions/embedded-server\.md"):
        registry.driver("hickory")


def test_found_are_drivers() -> None:
    found = registry.found()
    assert "embedded" in found
    assert list(found) == [name for name in registry.drivers() if name in found]

"""Drivers by name, and the errors for names that are none."""

import pytest
from dnsrig.errors import InputError
from dnsrig.servers import registry


def test_order_of_drivers() -> None:
    assert list(registry.drivers()) == ["embedded", "bind", "nsd", "knot", "powerdns", "unbound"]
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
    with pytest.raises(InputError, match="known are embedded, bind, nsd, knot, powerdns, unbound") as caught:
        registry.driver("zzzzzz")
    assert "did you mean" not in str(caught.value)


def test_hickory_is_explained() -> None:
    with pytest.raises(InputError, match=r"docs/decisions/embedded-server\.md"):
        registry.driver("hickory")


def test_dnsdist_needs_a_server_behind_it() -> None:
    kind = registry.driver("dnsdist+nsd")
    assert (kind.name, kind.package) == ("dnsdist+nsd", "dnsdist nsd")
    assert kind is registry.driver("dnsdist+nsd")
    for name in ("dnsdist", "dnsdist+dnsdist+nsd"):
        with pytest.raises(InputError, match=r"name (?:the|an authoritative) server behind it"):
            registry.driver(name)
    with pytest.raises(InputError, match="did you mean bind"):
        registry.driver("dnsdist+named")


def test_resolvers_are_not_measured_as_authoritative_servers_unasked() -> None:
    assert "unbound" not in registry.measured_by_default()
    assert "embedded" in registry.measured_by_default()


def test_found_are_drivers() -> None:
    found = registry.found()
    assert "embedded" in found
    assert list(found) == [name for name in registry.drivers() if name in found]

"""Deviations apply to the versions that they name."""

from dnsrig.verification.deviations import Deviation, deviating_items


def test_versions_match_by_whole_numbers() -> None:
    known = Deviation("A-x", "authoritative", "bind", ("9.1", "9.20.4"), "A reason.")
    assert known.applies_to("bind", "9.1.7")
    assert known.applies_to("bind", "9.20.4-S1") is False
    assert known.applies_to("bind", "9.20.4")
    assert not known.applies_to("bind", "9.18.1")
    assert not known.applies_to("nsd", "9.1.7")


def test_zones_matter_where_both_sides_name_them() -> None:
    known = Deviation("A-x", "authoritative", "bind", (), "A reason.", ("nsec3",))
    assert known.applies_to("bind", "9.18")
    assert known.applies_to("bind", "9.18", "nsec3")
    assert not known.applies_to("bind", "9.18", "nsec")
    assert Deviation("A-x", "authoritative", "bind", (), "A reason.").applies_to("bind", "9.18", "nsec")


def test_without_versions_all_deviate() -> None:
    assert Deviation("A-x", "authoritative", "bind", (), "A reason.").applies_to("bind", "9.99")


def test_a_server_deviates_in_its_role_only() -> None:
    assert "F-retries" in deviating_items("resolver", "bind", "9.18.49")
    assert deviating_items("authoritative", "bind", "9.18.49") == {}

"""A server that does not give what a case is about is found out before it is loaded."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from dnsrig import _core
from dnsrig.keys import add_new_keys
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.embedded import Embedded
from dnsrig.studies.answer_check import check_answers
from dnsrig.studies.inputs import Variant


@pytest.fixture(scope="module")
def zone() -> _core.Zone:
    return _core.Zone.generate("example.test.", 244, 1)


@pytest.fixture(scope="module")
def signed(zone) -> _core.Zone:
    keys = _core.KeySet()
    add_new_keys(keys, zone.origin, "ED25519", None, None)
    return zone.sign(keys, denial="nsec3", iterations=5)


@contextmanager
def serving(path) -> Iterator[tuple[str, int]]:
    with Embedded([ServedZone("example.test.", path)], ServerSettings(), path.parent / "server") as server:
        yield server.address


def queries(zone, kind):
    return _core.QueryStream.synthesise(zone, None, kind=kind, queries=20, seed=1, edns_size=4096, do_bit=True)[0]


@pytest.mark.parametrize("kind", ["existence", "denial", "normal"])
def test_a_right_zone_has_no_faults(zone, signed, tmp_path, kind):
    signed.write(tmp_path / "zone.db")
    with serving(tmp_path / "zone.db") as address:
        assert check_answers(address, zone.origin, queries(zone, kind), Variant("nsec3", 5)).faults == ()


def test_wrong_signatures_are_found(zone, signed, tmp_path):
    path = tmp_path / "zone.db"
    signed.write(path)
    # Every signature that covers NSEC3 gets another expiration than was signed.
    path.write_text(re.sub(r"(RRSIG NSEC3 \d+ \d+ \d+ \d{4})\d\d", r"\g<1>01", path.read_text()))
    with serving(path) as address:
        faults = check_answers(address, zone.origin, queries(zone, "denial"), Variant("nsec3", 5)).faults
    assert any("signature of NSEC3" in fault for fault in faults)


def test_the_wrong_kind_of_denial_is_found(zone, signed, tmp_path):
    signed.write(tmp_path / "zone.db")
    with serving(tmp_path / "zone.db") as address:
        stream = queries(zone, "denial")
        assert "without NSEC records" in str(check_answers(address, zone.origin, stream, Variant("nsec", None)).faults)
        assert "5] iterations" in str(check_answers(address, zone.origin, stream, Variant("nsec3", 10)).faults)


def test_an_unsigned_zone_where_a_signed_one_should_be(zone, tmp_path):
    zone.write(tmp_path / "zone.db")
    with serving(tmp_path / "zone.db") as address:
        faults = check_answers(address, zone.origin, queries(zone, "existence"), Variant("nsec", None)).faults
    assert "without RRSIG" in str(faults)


def test_silence_is_a_fault(zone, monkeypatch):
    monkeypatch.setattr("dnsrig.studies.answer_check.TIMEOUT_S", 0.05)
    faults = check_answers(("127.0.0.1", 9), zone.origin, queries(zone, "existence"), Variant("none", None)).faults
    assert "no usable answer" in str(faults)

"""Files that are not what their names say, and names that are not UTF-8."""

import os
import shutil
import sys

import pytest

ODD_NAME = b"z\xff\xe4.db"
STEM = "Kexample.test.+013+00001"


def make_fifo(path):
    os.mkfifo(path)


def make_folder(path):
    path.mkdir()


def make_dangling_link(path):
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [make_fifo, make_folder, make_dangling_link])
def test_key_files_that_are_none(dnsrig, small_zone, tmp_path, make):
    keys = tmp_path / "keys"
    keys.mkdir()
    make(keys / f"{STEM}.key")
    make(keys / f"{STEM}.private")
    for command in (
        ["sign", "-K", keys, "-f", tmp_path / "out", small_zone],
        ["sign", "-f", tmp_path / "out", small_zone, keys / STEM],
        ["keygen", "-K", keys, "example.test"],
        ["ds", keys / f"{STEM}.key"],
        ["settime", "-A", "none", "-K", keys, STEM],
    ):
        done = dnsrig(*command)
        assert done.code == 2, done.err
        assert "cannot read the key file" in done.err or "no such key" in done.err, done.err
    assert sorted(path.name for path in keys.iterdir()) == [f"{STEM}.key", f"{STEM}.private"]
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf_8(dnsrig, small_zone, tmp_path):
    zone = tmp_path / os.fsdecode(ODD_NAME)
    shutil.copy(small_zone, zone)
    assert dnsrig("zone", "compare", zone, small_zone, "--json").json["same"] == 244
    assert dnsrig("zone", "check", zone, "--json").code == 0
    assert dnsrig("zone", "sort", zone, "-f", tmp_path / os.fsdecode(b"\xfe"), "--json").code == 0
    # The manifest is JSON, which has no such names.
    before = sorted(tmp_path.iterdir())
    refused = dnsrig("zone", "split", zone, "-n", 2)
    assert refused.code == 2 and "not UTF-8" in refused.err
    assert sorted(tmp_path.iterdir()) == before
    assert dnsrig("zone", "split", zone, "-n", 2, "-f", tmp_path / "piece").code == 0

"""The commands of docs/guide/registry.md, and of signing by pieces in signing.md beside it, as they stand there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
WITHIN_S = 60


def commands(page):
    return re.findall(r"^```sh\n(.*?)^```$", (GUIDE / page).read_text(), re.MULTILINE | re.DOTALL)


def run_block(block, folder):
    """Run a block of commands in a folder, in a shell of its own."""
    program = folder / "bin" / "dnsrig"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m dnsrig "$@"\n')
    program.chmod(0o755)
    return subprocess.run(
        ["bash", "-euc", block],
        cwd=folder,
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )


def typed(blocks, folder):
    """Run blocks of commands in a folder; give what each printed."""
    printed = []
    for block in blocks:
        done = run_block(block, folder)
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
        printed.append(done.stdout)
    return printed


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Give the folder that the page on a registry's zone was run in, and what each of its blocks printed."""
    folder = tmp_path_factory.mktemp("registry")
    return folder, typed(commands("registry.md"), folder)


def test_the_page_ends_with_a_valid_zone_that_has_the_new_name(session):
    folder, printed = session
    assert len(printed) == 5
    assert "no fault" in printed[-1]
    assert re.search(r"^new-name\.ca\.\s+86400\s+IN\s+NS\s", (folder / "ca.signed").read_text(), re.MULTILINE)
    assert (folder / "dsset-ca.").read_text().startswith("ca. ")
    if shutil.which("dnssec-verify") is not None:
        subprocess.run(["dnssec-verify", "-q", "-o", "ca.", folder / "ca.signed"], check=True, timeout=WITHIN_S)


def test_the_second_signing_keeps_nearly_all_signatures(session):
    _, printed = session
    made, kept = (int(re.search(rf"(\d+) {what}", printed[-1])[1]) for what in ("made", "kept"))
    assert kept > 10 * made > 0


def test_a_zone_that_is_not_valid_does_not_get_the_name(session, tmp_path):
    """Nor does its state file, and the next hour goes on from what was there."""
    folder, _ = session
    later = shutil.copytree(folder, tmp_path / "later")
    names = ("ca.signed", "ca.signed.state")
    before = [(later / name).read_bytes() for name in names]
    ds = (later / "dsset-ca.").read_text()
    (later / "dsset-ca.").write_text("ca. IN DS 1 13 2 " + "00" * 32 + "\n")
    hourly = commands("registry.md")[-1]
    refused = run_block(hourly.replace("new-name", "newer-name"), later)
    assert refused.returncode == 1 and "DS record" in refused.stdout, refused.stdout + refused.stderr
    assert [(later / name).read_bytes() for name in names] == before
    (later / "dsset-ca.").write_text(ds)
    done = run_block(hourly.replace("new-name", "newest-name"), later)
    assert done.returncode == 0 and "(0 verified)" in done.stdout, done.stdout + done.stderr
    assert all(f"\n{name}.ca." in (later / "ca.signed").read_text() for name in ("newer-name", "newest-name"))
    assert not (later / "ca.new").exists()


def test_a_zone_signed_by_pieces_is_valid(tmp_path):
    before = "dnsrig zone generate example.db --model flat --names 40 --seed 1; mkdir keys; "
    before += "for role in '-f KSK' ''; do dnsrig keygen $role -K keys example.test; done"
    (recipe,) = commands("signing.md")
    printed = typed([before, recipe, "dnsrig zone verify example.db.signed"], tmp_path)
    assert " DS " in printed[1] and "no fault" in printed[2]

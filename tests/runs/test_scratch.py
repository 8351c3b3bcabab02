"""Folders for a while: removed in the end, or by a later dnsrig where theirs was killed; a living one keeps its own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dnsrig.scratch import LOCK_NAME, PREFIX, remove_left, scratch_folder

PATIENCE_S = 60.0
HOLDS_ONE = """
import sys, time
from pathlib import Path
from dnsrig.scratch import scratch_folder

with scratch_folder("verify-", Path(sys.argv[1])) as folder:
    (folder / "server").mkdir()
    (folder / "server" / "zone").write_text("a zone")
    print(folder, flush=True)
    sys.stdin.read()
"""
MAKES_MANY = """
import sys
from pathlib import Path
from dnsrig.scratch import scratch_folder

for number in range(150):
    with scratch_folder("verify-", Path(sys.argv[1])) as folder:
        (folder / "file").write_text(str(number))
        assert (folder / "file").read_text() == str(number)
"""


def started(code: str, where: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(where)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_what_a_killed_one_left_is_removed_and_what_is_used_stays(tmp_path: Path) -> None:
    with started(HOLDS_ONE, tmp_path) as killed, started(HOLDS_ONE, tmp_path) as living:
        assert killed.stdout is not None and living.stdout is not None
        left, used = (Path(one.stdout.readline().strip()) for one in (killed, living) if one.stdout)
        killed.send_signal(signal.SIGKILL)
        killed.wait(PATIENCE_S)
        assert (left / "server" / "zone").exists()
        with scratch_folder("serve-", tmp_path) as mine:
            assert not left.exists()
            assert (used / "server" / "zone").exists()
            assert mine.is_dir()
        living.communicate("", timeout=PATIENCE_S)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_the_same_process_stays(tmp_path: Path) -> None:
    with scratch_folder(parent=tmp_path) as first, scratch_folder(parent=tmp_path):
        remove_left(tmp_path)
        assert first.is_dir()


def test_what_carries_no_lock_stays(tmp_path: Path) -> None:
    (tmp_path / f"{PREFIX}verify-mine").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / LOCK_NAME).touch()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "other")
    (tmp_path / f"{PREFIX}linked-lock").mkdir()
    (tmp_path / f"{PREFIX}linked-lock" / LOCK_NAME).symlink_to(tmp_path / "other" / LOCK_NAME)
    remove_left(tmp_path)
    assert len(list(tmp_path.iterdir())) == 4
    assert (tmp_path / "other" / LOCK_NAME).exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders to others")
def test_a_folder_of_another_user_stays(tmp_path: Path) -> None:
    others = tmp_path / f"{PREFIX}verify-others"
    others.mkdir()
    (others / LOCK_NAME).touch()
    os.chown(others, 65534, 65534)
    remove_left(tmp_path)
    assert others.is_dir()
    os.chown(others, 0, 0)
    remove_left(tmp_path)
    assert not others.exists()


def test_what_cannot_be_removed_yet_keeps_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / f"{PREFIX}verify-left"
    (left / "server").mkdir(parents=True)
    (left / LOCK_NAME).touch()
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    remove_left(tmp_path)
    assert (left / LOCK_NAME).exists()
    monkeypatch.undo()
    remove_left(tmp_path)
    assert not left.exists()


def test_many_at_once_never_remove_each_others(tmp_path: Path) -> None:
    running = [started(MAKES_MANY, tmp_path) for _ in range(3)]
    for one in running:
        one.communicate(timeout=PATIENCE_S)
    assert [one.returncode for one in running] == [0, 0, 0]
    assert list(tmp_path.iterdir()) == []


def test_a_verification_that_was_killed_is_tidied_up_by_the_next(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "dnsrig", "verify", "authoritative", "--item", "A-aa"]
    with subprocess.Popen(
        [*command, "nsd"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as one:
        until_s = time.monotonic() + PATIENCE_S
        while not list(tmp_path.glob("dnsrig-verify-*/*.zone")) and time.monotonic() < until_s:
            time.sleep(0.01)
        one.send_signal(signal.SIGKILL)
    assert list(tmp_path.iterdir())
    done = subprocess.run(
        [*command, "nsd"], env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []

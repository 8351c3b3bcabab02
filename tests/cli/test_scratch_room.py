"""Temporary folders without room: which one is full, and what to do."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from dnsrig.cli.scratch_room import scratch_folder
from dnsrig.errors import EnvironmentLacksError, InputError, SubjectFailedError

MAY_MOUNT = os.geteuid() == 0 and shutil.which("unshare") is not None


@pytest.mark.skipif(not MAY_MOUNT, reason="needs root and unshare (util-linux)")
@pytest.mark.parametrize("wanted", [["authoritative", "nsd"], ["authoritative", "bind"], ["resolver", "unbound"]])
def test_a_folder_that_is_too_small(tmp_path: Path, wanted: list[str]) -> None:
    small = tmp_path / "small"
    small.mkdir()
    script = 'mount -t tmpfs -o size=600k none "$1"; shift; exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", str(small), sys.executable, "-m", "dnsrig", "verify", *wanted],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"TMPDIR": str(small)},
        timeout=100,
    )
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    last = done.stderr.splitlines()[-1]
    assert f"the folder for temporary files, {small}, is full" in last
    assert "set TMPDIR to a folder with room for 10 MB" in last


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def raised(error: Exception) -> None:
    with scratch_folder():
        raise error


def test_a_server_that_may_want_for_room(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SubjectFailedError, match=r"^nsd ended$"):
        raised(SubjectFailedError("nsd ended"))
    room = os.statvfs(where)
    full = os.statvfs_result((*room[:3], 0, 0, *room[5:]))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    with pytest.raises(EnvironmentLacksError, match=f"^nsd ended; .*{where}, is full.*TMPDIR"):
        raised(SubjectFailedError("nsd ended"))
    with pytest.raises(InputError, match=r"^wrong$"):
        raised(InputError("wrong"))


def test_a_full_disk_elsewhere_is_not_laid_on_it(where: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match=f"{where}, is full"):
        raised(OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(EnvironmentLacksError, match=f"{where}, is full"):
        raised(OSError(errno.ENOSPC, "No space left on device", str(where / "file")))
    with pytest.raises(OSError, match="No space left") as found:
        raised(OSError(errno.ENOSPC, "No space left on device", "/elsewhere/file"))
    assert found.value.filename == "/elsewhere/file"

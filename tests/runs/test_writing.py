"""Files that are written whole or not at all, and what is no file to be replaced."""

import os
import stat
import threading
from pathlib import Path

import pytest
from dnsrig.runs.writing import PARTIAL_SUFFIX, DiskFullError, is_stream, write_text, write_whole

FULL = os.makedev(1, 7)
"""The device that is always full, as null(4) numbers it."""


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """Make a full device of the test's own."""
    path = tmp_path / "full"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, FULL)
        path.open("wb").close()
    except PermissionError:
        pytest.skip("making a device, and writing to it, needs root and a file system with devices")
    return path


def test_a_device_is_written_to_and_stays(full: Path) -> None:
    with pytest.raises(DiskFullError, match="no room left"):
        write_text(full, "text")
    assert stat.S_ISCHR(full.lstat().st_mode)
    assert list(full.parent.iterdir()) == [full]


def test_a_link_to_a_device_stays_with_it(full: Path) -> None:
    link = full.with_name("link")
    link.symlink_to("full")
    with pytest.raises(DiskFullError):
        write_text(link, "text")
    assert link.is_symlink() and stat.S_ISCHR(full.lstat().st_mode)


def test_a_fifo_is_written_to_and_stays(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    write_text(fifo, "text")
    reader.join()
    assert read == ["text"]
    assert stat.S_ISFIFO(fifo.lstat().st_mode)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path, is_there: bool) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    file = elsewhere / "file"
    if is_there:
        file.write_text("before")
    link = tmp_path / "link"
    link.symlink_to("elsewhere/file")
    write_text(link, "text")
    assert link.is_symlink() and file.read_text() == "text"
    assert list(elsewhere.iterdir()) == [file]


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_what_fails_leaves_the_file_as_it_was(tmp_path: Path, error: BaseException) -> None:
    file = tmp_path / "file"
    file.write_text("before")

    def fail(partial: Path) -> None:
        partial.write_text("half")
        raise error

    with pytest.raises(type(error)):
        write_whole(file, fail)
    assert file.read_text() == "before"
    assert not list(tmp_path.glob(f"*{PARTIAL_SUFFIX}"))


def test_what_is_beside_a_file_stays_as_it_is(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept", tmp_path / f"file{PARTIAL_SUFFIX}"
    kept.write_text("kept")
    link.symlink_to("kept")
    write_text(tmp_path / "file", "text")
    assert (kept.read_text(), link.is_symlink()) == ("kept", True)
    assert (tmp_path / "file").read_text() == "text" and not (tmp_path / "file").is_symlink()


def test_two_may_write_the_same_file_at_once(tmp_path: Path) -> None:
    file = tmp_path / "file"

    def write_while_another_does(partial: Path) -> None:
        partial.write_text("first")
        write_text(file, "second")

    write_whole(file, write_while_another_does)
    assert file.read_text() == "first" and list(tmp_path.iterdir()) == [file]


def test_a_name_may_be_as_long_as_one_can_be(tmp_path: Path) -> None:
    file = tmp_path / ("\u00fc" * 127)
    write_text(file, "text")
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/dev/stdout", True), ("/dev/fd/1", True), ("/proc/self/fd/1", True), ("/dev/shm/file", False), ("file", False)],
)
def test_paths_in_the_folders_of_the_system(path: str, expected: bool) -> None:
    assert is_stream(Path(path)) == expected


def test_a_link_that_leads_to_standard_output(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/stdout")
    assert is_stream(link)
    endless = tmp_path / "endless"
    endless.symlink_to("endless")
    assert not is_stream(endless)

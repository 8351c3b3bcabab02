"""Files that `dnsrig verify` reads and writes, and what cannot be read or written."""

import json
import os
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import click
import dns.name
import dns.zone
import pytest
from dnsrig import _core, given_files
from dnsrig.cli import verify_authoritative
from dnsrig.cli.app import run_command_line
from dnsrig.cli.verify_files import check_outputs, write_outputs
from dnsrig.cli.verify_options import Wishes, verify_each
from dnsrig.cli.verify_trial import Keep
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.given_files import read_given_text, require_plain_file
from dnsrig.items.catalogue import items
from dnsrig.verification.runner import Result
from dnsrig.verification.targets import Told, landmarks_of_file
from dnsrig.verification.verdicts import Severity, passed
from dnsrig.verification.verification import Verification
from dnsrig.verification.zone_reading import read_zone

EXAMPLE = dns.name.from_text("example.")
ZERO, FULL = os.makedev(1, 5), os.makedev(1, 7)
"""Devices that give zeros without end, and that take nothing (null(4), full(4))."""


def device(path: Path, number: int) -> Path:
    """Make a device of the test's own: none of the system's is named as an output."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, number)
    except PermissionError:
        pytest.skip("making a device needs root")
    return path


def test_a_device_is_not_read(tmp_path: Path) -> None:
    zero = device(tmp_path / "zero", ZERO)
    with pytest.raises(InputError, match="it is a device, no plain file; give records"):
        read_given_text("--ds", zero, "give records")
    with pytest.raises(InputError, match="it is a device, no plain file"):
        require_plain_file("--zone-file", zero)


def test_a_fifo_is_read_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_text("records"))
    writer.start()
    assert read_given_text("--ds", fifo, "give records") == "records"
    writer.join()
    with pytest.raises(InputError, match="read more than once"):
        require_plain_file("--zone-file", fifo)


def test_nobody_is_waited_for_for_ever_at_a_fifo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_files, "FIFO_WAIT_S", 0.05)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(InputError, match=r"it is a FIFO into which nobody has written for 0.05 s.*; give records"):
        read_given_text("--ds", fifo, "give records")
    # Opened for both, so that it does not wait for a reader.
    writer = os.open(fifo, os.O_RDWR)
    try:
        os.write(writer, b"records")
        with pytest.raises(InputError, match="it is a FIFO into which nobody has written"):
            read_given_text("--ds", fifo, "give records")
    finally:
        os.close(writer)


@pytest.mark.parametrize("option", ["--ds", "--trust-anchor", "--rules", "--tsig-file", "--zone-file"])
def test_input_files_of_verify_that_are_fifos_or_devices(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr(given_files, "FIFO_WAIT_S", 0.05)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    commands = {"--trust-anchor": ["resolver", "192.0.2.1"], "--rules": ["path", "router"]}
    command = commands.get(option, ["authoritative", "192.0.2.1", "--zone", "example"])
    for path, said in ((fifo, "it is a FIFO"), (device(tmp_path / "zero", ZERO), "it is a device")):
        code = run_command_line(["verify", *command, option, str(path)])
        err = capsys.readouterr().err
        if code == 3 and option == "--rules":
            pytest.skip(err)
        assert code == 2
        assert err.startswith(f"dnsrig: {option} {path}: {said}")


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("--ds", "hello this is no zone\n", "line 1: unknown rdatatype 'this'; give the DS records of example., as"),
        (
            "--zone-file",
            "hello this is no zone\n",
            "it is no zone file: line 1: unknown rdatatype 'this'; give the data",
        ),
        ("--zone-file", "$INCLUDE /no/such\n", "/no/such: No such file or directory; give the data of example. as a"),
        ("--zone-file", "$GENERATE 1-4000000000 h$ A 192.0.2.1\n", "$GENERATE makes 4,000,000,000 records in it"),
        ("--zone-file", "", "no SOA record of example. is in it; give the data of example. as a zone file"),
        ("--zone-file", "other. 60 IN SOA a. b. 1 2 3 4 5\n", "no SOA record of example. is in it"),
    ],
)
def test_files_of_records_that_are_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str, text: str, said: str
) -> None:
    path = tmp_path / "given"
    path.write_text(text)
    command = ["verify", "authoritative", "192.0.2.1", "--zone", "example"]
    assert run_command_line([*command, option, str(path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"dnsrig: {option} {path}: {said}")
    assert err.count(str(path)) == 1


def test_a_large_zone_file_is_said_to_take_its_time(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify_authoritative, "LARGE_OCTETS", 1 << 20)
    path = tmp_path / "zone"
    path.write_text("; a comment of 32 octets, no more\n" * (1 << 16))
    assert run_command_line(["verify", "authoritative", "192.0.2.1", "--zone", "x", "--zone-file", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"dnsrig: {path} has 2 MB: reading it")


def test_a_fifo_is_no_network_namespace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert run_command_line(["verify", "path", "198.18.53.1", "--server-namespace", str(fifo)]) == 2
    assert f"{fifo} is no network namespace; see `ip netns list`" in capsys.readouterr().err


def test_no_more_is_read_than_such_a_file_can_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_files, "LARGEST_OCTETS", 1 << 20)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(InputError, match="it has more than 1 MiB; give records"):
        read_given_text("--ds", large, "give records")


def test_what_is_no_text(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"--ds .*binary: it is no text; give records"):
        read_given_text("--ds", binary, "give records")
    with pytest.raises(InputError, match="No such file or directory"):
        read_given_text("--ds", tmp_path / "none", "give records")


@pytest.mark.parametrize(
    "command",
    [
        ["authoritative", "192.0.2.1", "--zone", "example", "--ds"],
        ["resolver", "192.0.2.1", "--trust-anchor"],
        ["path", "router", "--rules"],
    ],
    ids=["--ds", "--trust-anchor", "--rules"],
)
def test_options_whose_file_is_no_text(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: list[str]) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    code = run_command_line(["verify", *command, str(binary)])
    said = capsys.readouterr().err
    if code == 3 and command[0] == "path":
        pytest.skip(said)
    assert code == 2
    assert f"{command[-1]} {binary}: it is no text; give " in said


SOA = "@ 60 SOA ns host 1 3600 900 604800 300\n"


def test_a_file_that_includes_itself_is_refused(tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer.zone", tmp_path / "inner.zone"
    outer.write_text(f'{SOA}$INCLUDE "{inner}" ; data\n')
    inner.write_text(f"$include {outer}\n")
    with pytest.raises(InputError, match=r"outer\.zone is included while it is being read, which would never end"):
        landmarks_of_file(outer, EXAMPLE, Told())


def test_files_may_be_included_more_than_once(tmp_path: Path) -> None:
    outer, inner, data = tmp_path / "outer.zone", tmp_path / "inner.zone", tmp_path / "data.zone"
    outer.write_text(f"{SOA}$INCLUDE {inner}\n$INCLUDE {data} sub\n$INCLUDE {data}\n")
    inner.write_text(f"$INCLUDE {data} inner\n")
    data.write_text("a 60 A 192.0.2.1\n")
    assert landmarks_of_file(outer, EXAMPLE, Told()).origin == EXAMPLE


def test_an_included_file_is_a_plain_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    outer, fifo = tmp_path / "outer.zone", tmp_path / "fifo"
    os.mkfifo(fifo)
    outer.write_text(f"{SOA}$INCLUDE {fifo}\n")
    with pytest.raises(InputError, match=r"\$INCLUDE .*fifo: it is a FIFO, no plain file"):
        landmarks_of_file(outer, EXAMPLE, Told())
    outer.write_text(f"{SOA}$INCLUDE fifo\n")
    with pytest.raises(InputError, match="it is a FIFO, no plain file"):
        landmarks_of_file(outer, EXAMPLE, Told())
    command = ["verify", "authoritative", "embedded", "--zone-file", str(outer)]
    assert run_command_line(command) == 2 and "it is a FIFO, no plain file" in capsys.readouterr().err
    outer.write_text(f"{SOA}$INCLUDE {tmp_path}/missing\n")
    with pytest.raises(InputError, match=r"missing: No such file or directory; files of \$INCLUDE are looked for from"):
        landmarks_of_file(outer, EXAMPLE, Told())


@pytest.mark.parametrize(
    ("line", "column"),
    [
        (b"a\0b 60 A 192.0.2.1", 2),
        (b'a 60 TXT "x;\0y"', 13),
        (b'a 60 TXT "x\\"\x7f;"', 14),
        (b'a 60 TXT x\\" ; "\0', None),
        (b"\x1b", 1),
        (b"a 60 A 192.0.2.1 ; \0", None),
        (b'a 60 TXT "x" x\\;x\t;\0', None),
    ],
)
def test_control_octets_are_refused_as_the_rigs_own_reader_does(
    tmp_path: Path, line: bytes, column: int | None
) -> None:
    outer, inner = tmp_path / "outer.zone", tmp_path / "inner.zone"
    outer.write_text(f"{SOA}@ 60 NS ns\r\nns 60 A 192.0.2.1\n$INCLUDE inner.zone\n")
    inner.write_bytes(b"; first\n" + line + b"\n")
    if column is None:
        assert landmarks_of_file(outer, EXAMPLE, Told()).origin == EXAMPLE
        _core.Zone.read(outer, "example.")
        return
    with pytest.raises(InputError) as found:
        landmarks_of_file(outer, EXAMPLE, Told())
    with pytest.raises(InputError) as own:
        _core.Zone.read(outer, "example.")
    assert f"{inner}:2:{column}: control octet " in str(own.value)
    assert str(found.value) == f"--zone-file {outer}: {own.value}"
    with pytest.raises(InputError) as alone:
        landmarks_of_file(inner, EXAMPLE, Told())
    assert str(alone.value) == f"--zone-file {own.value}"


def test_included_files_are_those_of_the_rigs_own_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative names are taken from the folder of the file that has them, wherever the command is called."""
    outer, elsewhere = tmp_path / "zones" / "outer.zone", tmp_path / "elsewhere"
    for folder in (outer.parent, elsewhere):
        (folder / "sub").mkdir(parents=True)
        (folder / "sub" / "inner.zone").write_text(
            f'{folder.name}-inner 60 A 192.0.2.1\n  60 TXT $INCLUDE data\n$INCLUDE "data" d\nlast 60 A 192.0.2.3\n'
        )
        for place in (folder, folder / "sub"):
            (place / "data").write_text(f"{folder.name}-{place.name} 60 A 192.0.2.2\n")
    outer.write_text(f"{SOA}@ 60 NS ns\nns 60 A 192.0.2.1\n$include sub/inner.zone i\n$INCLUDE {elsewhere}/data\n")
    monkeypatch.chdir(elsewhere)
    zone = read_zone(outer, EXAMPLE)
    begins = {name.labels[0].decode() for name in zone.nodes}
    assert begins == {"example", "ns", "zones-inner", "zones-sub", "last", "elsewhere-elsewhere"}
    _core.Zone.read(outer, "example.").write(tmp_path / "written")
    assert dns.zone.from_file(str(tmp_path / "written"), EXAMPLE, relativize=False).nodes == zone.nodes


def outputs(html: Path | None = None, junit: Path | None = None) -> dict[str, Path | None]:
    return {"--html": html, "--junit": junit}


def test_outputs_that_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    check_outputs(outputs(tmp_path / "link", tmp_path / "fifo"))
    check_outputs(outputs(tmp_path / "new"))
    check_outputs(outputs())


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("file")
    for refused, said in (
        (outputs(tmp_path / "none" / "x"), "none is missing: make it"),
        (outputs(tmp_path / "file" / "x"), "file is no folder"),
        (outputs(Path("-")), "--html needs a file's name"),
        (outputs(Path()), "--html needs a file's name"),
        (outputs(tmp_path / "file", tmp_path / "link"), "--html and --junit each need a file of their own"),
    ):
        with pytest.raises(click.UsageError) as raised:
            check_outputs(refused)
        assert said in raised.value.message
    with pytest.raises(InputError, match="name another file"):
        check_outputs(outputs(tmp_path / ("x" * 300)))


def test_what_standard_output_goes_to_is_no_other_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    with file.open("w") as output:
        monkeypatch.setattr("dnsrig.cli.verify_files.STANDARD_OUTPUT", output.fileno())
        with pytest.raises(click.UsageError, match="what standard output goes to"):
            check_outputs(outputs(file))
        with pytest.raises(click.UsageError, match="what standard output goes to"):
            check_outputs(outputs(Path(f"/dev/fd/{output.fileno()}")))


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(EnvironmentLacksError, match="no file can be made in"):
        check_outputs(outputs(tmp_path / "x"))


def test_outputs_are_looked_at_before_anything_is_verified(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    command = ["verify", "authoritative", "no-such-server", "--html", str(tmp_path / "none" / "x")]
    assert run_command_line(command) == 2
    assert "is missing: make it" in capsys.readouterr().err


def verify(target: str, keep: Keep) -> None:
    results = [Result(items("authoritative")[0].item, passed("Yes."))]
    keep(Verification("authoritative", target, None, "example.", results, 0.1, began=datetime.now(UTC)))


def test_results_are_printed_where_a_file_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    full = device(tmp_path / "full", FULL)
    junit = tmp_path / "junit.xml"
    wishes = Wishes("authoritative", (), Severity.ERROR, False, full, junit, True)
    with pytest.raises(EnvironmentLacksError) as raised:
        verify_each(["nsd"], verify, wishes)
    assert str(raised.value) == f"{full}: no room left on the disk; make some, or name a file elsewhere"
    assert json.loads(capsys.readouterr().out)["target"] == "nsd"
    assert junit.read_text().startswith("<?xml")
    assert stat.S_ISCHR(full.lstat().st_mode)


def test_of_several_files_each_is_tried(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    said = write_outputs({folder: lambda: "one", tmp_path / "file": lambda: "two"})
    assert said.startswith(f"{folder}: ") and said.endswith("; name another file")
    assert (tmp_path / "file").read_text() == "two"

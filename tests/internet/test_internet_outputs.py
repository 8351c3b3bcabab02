"""Files of the simulated Internet that cannot be written: those before stay, and one rule gives the exit code."""

import errno
import os
from pathlib import Path

import pytest
from dnsrig import _core
from dnsrig.cli import internet_serve
from dnsrig.cli.app import run_command_line
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.internet import write_accounts, write_files
from dnsrig.runs import writing

SEED = 1
SIGNED_AT_S = 1_669_900_000
BEFORE = "what was there before\n"
ENDS = [
    (errno.ENOSPC, 3, "no room left on the disk; make some, or "),
    (errno.EDQUOT, 3, "no room left on the disk"),
    (errno.EACCES, 3, "Permission denied"),
    (errno.EROFS, 3, "Read-only file system"),
    (errno.ENOENT, 2, "No such file or directory"),
    (errno.ENOTDIR, 2, "Not a directory"),
    (errno.ENAMETOOLONG, 2, "File name too long"),
]


def refuse(monkeypatch: pytest.MonkeyPatch, number: int, place: int) -> None:
    """Have the writing of file number `place` fail, the first is 0, after its first octets."""
    written = iter(range(place + 1))

    def write(partial: Path, data: bytes) -> None:
        if next(written) < place:
            partial.write_bytes(data)
            return
        partial.write_bytes(data[:5])
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(writing, "_write_bytes", write)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_hints_and_anchors_are_written_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    internet = _core.Internet("small", seed=SEED, signed_at_s=SIGNED_AT_S, domains=100)
    files = [tmp_path / name for name in ("root.hints", "root.ds", "bind.keys")]
    for file in files:
        file.write_text(BEFORE)
    with monkeypatch.context() as patched:
        refuse(patched, errno.ENOSPC, place)
        with pytest.raises(EnvironmentLacksError, match="no room left on the disk"):
            write_files(internet, tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert {file.read_text() for file in files} == {BEFORE}
    write_files(internet, tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert files[0].read_text() == internet.root_hints
    assert files[1].read_text() == internet.trust_anchor


@pytest.mark.parametrize("end", ENDS)
def test_one_rule_says_which_exit_code_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    end: tuple[int, int, str],
) -> None:
    number, code, said = end
    queries, out, accounts = (tmp_path / name for name in ("queries.txt", "out", "upstream.json"))
    queries.write_text(BEFORE)
    accounts.write_text(BEFORE)
    profile = ["--profile", "small", "--domains", "100"]
    for arguments in (
        ["questions", queries, *profile, "--internet-seed", "1", "-n", "5"],
        ["serve", *profile, "--loopback", "--port", "0", "-o", out],
    ):
        refuse(monkeypatch, number, 0)
        assert run_command_line(["internet", *map(str, arguments)]) == code, arguments
        assert said in capsys.readouterr().err
    refuse(monkeypatch, number, 0)
    with pytest.raises((EnvironmentLacksError, InputError), match=said) as raised:
        write_accounts(accounts, [], {})
    assert raised.value.exit_code == code
    assert not list(out.iterdir())
    assert queries.read_text() == accounts.read_text() == BEFORE


def test_accounts_that_cannot_be_written_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    internet = _core.Internet("small", seed=SEED, signed_at_s=SIGNED_AT_S, domains=100, loopback=True)
    server = _core.InternetServer(internet, port=0, threads=1, loopback=True)
    server.stop()
    refuse(monkeypatch, errno.ENOSPC, 0)
    with pytest.raises(EnvironmentLacksError):
        internet_serve._account(server, tmp_path / "upstream.json", as_json=False)
    assert "signatures made" in capsys.readouterr().out


def test_folders_that_may_not_be_looked_into_are_this_machines_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbid(_path: Path) -> bool:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("dnsrig.cli.verify_files.is_stream", forbid)
    arguments = ["internet", "serve", "--loopback", "--port", "0", "--accounts", str(tmp_path / "upstream.json")]
    assert run_command_line(arguments) == EnvironmentLacksError.exit_code

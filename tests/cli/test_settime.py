"""`dnsrig settime`, by the eyes of dnssec-settime and dnssec-signzone."""

import errno
import fcntl
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from dnsrig.cli.app import run_command_line
from dnsrig.key_files import read_pair, write_times
from other_programs import need

ORIGIN = "example.test"


def bind(program, *arguments):
    """Give what one of BIND's programs prints."""
    need(program, "bind9-utils")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def key(dnsrig, tmp_path):
    """The path, without suffix, of a new key-signing key."""
    return tmp_path / dnsrig("keygen", "-f", "KSK", "-K", tmp_path, ORIGIN).out.strip()


def test_bind_reads_the_new_times(dnsrig, key, tmp_path):
    options = ["-P", "20260101", "-A", "20260102030405", "-R", "now+1y", "-I", "20270101", "-D", "+2y"]
    options += ["-P", "sync", "20260203", "-D", "sync", "20280101", "-P", "ds", "20260204"]
    done = dnsrig("settime", "-K", tmp_path, *options, key.name)
    assert done.code == 0 and done.out == f"{key}.key\n{key}.private\n", done.err
    for form in ([], ["-u"]):
        theirs = bind("dnssec-settime", "-p", "all", *form, key).replace("DS Delete: UNSET\n", "")
        assert dnsrig("settime", *form, key).out == theirs
    dnsrig("settime", "-R", "none", "-D", "none", "-I", "never", key)
    shown = dnsrig("settime", "-p", "RI/D A", f"{key}.private").out
    assert shown == "Revoke: UNSET\nInactive: UNSET\nDelete: UNSET\nActivate: Fri Jan  2 03:04:05 2026\n"


@pytest.mark.parametrize("text", ["1700000000", "1700000000-1D", "20300101", "UNSET", "Never", "none"])
def test_forms_of_times_as_bind_takes_them(dnsrig, key, text):
    bind("dnssec-settime", "-I", text, key)
    theirs = bind("dnssec-settime", "-u", "-p", "I", key)
    dnsrig("settime", "-I", "20200101", key)
    assert dnsrig("settime", "-I", text, key).code == 0
    assert bind("dnssec-settime", "-u", "-p", "I", key) == theirs


def test_only_times_change(dnsrig, key):
    """Whatever else BIND wrote into the files stays, octet by octet, and so do permissions and links."""
    need("dnssec-keygen", "bind9-utils")
    name = bind("dnssec-keygen", "-q", "-a", "13", "-L", "60", "-K", key.parent, ORIGIN).strip()
    stem = key.parent / name
    files = [stem.with_name(f"{name}.key"), stem.with_name(f"{name}.private")]
    files[0].chmod(0o640)
    link = files[0].rename(key.parent / "elsewhere")
    files[0].symlink_to(link)
    before = [file.read_bytes() for file in files]
    dnsrig("settime", "-I", "20300101", "-D", "20300201", stem)
    assert [file.read_bytes() for file in files] != before
    assert bind("dnssec-settime", "-u", "-p", "ID", stem) == "Inactive: 1893456000\nDelete: 1896134400\n"
    dnsrig("settime", "-I", "none", "-D", "none", stem)
    assert [file.read_bytes() for file in files] == before
    assert files[0].is_symlink()
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o640, 0o600]
    assert {path.name for path in key.parent.iterdir()} == {
        "elsewhere",
        *(f"{of}.{end}" for of in (name, key.name) for end in ("key", "private")),
    }


def test_files_without_times(dnsrig, key):
    """Other tools than BIND's write keys that are always in use, which a time alone would end."""
    public, private = (key.with_name(f"{key.name}.{end}") for end in ("key", "private"))
    for file in (public, private):
        text = re.sub(r"(?m)^;? ?(Created|Publish|Activate):.*\n", "", file.read_text())
        file.write_text(text.replace("v1.3", "v1.2").removesuffix("\n"))
    before = private.read_text()
    refused = dnsrig("settime", "-I", "now+1d", key)
    assert refused.code == 2 and "give -P and -A too" in refused.err and private.read_text() == before
    assert dnsrig("settime", "-P", "20260101", "-A", "20260101", key).code == 0
    assert bind("dnssec-settime", "-u", "-p", "PA", key) == "Publish: 1767225600\nActivate: 1767225600\n"
    assert "v1.3" in private.read_text()


def test_a_key_that_loses_its_last_time_is_out_of_use(dnsrig, key, small_zone):
    """Without any time it would be in use, as keys of other tools are."""
    for file in (key.with_name(f"{key.name}.{end}") for end in ("key", "private")):
        file.write_text(re.sub(r"(?m)^(; )?Created:.*\n", "", file.read_text()))
    done = dnsrig("settime", "-P", "none", "-A", "none", "-p", "CPA", key)
    assert done.code == 0 and re.search(r"Created: .* 20\d\d\nPublish: UNSET\nActivate: UNSET\n", done.out)
    refused = dnsrig("sign", small_zone, "-S", "-K", key.parent, "-f", key.parent / "signed")
    assert refused.code == 2 and "it has no time of activation" in refused.err


def test_a_key_that_cannot_be_written_keeps_its_times(dnsrig, key, monkeypatch, capsys):
    """As with `chattr +i`: the other key's change is told, and the files of this one do not differ."""
    fixed = key.with_name(dnsrig("keygen", "-K", key.parent, ORIGIN).out.strip())
    before = {path: path.read_bytes() for path in key.parent.glob(f"{fixed.name}.*")}
    replace = Path.replace

    def refusing(self, target):
        if target == fixed.with_name(f"{fixed.name}.private"):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(self), None, str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refusing)
    assert run_command_line(["settime", "-I", "20300101", str(key), str(fixed)]) == 3
    said = capsys.readouterr()
    assert said.out == f"{key}.key\n{key}.private\n"
    assert said.err == (
        f"dnsrig: {fixed}.private: cannot be replaced: Operation not permitted; the key has the times that it had\n"
    )
    assert {path: path.read_bytes() for path in before} == before
    assert read_pair(key).timing["Inactive"] == 1_893_456_000
    assert not list(key.parent.glob(".dnsrig-*"))


def test_what_the_system_does_not_permit_is_said(key, monkeypatch, capsys):
    def refusing(self):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(self))

    monkeypatch.setattr(Path, "read_bytes", refusing)
    assert run_command_line(["settime", str(key)]) == 3
    assert capsys.readouterr().err == f"dnsrig: {key}.private: Operation not permitted\n"


def test_another_settime_is_waited_for(key):
    private = key.with_name(f"{key.name}.private")
    command = [sys.executable, "-m", "dnsrig", "settime", "-I", "20300101", str(key)]
    with private.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert waiting.stderr.readline() == f"{private}: another settime works on it; waiting\n"
        files = read_pair(key)
        write_times(files, {**files.timing, "Delete": 1_900_000_000})
        fcntl.flock(held, fcntl.LOCK_UN)
        assert waiting.communicate(timeout=60) == (None, "") and waiting.returncode == 0
    times = read_pair(key).timing
    assert (times["Inactive"], times["Delete"]) == (1_893_456_000, 1_900_000_000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-I", "soon"], "'soon' is not a time"),
        (["-p", "X"], "'X' is not 'all' or some of"),
        (["-I", "now", "Knone.+013+00001"], "Knone.+013+00001: no such key"),
        (["-I", "now", "-K", "/none"], "does not exist"),
    ],
)
def test_what_is_wrong_is_said(dnsrig, key, arguments, message):
    """All keys are looked at before any is changed."""
    private = key.with_name(f"{key.name}.private")
    before = private.read_bytes()
    done = dnsrig("settime", key, *arguments)
    assert done.code == 2 and message in done.err, done.err
    assert private.read_bytes() == before


def test_damaged_and_missing_files(dnsrig, key):
    public, private = (key.with_name(f"{key.name}.{end}") for end in ("key", "private"))
    text = private.read_text()
    private.write_text(text.replace("Publish: 20", "Publish: 2099139925"[:12]).replace("v1.3", "v1.9"))
    assert "not a private key in BIND's format" in dnsrig("settime", key).err
    private.write_text(re.sub(r"Publish: \d+", "Publish: 20261399000000", text))
    assert re.search(r"\.private:\d+: Publish is not a time", dnsrig("settime", key).err)
    private.unlink()
    assert f"{private}: missing" in dnsrig("settime", "-I", "now", key).err
    private.write_text(text)
    public.write_text("nothing\n")
    assert dnsrig("settime", "-I", "now", key).code == 2


def test_odd_times_are_said(dnsrig, tmp_path):
    zsk = dnsrig("keygen", "-K", tmp_path, ORIGIN).out.strip()
    said = dnsrig("settime", "-K", tmp_path, zsk, "-R", "now+1d", "-I", "now-1d", "-P", "now+1d").err
    for part in ("Inactive is before Publish", "Activate is before Publish", "Revoke is for key-signing keys"):
        assert part in said
    (tmp_path / f"{zsk}.state").write_text("")
    assert "dnssec-policy goes by it" in dnsrig("settime", "-K", tmp_path, zsk, "-R", "none").err

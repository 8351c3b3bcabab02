"""`dnsrig sign` on its own output, by the eyes of validators: what must not be kept of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ORIGIN = "example.test"


def accepted(dnsrig, file):
    """Expect that dnssec-verify, ldns-verify-zone and dnsrig's own verifier accept `file`; skip if one is missing."""
    verified = dnsrig("zone", "verify", file)
    assert verified.code == 0, verified.out + verified.err
    for package, command in [
        ("bind9-utils", ["dnssec-verify", "-q", "-o", ORIGIN, file]),
        ("ldnsutils", ["ldns-verify-zone", file]),
    ]:
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed: install the Debian package {package}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"


@pytest.fixture
def bench(dnsrig, tmp_path):
    """A zone, and commands that make and use keys beside it."""
    zone = tmp_path / "zone"
    dnsrig("zone", "generate", zone, "-o", ORIGIN, "--records", 60, "--seed", 5)

    class Bench:
        signed = tmp_path / "signed"
        changes = tmp_path / "changes"

        def key(self, *options):
            done = dnsrig("keygen", "-K", tmp_path, *options, ORIGIN)
            assert done.code == 0, done.err
            return tmp_path / done.out.strip()

        def sign(self, *options, source=zone, code=0):
            done = dnsrig("sign", source, "-f", self.signed, "-K", tmp_path, *options)
            assert done.code == code, done.err
            return done.err

        def again(self, *options):
            self.sign(*options, source=self.signed)
            accepted(dnsrig, self.signed)

    return Bench()


@pytest.mark.parametrize("chain", [[], ["-3", "-"]])
def test_changes_and_a_new_serial_number(bench, chain):
    bench.key("-f", "KSK")
    bench.key()
    bench.sign(*chain)
    for changes in ("", f"+ new.{ORIGIN}. 60 IN A 192.0.2.1\n"):
        bench.changes.write_text(changes)
        bench.again(*chain, "-N", "increment", "--changes", bench.changes)


def test_changes_and_keys_that_come_and_go(bench):
    bench.key("-f", "KSK")
    bench.key()
    bench.sign()
    bench.changes.write_text("")
    further = bench.key("-A", "now+30d")
    bench.again("--changes", bench.changes)
    assert bench.signed.read_text().count(" IN DNSKEY ") == 3
    for suffix in ("key", "private"):
        file = Path(f"{further}.{suffix}")
        file.write_text(file.read_text().replace("Publish:", "Delete: 20200101000000\n; Publish:"))
    bench.again("--changes", bench.changes, "-N", "increment", "--cds")


def settime(key, *options):
    if shutil.which("dnssec-settime") is None:
        pytest.skip("dnssec-settime is not installed: install the Debian package bind9-utils")
    subprocess.run(["dnssec-settime", *options, key], check=True, capture_output=True, cwd=key.parent)


def test_a_revoked_key_leaves_the_zone(bench):
    revoked = bench.key("-f", "KSK", "-R", "now-1d")
    bench.key("-f", "KSK")
    bench.key()
    bench.sign()
    assert bench.signed.read_text().count(" IN DNSKEY 385 ") == 1
    settime(revoked, "-D", "now-1mi")
    bench.again()
    text = bench.signed.read_text()
    assert (text.count(" IN DNSKEY 385 "), text.count(" IN DNSKEY ")) == (0, 2)


def test_the_given_chain_must_stay_as_it_is(bench):
    bench.key("--csk")
    bench.changes.write_text("")
    for options in (["--changes", bench.changes], ["--cds"]):
        assert "--given-chain keeps the chain" in bench.sign("--given-chain", *options, code=2)
    assert "no chain of denial" in bench.sign("--given-chain", code=2)
    assert not bench.signed.exists()


def stamps(file, rtype):
    """Give the expirations of the signatures of `rtype` at the apex."""
    lines = [line.split() for line in file.read_text().splitlines()]
    return {fields[8] for fields in lines if fields[0] == f"{ORIGIN}." and fields[3:5] == ["RRSIG", rtype]}


def test_signatures_of_keys_may_end_at_another_time(bench):
    bench.key("-f", "KSK")
    bench.key()
    times = ["-s", "20300101", "-e", "20300201"]
    bench.sign(*times, "-X", "20300601", "--cds")
    for rtype, expected in [("DNSKEY", "06"), ("CDS", "06"), ("CDNSKEY", "06"), ("SOA", "02"), ("NS", "02")]:
        assert stamps(bench.signed, rtype) == {f"2030{expected}01000000"}, rtype
    bench.sign(*times, "-X", "20300601", "-j", "1d")
    assert stamps(bench.signed, "DNSKEY") != {"20300601000000"}
    assert "20300531" <= max(stamps(bench.signed, "DNSKEY")) <= "20300601000000"
    assert "-X soon: not a time" in bench.sign("-X", "soon", code=2)
    assert "which is not later" in bench.sign(*times, "-X", "20291231", code=2)


def test_jitter_and_interval_leave_something(bench):
    bench.key("-f", "KSK")
    bench.key()
    for options in (["-j", "28d"], ["-e", "now+30mi", "-j", "40mi"]):
        said = bench.sign(*options, code=2)
        assert "-j" in said and "-i" in said
    for options in (
        ["-j", "20d"],
        ["-i", "31d"],
        ["-s", "20200101", "-e", "now+1d"],
        ["-s", "20200101", "-e", "20200201"],
    ):
        bench.sign(*options)


def test_deletion_records_and_synchronised_keys(bench, tmp_path):
    bench.key("-f", "KSK", "--sync-publish", "now+1d")
    bench.key()
    zone = tmp_path / "insecure"
    deletion = f"{ORIGIN}. 60 IN CDS 0 0 0 00\n{ORIGIN}. 60 IN CDNSKEY 0 3 0 AA==\n"
    zone.write_text((tmp_path / "zone").read_text() + deletion)
    bench.sign(source=zone)
    bench.again()
    for line in deletion.splitlines():
        assert line.split(" IN ")[1] in bench.signed.read_text()
    assert "RFC 8078" in bench.sign("--cds", source=zone, code=2)


def test_all_keys_of_the_folder_or_chosen_ones(bench):
    key = bench.key("-f", "KSK")
    assert "leave out KEYS and -k" in bench.sign("-S", "-k", key, code=2)


def without_privileges():
    """Give what a command begins with so that the modes of folders hold for it, even if it is root's."""
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed: install the Debian package util-linux")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_new_keys_stay_when_the_zone_has_its_name(dnsrig, tmp_path):
    zone, keys, output = (tmp_path / name for name in ("zone", "keys", "output"))
    dnsrig("zone", "generate", zone, "-o", ORIGIN, "--records", 60)
    keys.mkdir()
    output.mkdir()
    # Files can be made in it, but it cannot be opened to bring it to disk.
    output.chmod(0o333)
    command = [sys.executable, "-m", "dnsrig", "sign", zone, "-f", output / "signed", "-K", keys]
    done = subprocess.run([*without_privileges(), *command], capture_output=True, text=True, check=False)
    output.chmod(0o777)
    assert done.returncode == 3 and "could not be brought to disk" in done.stderr, done.stderr
    assert len(list(keys.iterdir())) == 4
    accepted(dnsrig, output / "signed")


@pytest.mark.parametrize("chain", [[], ["-3", "-"], ["-3", "-", "-A"], ["-3", "c0ffee", "-H", "2"]])
def test_a_zone_keeps_its_chain(bench, chain):
    bench.key("-f", "KSK")
    bench.key()
    bench.sign(*chain)
    before = denials(bench.signed)
    bench.again("-N", "increment")
    assert denials(bench.signed) == before
    bench.changes.write_text(f"+ new.{ORIGIN}. 60 IN A 192.0.2.1\n")
    bench.again("--changes", bench.changes)
    after = denials(bench.signed)
    assert len(after) == len(before) + 1 and {kind for kind, *_ in after} == {kind for kind, *_ in before}
    bench.again("--nsec")
    assert {kind for kind, *_ in denials(bench.signed)} == {"NSEC"}


def denials(path):
    """List NSEC and NSEC3 records: type, and what all of a chain have in common."""
    found = []
    for line in path.read_text().splitlines():
        _, _, _, kind, *data = line.split()
        if kind == "NSEC":
            found.append((kind,))
        elif kind == "NSEC3":
            found.append((kind, *data[:4]))
    return found


def test_a_chain_that_cannot_be_told(bench, dnsrig, tmp_path):
    zone = tmp_path / "hinted"
    zone.write_text((tmp_path / "zone").read_text() + f"{ORIGIN}. 0 IN NSEC3PARAM 1 0 0 -\n")
    bench.key("-f", "KSK")
    bench.key()
    said = bench.sign(source=zone, code=2)
    assert "--nsec" in said and "-3" in said
    bench.sign("--nsec", source=zone)
    bench.sign("-3", "-", source=zone)


@pytest.mark.parametrize("flag", [["-f", "KSK"], []])
def test_a_key_that_is_not_published_yet_does_not_sign(bench, dnsrig, flag):
    other = [] if flag else ["-f", "KSK"]
    bench.key(*other)
    early = bench.key(*flag, "-P", "now+10d", "-A", "now")
    said = bench.sign()
    assert f"{early.name} is to sign already" in said
    done = dnsrig("zone", "verify", bench.signed, "--json")
    assert done.code == 0, done.out


def test_keys_of_which_none_is_published(bench):
    bench.key("-f", "KSK", "-P", "now+10d", "-A", "now")
    assert "publication" in bench.sign(code=2)


def test_a_revoked_key_alone_is_said(bench):
    bench.key("-f", "KSK", "-P", "now-2d", "-A", "now-2d", "-R", "now-1d")
    bench.key()
    assert "no key-signing key signs" in bench.sign()


def test_a_key_signing_key_that_signs_everything_is_said(bench):
    bench.key("-f", "KSK")
    bench.key("-I", "now-1d")
    assert "signs everything" in bench.sign()


def test_signings_of_one_file_come_one_after_another(bench, tmp_path):
    """None makes keys of its own besides, and none undoes what another did."""
    sign = [sys.executable, "-m", "dnsrig", "sign", "-f", str(bench.signed), "-K", str(tmp_path)]
    start = [*sign, str(tmp_path / "zone")]
    running = [subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        _, said = process.communicate()
        assert process.returncode == 0, said
    assert len(list(tmp_path.glob("K*.private"))) == 2
    again = [*sign, str(bench.signed)]
    running = []
    for number in range(3):
        changes = tmp_path / f"changes-{number}"
        changes.write_text(f"+ new{number}.{ORIGIN}. 60 IN A 192.0.2.1\n")
        running.append(subprocess.Popen([*again, "--changes", str(changes)], stderr=subprocess.PIPE, text=True))
    for process in running:
        _, said = process.communicate()
        assert process.returncode == 0, said
    text = bench.signed.read_text()
    assert all(f"new{number}.{ORIGIN}." in text for number in range(3))


def test_keys_and_inputs_are_not_overwritten(bench, dnsrig, tmp_path):
    key = bench.key("-f", "KSK")
    bench.key()
    private = key.with_name(f"{key.name}.private")
    before = private.read_bytes()
    zone = tmp_path / "zone"
    bench.changes.write_text("")
    bench.sign()
    for arguments in (
        ["sign", zone, "-K", tmp_path, "-f", private],
        ["zone", "sort", zone, "-f", private],
        ["zone", "generate", private],
        ["sign", bench.signed, "-K", tmp_path, "--changes", bench.changes, "-f", bench.changes],
    ):
        done = dnsrig(*arguments)
        assert done.code == 2 and "lost" in done.err
    assert private.read_bytes() == before and bench.changes.read_text() == ""
    numbered = tmp_path / "zone.1"
    numbered.write_bytes(zone.read_bytes())
    done = dnsrig("zone", "split", numbered, "-n", 2, "-f", zone)
    assert done.code == 2 and "itself" in done.err and numbered.read_bytes() == zone.read_bytes()


def test_a_private_key_that_others_can_read_is_said(bench):
    key = bench.key("-f", "KSK")
    bench.key()
    key.with_name(f"{key.name}.private").chmod(0o644)
    assert "chmod 600" in bench.sign()
    assert "chmod 600" in bench.sign(key)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_state_file(bench, make):
    """The zone is signed all the same, and nothing waits for it."""
    bench.key("-f", "KSK")
    bench.key()
    state = bench.signed.with_name(f"{bench.signed.name}.state")
    make(state)
    said = bench.sign()
    assert make is os.mkfifo or "state file" in said
    bench.again()

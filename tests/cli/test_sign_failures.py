"""`dnsrig sign` with keys that do not fit, and when it cannot finish: what it says, and that nothing is left behind."""

import contextlib
import os
import pty
import resource
import signal
import subprocess
import sys
import time

import pytest
from full_output import TARGETS, run_into
from waiting import WITHIN_S, wait_until

SMALL_FILE_OCTETS = 200_000


@pytest.fixture(scope="module")
def large_zone(dnsrig, tmp_path_factory):
    """A zone whose signing takes minutes with the keys beside it: RSA with 4096 bits."""
    folder = tmp_path_factory.mktemp("large")
    (folder / "keys").mkdir()
    dnsrig("zone", "generate", folder / "zone", "--model", "flat", "--names", 60_000, "--seed", 1)
    for flags in (["-f", "KSK"], []):
        dnsrig("keygen", "-a", "RSASHA256", "-b", 4096, "-K", folder / "keys", *flags, "example.test")
    return folder


def started(large_zone, output, *options):
    command = [sys.executable, "-m", "dnsrig", "sign", large_zone / "zone", "-K", large_zone / "keys", "-f", output]
    return subprocess.Popen([*map(str, command), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# An NSEC3 chain is signed when all is read.
@pytest.mark.parametrize("chain", [[], ["-3", "-"]])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_it_and_leaves_nothing(large_zone, tmp_path, number, chain):
    output = tmp_path / "signed"
    output.write_text("before\n")
    keys = contents(large_zone / "keys")
    with started(large_zone, output, *chain) as running:
        wait_until(lambda: any(path.name.startswith(".dnsrig-") for path in tmp_path.iterdir()), running)
        running.send_signal(number)
        sent = time.monotonic()
        _, err = running.communicate(timeout=WITHIN_S)
    # A second on a machine of its own; this one may have others on it.
    assert time.monotonic() - sent < 10
    left = [path.name for path in tmp_path.iterdir() if path != output]
    if number == signal.SIGKILL:
        assert all(name.startswith(".dnsrig-") for name in left)
    else:
        assert (running.returncode, err.strip(), left) == (130, "dnsrig: interrupted", [])
    assert output.read_text() == "before\n"
    assert contents(large_zone / "keys") == keys


def test_progress_on_a_terminal(large_zone, tmp_path):
    terminal, other_end = pty.openpty()
    command = [sys.executable, "-m", "dnsrig", "sign", large_zone / "zone", "-K", large_zone / "keys"]
    with subprocess.Popen([*map(str, command), "-f", tmp_path / "signed"], stderr=other_end) as running:
        os.close(other_end)
        printed = b""
        wait_until(lambda: any(tmp_path.iterdir()), running)
        while b"MB" not in printed:
            printed += os.read(terminal, 4096)
        running.send_signal(signal.SIGINT)
        # Until the other end is closed, what is printed has to go somewhere.
        with contextlib.suppress(OSError):
            while os.read(terminal, 4096):
                pass
    os.close(terminal)
    assert b"sign" in printed and running.returncode == 130
    assert list(tmp_path.iterdir()) == []


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_FILE_OCTETS, SMALL_FILE_OCTETS))


def test_a_full_disk_leaves_nothing(large_zone, tmp_path):
    output = tmp_path / "signed"
    output.write_text("before\n")
    command = [sys.executable, "-m", "dnsrig", "sign", large_zone / "zone", "-f", output]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, preexec_fn=limit_files)
    assert done.returncode == 3, done.stderr
    assert f"{output}: cannot write the zone file: File too large" in done.stderr
    # No new keys either: nothing was signed with them.
    assert contents(tmp_path) == {"signed": b"before\n"}


@pytest.mark.parametrize(("target", "code"), TARGETS)
def test_standard_output_that_takes_no_more(large_zone, tmp_path, target, code):
    command = [sys.executable, "-m", "dnsrig", "sign", large_zone / "zone", "-f", "-", "-K", tmp_path]
    done = run_into(target, command)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def refused(dnsrig, folder, arguments, *parts):
    """Expect exit code 2, a message with all `parts`, and nothing new in `folder`."""
    before = contents(folder)
    done = dnsrig("sign", *arguments, cwd=folder)
    assert done.code == 2, done.err
    for part in parts:
        assert part in done.err, done.err
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("keygen", "said"),
    [
        (["-I", "now-1d", "-A", "now-2d", "example.test"], [".private:", "does not sign at", "Inactive"]),
        (["-A", "now+1d", "example.test"], [".private:", "does not sign at", "Activate"]),
        (["other.test"], [".key:", "is for other.test., not for the zone example.test."]),
        (["sub.example.test"], ["is for sub.example.test., not for the zone example.test."]),
        (["-a", "RSASHA1", "-b", "1024", "--allow-sha1", "example.test"], ["SHA-1"]),
    ],
)
def test_keys_that_do_not_fit(dnsrig, small_zone, tmp_path, keygen, said):
    name = dnsrig("keygen", *keygen, cwd=tmp_path).out.strip()
    refused(dnsrig, tmp_path, [small_zone, name, "-f", "signed"], *said)


def test_damaged_keys(dnsrig, small_zone, tmp_path):
    name = dnsrig("keygen", "example.test", cwd=tmp_path).out.strip()
    arguments = [small_zone, name, "-f", "signed", "-K", tmp_path]
    public = tmp_path / f"{name}.key"
    text = public.read_text()
    public.write_text(text.replace("DNSKEY 256 ", "DNSKEY 0 "))
    refused(dnsrig, tmp_path, arguments, f"{name}.key:", "zone key flag")
    public.unlink()
    refused(dnsrig, tmp_path, arguments, f"{name}.key", "missing")
    public.write_text(text)
    (tmp_path / f"{name}.private").write_text("Private-key-format: v1.3\n")
    refused(dnsrig, tmp_path, arguments, f"{name}.private")
    refused(dnsrig, tmp_path, [small_zone, "-f", "signed", "-K", tmp_path], f"{name}.private")
    refused(dnsrig, tmp_path, [small_zone, "Knone.+013+00001", "-f", "signed"], "Knone.+013+00001")


def test_a_folder_whose_keys_do_not_sign_now(dnsrig, small_zone, tmp_path):
    dnsrig("keygen", "-A", "now+1d", "example.test", cwd=tmp_path)
    refused(dnsrig, tmp_path, [small_zone, "-f", "signed", "-K", tmp_path], "does not sign at", "Activate")


def test_keys_without_private_part_are_left_aside(dnsrig, small_zone, tmp_path):
    names = [dnsrig("keygen", *flags, "example.test", cwd=tmp_path).out.strip() for flags in (["-f", "KSK"], [])]
    (tmp_path / f"{names[0]}.private").unlink()
    done = dnsrig("sign", small_zone, "-f", tmp_path / "signed", "-K", tmp_path)
    assert done.code == 0 and f"{names[0]}.key: without its private key" in done.err


def test_a_zone_signed_by_keys_that_are_not_at_hand(dnsrig, small_zone, tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    signed = tmp_path / "signed"
    assert dnsrig("sign", small_zone, "-f", signed, "-K", "old", "--cds", cwd=tmp_path).code == 0
    arguments = [signed, "-f", "again", "-K", "new"]
    refused(dnsrig, tmp_path / "new", [signed, "-f", "again"], "whose private key is not at hand", "new keys")
    key = dnsrig("keygen", "-a", "ED25519", "-K", "new", "example.test", cwd=tmp_path).out.strip()
    refused(dnsrig, tmp_path / "new", [signed, key, "-f", "again"], "no key of this algorithm signs", "section 2.2")
    (tmp_path / "new" / f"{key}.key").unlink()
    (tmp_path / "new" / f"{key}.private").unlink()
    assert dnsrig("sign", *arguments, "--new-keys", cwd=tmp_path).code == 0
    text = (tmp_path / "again").read_text()
    assert (text.count(" IN DNSKEY "), text.count(" IN CDS ")) == (2, 0)
    assert dnsrig("zone", "verify", tmp_path / "again").code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-s", "soon"], "-s soon: not a time"),
        (["-e", "20300231"], "no such day"),
        (["-e", "now+99y"], "more than 68 years"),
        (["-s", "now", "-e", "now-1"], "which is not later"),
        (["-j", "31d"], "which is not later"),
        (["-j", "often"], "-j often: not a duration"),
        (["-i", "-5"], "-i -5: not a duration"),
        (["-n", "0"], "-n"),
        (["-N", "random"], "'random'"),
        (["-3", "abc"], "abc is not a salt"),
        (["-3", "ab" * 256], "256 octets"),
        (["-A"], "need NSEC3"),
        (["--given-chain", "-3", "-"], "leave out -3"),
        (["-j", "29d"], "smaller -j or -i"),
        (["-K", "/nowhere"], "no such folder"),
        (["-a", "DSA"], "DSA is not supported"),
        (["-a", "RSASHA1"], "SHA-1"),
        (["--memory", "lots"], "no size"),
        (["-o", "other.test"], "the file is the zone example.test."),
        (["--json", "-f", "-"], "either the zone or the JSON object"),
    ],
)
def test_options_that_do_not_fit(dnsrig, small_zone, tmp_path, options, said):
    refused(dnsrig, tmp_path, [small_zone, "-f", "signed", *options], said)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("a 60 IN CNAME b\na 60 IN A 192.0.2.1\n", ":4:"),
        ("a.other. 60 IN A 192.0.2.1\n", ":3:"),
        ("a 60 IN A 192.0.2\n", ":3:"),
        ("sub 60 IN SOA ns host 1 2 3 4 5\n", ":3:"),
        ("a 60 IN TXT (\n", ":3:"),
    ],
)
def test_zones_that_are_none(dnsrig, tmp_path, lines, said):
    (tmp_path / "bad.db").write_text(f"$ORIGIN z.test.\n@ 60 IN SOA ns host 1 2 3 4 5\n{lines}")
    refused(dnsrig, tmp_path, ["bad.db"], f"bad.db{said}")

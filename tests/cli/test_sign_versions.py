"""`dnsrig sign` as time goes by: new versions of a zone, keys that come and go, times that are not now."""

import re
import resource
import subprocess
import sys

import pytest
from dnsrig.cli.app import run_command_line

ORIGIN = "example.test."
NEW = f"new.{ORIGIN} 60 IN A 192.0.2.1\n"


@pytest.fixture
def bench(small_zone, tmp_path, capsys):
    """Give commands that sign a zone with keys beside it, in this process."""

    class Bench:
        zone = tmp_path / "zone"
        signed = tmp_path / "signed"
        err = ""

        def run(self, *arguments, code=0):
            capsys.readouterr()
            result = run_command_line([str(argument) for argument in arguments])
            printed, self.err = capsys.readouterr()
            assert result == code, printed + self.err
            return printed

        def key(self, *options):
            return self.run("keygen", "-a", "ED25519", "-K", tmp_path, *options, ORIGIN).strip()

        def sign(self, *options, source=zone, code=0):
            return self.run("sign", source, "-f", self.signed, "-K", tmp_path, *options, code=code)

        def signers(self, rtype):
            lines = [line.split() for line in self.signed.read_text().splitlines()]
            return {int(fields[10]) for fields in lines if fields[3:5] == ["RRSIG", rtype]}

    bench = Bench()
    bench.zone.write_text(small_zone.read_text())
    return bench


@pytest.mark.parametrize("chain", [[], ["-3", "-"]])
def test_a_new_export_with_the_signatures_of_the_last(bench, tmp_path, chain):
    bench.key("-f", "KSK")
    bench.key()
    times = ["-s", "20200101", "-e", "20500101"]
    bench.sign(*chain, *times)
    before = bench.signed.read_text().count(" IN RRSIG ")
    soa, rest = bench.zone.read_text().split("\n", 1)
    serial = soa.split()[6]
    soa = soa.replace(f" {serial} ", f" {int(serial) + 1} ")
    # As it comes out of a database: in no order.
    bench.zone.write_text("\n".join([soa, *sorted(rest.splitlines(), key=lambda line: line[::-1]), NEW]))
    printed = bench.sign("--previous", bench.signed, *times)
    assert f"{before - 2} kept (0 verified)" in printed or f"{before - 3} kept (0 verified)" in printed, printed
    assert bench.err == ""
    again = bench.signed.read_text()
    bench.sign(*chain, *times)
    assert bench.signed.read_text() == again
    assert "no fault" in bench.run("zone", "verify", bench.signed)
    bench.zone.write_text(bench.zone.read_text().replace("new.", "newer."))
    bench.sign("--previous", bench.signed, *times)
    assert "secondaries do not take the zone" in bench.err
    for options in (["--changes", bench.zone], ["--given-chain"]):
        bench.sign("--previous", bench.signed, *options, code=2)
        assert "--previous" in bench.err


def test_changes_from_standard_input(bench, dnsrig, tmp_path):
    bench.sign()
    arguments = ["sign", "-K", tmp_path, "-f", bench.signed, "--changes", "-"]
    done = dnsrig(*arguments, bench.signed, stdin=f"+ {NEW}")
    assert (done.code, "4 made" in done.out or "3 made" in done.out) == (0, True), done.out + done.err
    assert NEW in bench.signed.read_text()
    done = dnsrig(*arguments, "-o", ORIGIN, "-", stdin=f"+ {NEW}")
    assert (done.code, "either the zone or its changes" in done.err) == (2, True), done.err
    done = dnsrig(*arguments, bench.signed, stdin=f"; of the database\n- {NEW}- {NEW.replace(' A ', ' RRSIG A ')}")
    assert (done.code, "-:3:" in done.err) == (2, True), done.err


def test_another_time_than_now(bench):
    bench.key("-f", "KSK")
    first, second = bench.key("-I", "20310101"), bench.key("-A", "20310101")
    bench.sign("--now", "20300101120000", "-j", "0")
    assert " 20300131110000 20300101110000 " in bench.signed.read_text()
    assert bench.signers("SOA") == {int(first[-5:])}
    assert "the signatures begin at 20300101110000 (-s), in the future" in bench.err
    bench.sign("--now", "20310102")
    assert bench.signers("SOA") == {int(second[-5:])}
    bench.sign("--now", "20200101", code=2)
    assert "does not sign at 20200101000000" in bench.err
    bench.sign("--now", "soon", code=2)
    assert "--now soon: not a time" in bench.err
    bench.sign("-s", "now+1h")
    assert "in the future" in bench.err
    bench.sign("-s", "now-1h")
    assert bench.err == ""


def test_the_roll_of_a_key_whose_end_is_known(bench):
    bench.key("-f", "KSK")
    old = bench.key("-I", "now+10d", "-D", "now+60d")
    new = bench.key("-A", "now+10d")
    bench.sign()
    printed = bench.sign("--now", "now+11d", source=bench.signed)
    assert ": 0 made" in printed
    assert bench.signers("SOA") == {int(old[-5:])}
    # What comes is signed by the next key, and so is what is about to end.
    bench.signed.write_text(bench.signed.read_text() + NEW)
    bench.sign("--now", "now+11d", source=bench.signed)
    assert bench.signers("A") == {int(old[-5:]), int(new[-5:])}
    assert "no fault" in bench.run("zone", "verify", bench.signed, "--now", "now+11d")
    bench.sign("--now", "now+25d", source=bench.signed)
    assert bench.signers("SOA") == bench.signers("A") == {int(new[-5:])}


def test_the_roll_of_a_key_that_may_go_at_any_time(bench):
    bench.key("-f", "KSK")
    bench.key("-I", "now+10d")
    new = bench.key("-A", "now+10d")
    bench.sign()
    bench.sign("--now", "now+11d", source=bench.signed)
    assert bench.signers("SOA") == bench.signers("A") == {int(new[-5:])}


def test_a_key_signing_key_that_is_offline(bench, tmp_path):
    """Its signature stays while the DNSKEY RRset does; else the zone is not signed."""
    ksk = bench.key("-f", "KSK")
    bench.key()
    first = bench.sign("-X", "now+90d")
    ds = [line for line in first.splitlines() if " IN DS " in line]
    for suffix in ("key", "private"):
        (tmp_path / f"{ksk}.{suffix}").unlink()
    printed = bench.sign("-N", "increment", "--now", "now+25d", source=bench.signed)
    assert bench.signers("DNSKEY") == {int(ksk[-5:])}
    assert [line for line in printed.splitlines() if " IN DS " in line] == ds
    assert f"{ksk}: KSK, its private key is not at hand" in printed
    assert "signs all but the DNSKEY RRset" in printed
    assert "no fault" in bench.run("zone", "verify", bench.signed, "--now", "now+25d", "--ds", ds[0])
    text = bench.signed.read_text()
    bench.sign("--now", "now+85d", source=bench.signed, code=2)
    assert f"key-signing key with tag {int(ksk[-5:])}, whose private key is not at hand" in bench.err
    assert "refresh interval" in bench.err
    bench.key()
    bench.sign(source=bench.signed, code=2)
    assert "does not fit the records" in bench.err
    assert bench.signed.read_text() == text


def test_the_end_of_an_algorithm(bench):
    """Its last keys sign until they leave the zone."""
    old = [bench.key(*role, "-I", "now+10d", "-D", "now+20d") for role in (["-f", "KSK"], [])]
    new = [bench.key(*role, "-a", "ECDSAP256SHA256") for role in (["-f", "KSK"], [])]
    tags = [int(key[-5:]) for key in old + new]
    bench.sign()
    printed = bench.sign("--now", "now+11d", "-i", "40d", "--cds", source=bench.signed)
    assert bench.signers("DNSKEY") == {tags[0], tags[2]}
    assert bench.signers("SOA") == {tags[1], tags[3]}
    assert [f"{key} is inactive, but signs until" in bench.err for key in old] == [True, True]
    assert f"{old[1]}: ZSK, ED25519, signs all but the DNSKEY RRset" in printed
    assert bench.signed.read_text().count(" IN CDS ") == 1
    assert "no fault" in bench.run("zone", "verify", bench.signed, "--now", "now+11d")
    bench.sign("--now", "now+21d", source=bench.signed)
    assert bench.signers("SOA") == {tags[3]}
    assert "inactive" not in bench.err
    assert "no fault" in bench.run("zone", "verify", bench.signed, "--now", "now+21d")
    # Where nothing else signs, the zone is not signed.
    for key in new:
        for suffix in ("key", "private"):
            (bench.signed.parent / f"{key}.{suffix}").unlink()
    bench.sign("--now", "now+11d", code=2)
    assert "does not sign at" in bench.err


def test_a_pipe_cannot_be_read_twice(bench, dnsrig):
    bench.key("-f", "KSK")
    bench.sign("-3", "-")
    options = ["-K", bench.signed.parent, "-f", f"{bench.signed}.2", "-o", ORIGIN]
    done = dnsrig("sign", *options, "-", stdin=bench.signed.read_text())
    assert (done.code, "this is not a regular file" in done.err) == (2, True), done.err


def test_what_will_not_do(bench):
    bench.zone.write_text(bench.zone.read_text() + f"*.wild.{ORIGIN} 60 IN NS ns.other.\n")
    bench.sign("-3", "-", "-H", "150")
    warnings = bench.err.splitlines()
    assert "150 additional iterations" in warnings[0] and f"{bench.zone}:" in warnings[1], warnings
    assert len(warnings) == 2 and "wildcard" in warnings[1], warnings


def test_digests_are_verified(bench):
    bench.sign("--zonemd", "sha384")
    assert ", digest by SHA384; no fault" in bench.run("zone", "verify", bench.signed)
    text = bench.signed.read_text()
    bench.signed.write_text(text.replace(" IN ZONEMD 2", " IN ZONEMD 1"))
    found = bench.run("zone", "verify", bench.signed, code=1)
    assert "ZONEMD: the ZONEMD record has the serial" in found
    assert "digest by" not in found.splitlines()[-1]
    # An unknown kind is not a fault, though here the signature is of another record.
    bench.signed.write_text(re.sub(r" (IN ZONEMD \d+ 1) 1 ", r" \1 240 ", text))
    found = bench.run("zone", "verify", bench.signed, code=1)
    assert "with hash algorithm 240 of the ZONEMD record is unknown" in bench.err
    assert all("signature" in line for line in found.splitlines()[:-1])


def few_threads():
    octets = 400 << 20
    resource.setrlimit(resource.RLIMIT_AS, (octets, octets))


def test_threads_that_cannot_be_started(bench, tmp_path):
    bench.sign()
    for command in (
        ["sign", bench.zone, "-K", tmp_path, "-f", tmp_path / "out"],
        ["zone", "sort", bench.zone, "-f", tmp_path / "out"],
        ["zone", "verify", bench.signed],
    ):
        with_threads = [sys.executable, "-m", "dnsrig", *command, "--threads", "1024"]
        done = subprocess.run(
            [*map(str, with_threads)], capture_output=True, text=True, check=False, preexec_fn=few_threads
        )
        assert done.returncode == 3, done.stderr
        assert "cannot start 1024 threads" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()

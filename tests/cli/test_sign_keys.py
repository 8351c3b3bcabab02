"""What `dnsrig sign` says of keys, and rolls of keys as the guide has them."""

import contextlib
import json
import subprocess

import dns.rdata
import pytest
from dnsrig import _core
from dnsrig.cli import sign
from dnsrig.cli.app import run_command_line
from dnsrig.cli.sign_summary import serial_doubt
from dnsrig.key_files import read_pair, write_times
from dnsrig.key_life import timing_warnings
from other_programs import need

ORIGIN = "example.test"
DAY_S = 86_400
NOW_S = 1_800_000_000


class Bench:
    """A zone, its keys in a folder, and commands on them."""

    def __init__(self, capsys, folder):
        self.capsys = capsys
        self.keys = folder / "keys"
        self.keys.mkdir()
        self.signed = folder / "signed"
        self.zone = folder / "zone"
        self.run("zone", "generate", self.zone, "-o", ORIGIN, "--records", 60, "--seed", 5)

    def run(self, *arguments, code=0):
        """Run `dnsrig` in this process; give what it prints."""
        self.capsys.readouterr()
        result = run_command_line([str(argument) for argument in arguments])
        printed = self.capsys.readouterr()
        assert result == code, printed.err
        return printed

    def key(self, *options):
        """Make a key and give its name."""
        return self.run("keygen", "-K", self.keys, *options, ORIGIN).out.strip()

    def sign(self, *options, source=None, code=0):
        """Sign; give what came of it."""
        return self.run("sign", source or self.zone, "-f", self.signed, "-K", self.keys, *options, code=code)

    def shift(self, days):
        """Let `days` pass for the keys."""
        for public in self.keys.glob("K*.key"):
            files = read_pair(public.with_name(public.stem))
            write_times(files, {event: at - days * DAY_S for event, at in files.timing.items()})

    def tags(self, rtype):
        """Give the tags of the apex' DNSKEY records, or of the keys that sign its RRset of `rtype`."""
        lines = [line.split() for line in self.signed.read_text().splitlines() if line.startswith(f"{ORIGIN}. ")]
        return {int(words[10]) for words in lines if words[3:5] == ["RRSIG", rtype]}

    def dnskey_tags(self):
        """Give the tags of the DNSKEY records."""
        need("dnssec-dsfromkey", "bind9-utils")
        command = ["dnssec-dsfromkey", "-A", "-f", self.signed, ORIGIN]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return {int(line.split()[3]) for line in done.stdout.splitlines()}


@pytest.fixture
def bench(capsys, tmp_path):
    """Give the bench."""
    return Bench(capsys, tmp_path)


def test_a_line_on_each_key(bench):
    made = {
        "signs the DNSKEY RRset": bench.key("-f", "KSK"),
        "signs all but the DNSKEY RRset": bench.key("-P", "now-9d", "-A", "now-9d"),
        "has no time of publication, so it is not used": bench.key("-G"),
        "published only": bench.key("-A", "none"),
        "published only, signs from 2": bench.key("-A", "now+9d"),
        "published only, inactive since 2": bench.key("-P", "now-9d", "-A", "now-9d", "-I", "now-2d"),
        "not published until 2": bench.key("-P", "now+1d", "-A", "now+9d"),
        "deleted since 2": bench.key("-P", "now-9d", "-A", "now-9d", "-I", "now-8d", "-D", "now-1d"),
        "revoked since 2": bench.key("-f", "KSK", "-P", "now-9d", "-A", "now-9d", "-R", "now-1d"),
    }
    done = bench.sign()
    lines = done.out.splitlines()[1:-1]
    assert len(lines) == len(made) and not done.err
    for words, name in made.items():
        line = next(line for line in lines if line.startswith(f"{name}: "))
        role = "KSK" if words.startswith(("signs the", "revoked")) else "ZSK"
        assert line.startswith(f"{name}: {role}, ECDSAP256SHA256, {words}"), line
    states = {state["file_name"]: state for state in json.loads(bench.sign("--json").out)["key_states"]}
    assert {name: states[name]["state"] for name in states} == dict(
        zip(
            made.values(),
            ["signs", "signs", "unused", "published", "published", "inactive", "waiting", "deleted", "revoked"],
            strict=True,
        )
    )
    revoked = states[made["revoked since 2"]]
    assert revoked["signs"] == ["key"] and revoked["tag"] in bench.tags("DNSKEY")


def test_new_keys_are_named(bench):
    lines = bench.sign().out.splitlines()
    names = {path.stem for path in bench.keys.glob("*.key")}
    assert {line.split(":")[0] for line in lines[1:3]} == names
    assert all(f"new, its files are in {bench.keys}, signs " in line for line in lines[1:3])
    assert json.loads(bench.sign("--chain-only", "--json").out)["key_states"] == []


def test_new_rsa_keys_have_2048_bits(bench):
    bench.sign("-a", "RSASHA256")
    records = [path.read_text().split("DNSKEY")[1] for path in bench.keys.glob("*.key")]
    keys = [dns.rdata.from_text("IN", "DNSKEY", text).key for text in records]
    # Behind the length of the exponent and the exponent stands the modulus (RFC 3110 section 2).
    assert [8 * (len(key) - 1 - key[0]) for key in keys] == [2048, 2048]


def test_a_key_alone_signs_everything(bench):
    bench.key("--csk")
    assert "KSK, ECDSAP256SHA256, signs everything\n" in bench.sign().out


def test_an_algorithm_whose_keys_do_not_sign_needs_no_warning(bench):
    """Nothing signs everything then, as a warning had it."""
    for times in (["-P", "now+9d", "-A", "now+9d"], ["-P", "now-9d", "-A", "now-9d", "-D", "now-1d"]):
        for flags in (["-f", "KSK"], []):
            bench.key("-a", "ED25519", *flags, *times)
    bench.key("-f", "KSK")
    bench.key()
    assert bench.sign().err == ""


def test_keys_that_have_the_revoke_flag(bench):
    """As those of `dnssec-keygen -f REVOKE`, which have no time of revocation."""
    need("dnssec-keygen", "bind9-utils")
    ksk = bench.key("-f", "KSK")
    bench.key()

    def revoked(*times):
        command = ["dnssec-keygen", "-q", "-a", "13", "-f", "KSK", "-f", "REVOKE", *times, "-K", bench.keys, ORIGIN]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    now, later = revoked(), revoked("-P", "now+9d", "-A", "now+9d")
    lines = bench.sign().out.splitlines()
    assert f"{now}: KSK, ECDSAP256SHA256, revoked, signs the DNSKEY RRset" in lines
    assert any(line.startswith(f"{later}: KSK, ECDSAP256SHA256, not published until 2") for line in lines)
    states = {state["file_name"]: state for state in json.loads(bench.sign("--json").out)["key_states"]}
    assert (states[now]["state"], states[now]["since_s"]) == ("revoked", None)
    assert states[now]["tag"] in bench.tags("DNSKEY")
    assert "has the REVOKE flag" in bench.sign(now, ksk).err
    for file in bench.keys.glob(f"{ksk}.*"):
        file.unlink()
    assert "no key-signing key signs at present" in bench.sign().err


def test_the_time_is_that_after_waiting_for_others(bench, monkeypatch):
    done = []

    @contextlib.contextmanager
    def waiting(files, _other):
        assert list(files) == [bench.zone, bench.zone]
        done.append("waited")
        yield
        done.append("signed")

    def present():
        done.append("looked at the clock")
        return NOW_S

    monkeypatch.setattr(sign, "alone_with", waiting)
    monkeypatch.setattr(sign, "present_s", present)
    bench.sign("--previous", bench.zone)
    assert done == ["waited", "looked at the clock", "signed"]


def test_keys_that_are_named_sign_as_they_are(bench):
    revoked = bench.key("-f", "KSK", "-P", "now-9d", "-A", "now-9d", "-R", "now-1d")
    later = bench.key("-f", "KSK", "-P", "now+9d")
    assert f"{revoked}: its time Revoke is 2" in bench.sign(revoked, code=2).err
    assert f"{later} is not to be published yet" in bench.sign(later).err
    gone = bench.key("-f", "KSK", "-P", "now-9d", "-A", "now-9d", "-D", "now-1d")
    assert "its time Delete is 2" in bench.sign(gone, code=2).err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["-j", "31d"], 2, "-j: signatures would begin at 20"),
        (["-X", "now-1d"], 2, "-X: signatures would begin at 20"),
        (["-e", "now-1d"], 2, "-e: signatures would begin at 20"),
        (["-s", "now-9d", "-e", "now-1d"], 0, "warning: -e: signatures end at 20"),
        (["-s", "now-9d", "-X", "now-1d"], 0, "warning: -X: signatures end at 20"),
        (["-3", "-A"], 2, "-3 takes a salt, and -A is an option: write '-3 -'"),
    ],
)
def test_times_and_salts_that_are_wrong(bench, options, code, said):
    assert said in bench.sign(*options, code=code).err


def test_serial_numbers_that_are_ahead():
    now_s = 1_800_000_000  # 2027-01-15
    assert serial_doubt("unixtime", now_s, now_s) is None
    assert serial_doubt("date", 2027011507, now_s) is None
    assert serial_doubt("keep", 7, now_s) is None and serial_doubt("increment", 7, now_s) is None
    assert "2027011507 already" in serial_doubt("unixtime", 2027011508, now_s)
    assert "2027011599 already" in serial_doubt("date", 2027011600, now_s)
    assert "4294967295 already" in serial_doubt("unixtime", 0, now_s)


def keys_of(*timings):
    """Make keys with these roles and times, in days from NOW_S."""
    keys = _core.KeySet()
    for role, days in timings:
        times = {event: None if day is None else NOW_S + int(day * DAY_S) for event, day in days.items()}
        keys.generate(ORIGIN, "ED25519", None, role, timing={"Created": None, **times})
    return keys


OLD = {"Publish": -90, "Activate": -90}
FIRST = ("zsk", OLD)
KSK = ("ksk", OLD)


@pytest.mark.parametrize(
    ("timings", "said"),
    [
        # Keys of a new zone, made one after another.
        ([("ksk", {"Publish": -0.001, "Activate": -0.001}), ("zsk", {"Publish": 0, "Activate": 0})], []),
        # Pre-publication: long enough, not long enough, planned so, and long ago.
        ([("zsk", {**OLD, "Inactive": 2}), ("zsk", {"Publish": 0, "Activate": 2})], []),
        ([("zsk", {**OLD, "Inactive": 0.5}), ("zsk", {"Publish": 0, "Activate": 0.5})], [1]),
        ([("zsk", {**OLD, "Inactive": 7.5}), ("zsk", {"Publish": 7, "Activate": 7.5})], [1]),
        ([("zsk", {**OLD, "Inactive": -4}), ("zsk", {"Publish": -4, "Activate": -4})], []),
        # Both sign until the new one is known (double signature).
        ([("zsk", {**OLD, "Inactive": 1}), ("zsk", {"Publish": 0, "Activate": 0})], []),
        ([("zsk", {**OLD, "Inactive": 0.9}), ("zsk", {"Publish": 0, "Activate": 0})], [1]),
        # A zone-signing key beside a key that signed all so far, which then signs the keys alone.
        ([KSK, ("zsk", {"Publish": 0, "Activate": 0})], [1]),
        ([KSK, ("zsk", {"Publish": 0, "Activate": 1})], []),
        # A second key-signing key: the DNSKEY RRset comes with it.
        ([KSK, FIRST, ("ksk", {"Publish": 0, "Activate": 0})], []),
        # Leaving while signatures are cached, for three days here; in time; unless others made all signatures too.
        ([("zsk", {**OLD, "Inactive": -1, "Delete": 1}), ("zsk", {"Publish": -9, "Activate": -1})], [0]),
        ([("zsk", {**OLD, "Delete": 1}), ("zsk", {"Publish": -9, "Activate": -1})], [0]),
        ([("zsk", {**OLD, "Inactive": -1, "Delete": 2}), ("zsk", {"Publish": -9, "Activate": -1})], []),
        ([("zsk", {**OLD, "Inactive": -1, "Delete": 1}), FIRST], []),
        ([("zsk", {**OLD, "Inactive": -9, "Delete": -8}), ("zsk", {"Publish": -90, "Activate": -9})], []),
        # One that never signed.
        ([FIRST, ("zsk", {"Publish": -9, "Activate": None, "Delete": 0})], []),
    ],
)
def test_times_that_leave_gaps(timings, said):
    keys = keys_of(*timings)
    warnings = timing_warnings(keys, NOW_S, DAY_S, 3 * DAY_S)
    assert [warning.split()[0] for warning in warnings] == [keys.file_names[index] for index in said]


def accepted(bench, ds):
    """Expect that validators accept the zone by the DS record `ds`."""
    bench.run("zone", "verify", bench.signed, "--ds", ds)
    need("dnssec-verify", "bind9-utils")
    subprocess.run(["dnssec-verify", "-q", "-o", ORIGIN, bench.signed], check=True, capture_output=True)


def test_a_roll_of_the_zone_signing_key(bench):
    """At each step, resolvers with the keys of the step before validate the new signatures, and the other way round."""
    ksk, old = bench.key("-f", "KSK"), bench.key()
    bench.shift(90)
    bench.sign()
    ds = bench.run("ds", "-K", bench.keys, ksk).out.strip()
    new = bench.key("-A", "now+2d")
    bench.run("settime", "-K", bench.keys, "-I", "now+2d", "-D", "now+4d", old)
    signers, dnskeys = [bench.tags("SOA")], [bench.dnskey_tags()]
    for _ in range(3):
        # Signed beside, as each step is a day or two after the one before.
        done = bench.sign("-N", "increment", source=bench.signed)
        assert not done.err
        accepted(bench, ds)
        signers.append(bench.tags("SOA"))
        dnskeys.append(bench.dnskey_tags())
        bench.shift(2)
    for before in range(3):
        assert signers[before] & dnskeys[before + 1] and signers[before + 1] & dnskeys[before]
    assert signers[-1] == {int(new[-5:])} and dnskeys[-1] == {int(new[-5:]), int(ksk[-5:])}


def test_a_roll_of_the_key_signing_key(bench):
    old = bench.key("-f", "KSK")
    bench.key()
    bench.shift(90)
    bench.sign()
    new = bench.key("-f", "KSK")
    old_ds, new_ds = (bench.run("ds", "-K", bench.keys, name).out.strip() for name in (old, new))
    bench.sign("-N", "increment", source=bench.signed)
    accepted(bench, old_ds)
    accepted(bench, new_ds)
    bench.shift(3)
    bench.run("settime", "-K", bench.keys, "-I", "now", "-D", "now", old)
    bench.sign("-N", "increment", source=bench.signed)
    accepted(bench, new_ds)
    assert int(old[-5:]) not in bench.dnskey_tags()

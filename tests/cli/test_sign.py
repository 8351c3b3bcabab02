"""`dnsrig sign` by the eyes of validators: every algorithm, chain and model of zone; keys by their times; by pieces."""

import json
import shutil
import subprocess
import time

import pytest
from dnsrig.cli.app import run_command_line
from other_programs import need, validators

ALGORITHMS = {
    "rsa1024": ["-a", "RSASHA256", "-b", "1024"],
    "rsa1280": ["-a", "RSASHA256", "-b", "1280"],
    "rsa1584": ["-a", "RSASHA256", "-b", "1584"],
    "rsa2048": ["-a", "RSASHA256", "-b", "2048"],
    "rsasha512": ["-a", "RSASHA512", "-b", "1024"],
    "p256": ["-a", "ECDSAP256SHA256"],
    "p384": ["-a", "ECDSAP384SHA384"],
    "ed25519": ["-a", "ED25519"],
}
CHAINS = {"nsec": [], "nsec3": ["-3", "-"], "salted": ["-3", "a1b2", "-H", "3"], "opt-out": ["-3", "-", "-A"]}
MODELS = {
    "small": ("example.test.", ["--records", "60"]),
    "enterprise": ("example.test.", ["--names", "80"]),
    "flat": ("example.test.", ["--names", "40"]),
    "tld": ("xa.", ["--names", "60", "--signed-share", "0.3"]),
    "reverse": ("10.in-addr.arpa.", ["--names", "60"]),
}
DAY_S = 86_400


def accepted(origin, file):
    """Expect that every validator, and dnsrig's own, accepts `file`."""
    assert run_command_line(["zone", "verify", str(file)]) == 0
    for package, command in validators(origin, file):
        need(command[0], package)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"


@pytest.fixture
def command(capsys):
    """Run `dnsrig` in this process, for tests of many small commands; give what it prints, as JSON where it is."""

    def run(*arguments, code=0, out=False):
        capsys.readouterr()
        result = run_command_line([str(argument) for argument in arguments])
        printed, err = capsys.readouterr()
        assert result == code, err
        if code != 0 and not out:
            return err
        return json.loads(printed) if "--json" in arguments else printed

    return run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make zones and keys once for all tests."""
    folder = tmp_path_factory.mktemp("made")
    known = {}

    def zone(model):
        origin, options = MODELS[model]
        file = folder / f"{model}.zone"
        if not file.exists():
            run_command_line(["zone", "generate", str(file), "--model", model, "-o", origin, "--seed", "3", *options])
        return origin, file

    def keys(algorithm, origin):
        if (algorithm, origin) not in known:
            here = folder / f"{algorithm}-{origin}"
            here.mkdir()
            for flags in (["-f", "KSK"], []):
                run_command_line(["keygen", *ALGORITHMS[algorithm], *flags, "-K", str(here), origin])
            known[algorithm, origin] = here
        return known[algorithm, origin]

    return zone, keys


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_validators_accept_every_combination(made, command, tmp_path, *, algorithm, chain, model):
    zone, keys = made
    origin, file = zone(model)
    out = tmp_path / "signed"
    done = command("sign", file, "-f", out, "-K", keys(algorithm, origin), *CHAINS[chain], "--json")
    assert len(done["keys"]) == 2 and done["made"] == done["signatures"] > 0
    accepted(origin, out)


def stamps(file):
    """Give the expiration of each signature in `file`."""
    return [line.split()[8] for line in file.read_text().splitlines() if " IN RRSIG " in line]


@pytest.mark.parametrize("chain", ["nsec", "salted"])
def test_signing_again_keeps_what_lasts(made, command, tmp_path, chain):
    zone, keys = made
    origin, file = zone("enterprise")
    out = tmp_path / "signed"
    options = ["-K", keys("p256", origin), *CHAINS[chain], "--json"]
    first = command("sign", file, "-f", out, *options, "-e", "+8d")
    again = command("sign", out, "-f", out, *options)
    assert (again["made"], again["kept"], again["verified"]) == (0, first["made"], 0)
    verified = command("sign", out, "-f", out, *options, "--verify-kept")
    assert verified["verified"] == first["made"]
    renewed = command("sign", out, "-f", out, *options, "-i", "9d")
    assert (renewed["made"], renewed["kept"], renewed["dropped"]) == (first["made"], 0, first["made"])
    # Only what was touched is signed: the name, its neighbour in the chain, and the apex with its serial number.
    text = out.read_text().replace(f"{origin} 3600 IN MX", f"{origin} 3600 IN TXT new\n{origin} 3600 IN MX", 1)
    out.write_text(f"{text}new.{origin} 60 IN A 192.0.2.1\n")
    touched = command("sign", out, "-f", out, *options, "-N", "increment")
    assert 0 < touched["made"] < 12 and touched["serial"] == first["serial"] + 1
    accepted(origin, out)


def test_without_state_file_all_is_verified(made, command, tmp_path):
    zone, keys = made
    origin, file = zone("small")
    out = tmp_path / "signed"
    options = ["-K", keys("ed25519", origin), "--no-state", "--json"]
    first = command("sign", file, "-f", out, *options)
    assert [path.name for path in tmp_path.iterdir()] == ["signed"]
    assert command("sign", out, "-f", out, *options)["verified"] == first["made"]


def test_times_and_jitter(made, command, tmp_path):
    zone, keys = made
    origin, file = zone("enterprise")
    out, again = tmp_path / "signed", tmp_path / "again"
    options = ["-K", keys("ed25519", origin), "-s", "20300101", "-e", "+4w", "-j", "7d", "--json", "--no-state"]
    command("sign", file, "-f", out, *options)
    command("sign", file, "-f", again, *options)
    # Ed25519 and the jitter are deterministic.
    assert out.read_bytes() == again.read_bytes()
    found = stamps(out)
    assert min(found) >= "20300122000000" and max(found) <= "20300129000000"
    assert len(set(found)) > len(found) / 2
    for end, expected in [("20300203040506", "20300203040506"), ("1900000000", "20300317174640")]:
        command("sign", file, "-f", out, "-K", keys("ed25519", origin), "-s", "20300101", "-e", end)
        assert set(stamps(out)) == {expected}
    before = int(time.time())
    command("sign", file, "-f", out, "-K", keys("ed25519", origin))
    ends = time.strftime("%Y%m%d%H%M%S", time.gmtime(before - 3600 + 30 * DAY_S))
    assert 0 <= int(max(stamps(out))) - int(ends) <= 10_000


def test_deterministic_signatures(made, command, tmp_path):
    zone, keys = made
    origin, file = zone("small")
    texts = []
    for options in (["--deterministic"], ["--deterministic"], []):
        command("sign", file, "-f", tmp_path / "out", "-K", keys("p256", origin), "-s", "20300101", *options)
        texts.append((tmp_path / "out").read_text())
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("policy", ["keep", "increment", "unixtime", "date"])
def test_serial_policies(made, command, tmp_path, policy):
    zone, keys = made
    origin, file = zone("small")
    before, today = int(time.time()), time.strftime("%Y%m%d00", time.gmtime())
    options = ["-f", tmp_path / "out", "-K", keys("ed25519", origin), "-N", policy, "--json"]
    serial = command("sign", file, *options)["serial"]
    old = int(next(line for line in file.read_text().splitlines() if " SOA " in line).split()[6])
    if policy == "keep":
        assert serial == old
    elif policy == "increment":
        assert serial == old + 1
    elif policy == "date":
        assert int(today) <= serial <= int(today) + 100
    else:
        # A date as a serial number may be greater than the time, and then only grows by one.
        assert serial == old + 1 if old > before else before <= serial <= before + 600


def dnskeys(file):
    """Give flags and algorithm of each DNSKEY record in `file`."""
    return sorted(tuple(line.split()[4:7:2]) for line in file.read_text().splitlines() if " IN DNSKEY " in line)


def signers(file, rtype):
    """Give the tags of the keys that sign the `rtype` RRset of the apex, the first owner in `file`."""
    lines = file.read_text().splitlines()
    apex = lines[0].split()[0]
    return {int(line.split()[10]) for line in lines if line.startswith(f"{apex} ") and f" RRSIG {rtype} " in line}


def test_keys_by_their_times(made, command, tmp_path):
    zone, _ = made
    origin, file = zone("small")
    out = tmp_path / "signed"
    new = ["-a", "ED25519", "-K", tmp_path]
    made_keys = {}
    for name, options in {
        "ksk": ["-f", "KSK"],
        "zsk": [],
        "standby": ["-A", "now+30d"],
        "retired": ["-P", "now-90d", "-A", "now-90d", "-I", "now-1d"],
        "gone": ["-P", "now-90d", "-A", "now-90d", "-I", "now-9d", "-D", "now-1d"],
        "later": ["-P", "now+1d", "-A", "now+30d"],
        "hidden": ["-P", "now+1d", "-A", "now-1d"],
        "revoked": ["-f", "KSK", "-R", "now-1d"],
    }.items():
        made_keys[name] = command("keygen", *new, *options, origin).strip()
    tags = {name: int(stem.rsplit("+", 1)[1]) for name, stem in made_keys.items()}
    # The zone has the key that is to go, and the one that is to be revoked.
    with_old = tmp_path / "with-old"
    old = "".join((tmp_path / f"{made_keys[name]}.key").read_text() for name in ("gone", "revoked"))
    with_old.write_text(file.read_text() + old)
    done = command("sign", with_old, "-f", out, "-K", tmp_path, "--json")
    revoked = next(stem for stem in done["keys"] if stem not in made_keys.values())
    assert set(done["keys"]) == {made_keys["ksk"], made_keys["zsk"], revoked}
    assert set(done["published_keys"]) == {made_keys["standby"], made_keys["retired"]}
    assert done["key_signing_keys"] == [made_keys["ksk"]] and len(done["ds"]) == 1
    # As dnssec-signzone -S has it: KSK, ZSK, the two that are only published, and the revoked one with its flag.
    assert dnskeys(out) == [("256", "15")] * 3 + [("257", "15"), ("385", "15")]
    assert signers(out, "DNSKEY") == {tags["ksk"], int(revoked.rsplit("+", 1)[1])}
    assert signers(out, "SOA") == {tags["zsk"]}
    names = {path.name for path in tmp_path.iterdir()}
    assert command("sign", with_old, "-S", "-f", out, "-K", tmp_path, "--json")["keys"] == done["keys"]
    assert {path.name for path in tmp_path.iterdir()} == names


def test_only_published_keys_are_no_fault(made, command, tmp_path):
    zone, _ = made
    origin, file = zone("small")
    for options in (["-f", "KSK"], [], ["-A", "now+30d"]):
        command("keygen", "-K", tmp_path, *options, origin)
    command("sign", file, "-f", tmp_path / "signed", "-K", tmp_path)
    assert len(dnskeys(tmp_path / "signed")) == 3
    accepted(origin, tmp_path / "signed")


def test_cds_by_times_and_by_option(made, command, tmp_path):
    zone, _ = made
    origin, file = zone("small")
    out = tmp_path / "signed"
    command("keygen", "-K", tmp_path, "-f", "KSK", "--sync-publish", "now", origin)
    command("keygen", "-K", tmp_path, "-f", "KSK", "--sync-publish", "now+1d", origin)
    command("keygen", "-K", tmp_path, origin)
    count = lambda rtype: out.read_text().count(f" IN {rtype} ")  # noqa: E731
    command("sign", file, "-f", out, "-K", tmp_path)
    assert (count("CDS"), count("CDNSKEY")) == (1, 1)
    accepted(origin, out)
    command("sign", file, "-f", out, "-K", tmp_path, "--cds")
    assert (count("CDS"), count("CDNSKEY")) == (2, 2)
    accepted(origin, out)


def test_a_key_that_signs_keys_whatever_its_flag(made, command, tmp_path):
    zone, _ = made
    origin, file = zone("small")
    out = tmp_path / "signed"
    names = [command("keygen", "-K", tmp_path, origin).strip() for _ in range(2)]
    tags = [int(name.rsplit("+", 1)[1]) for name in names]
    done = command("sign", file, "-f", out, "-k", tmp_path / names[0], tmp_path / f"{names[1]}.private", "--json")
    assert (signers(out, "DNSKEY"), signers(out, "SOA")) == ({tags[0]}, {tags[1]})
    assert done["key_signing_keys"] == [names[0]]
    # Names without folder are looked for in that of -K, and the same key counts once.
    done = command("sign", file, "-f", out, "-K", tmp_path, names[0], names[1], names[1], "--json")
    assert sorted(done["keys"]) == sorted(names)
    assert signers(out, "DNSKEY") == set(tags)


@pytest.mark.parametrize("model", ["flat", "tld"])
@pytest.mark.parametrize("chain", CHAINS)
def test_pieces_signed_one_by_one_and_joined(made, command, tmp_path, chain, model):
    zone, keys = made
    origin, file = zone(model)
    options = ["-K", keys("ed25519", origin), "-s", "20300101"]
    whole, chained, joined = tmp_path / "whole", tmp_path / "chained", tmp_path / "joined"
    command("sign", file, "-f", whole, *options, *CHAINS[chain])
    command("sign", file, "-f", chained, *options, *CHAINS[chain], "--chain-only")
    assert " IN RRSIG " not in chained.read_text()
    assert not chained.with_name("chained.state").exists()
    command("zone", "split", "-n", 3, chained)
    pieces = [tmp_path / f"piece{number}" for number in (1, 2, 3)]
    for number, piece in enumerate(pieces, 1):
        command("sign", tmp_path / f"chained.{number}", "-f", piece, *options, "--given-chain")
    command("zone", "join", *pieces, "-f", joined)
    assert joined.read_text() == whole.read_text()


def test_pieces_print_neither_the_parent_s_records_nor_a_rate_of_nothing(made, command, tmp_path):
    zone, keys = made
    origin, file = zone("flat")
    options = ["-K", keys("ed25519", origin)]
    whole = command("sign", file, "-f", tmp_path / "whole", *options, out=True)
    chained = command("sign", file, "-f", tmp_path / "chained", *options, "--chain-only", out=True)
    piece = command("sign", tmp_path / "chained", "-f", tmp_path / "piece", *options, "--given-chain", out=True)
    assert " DS " in whole and "signatures/s" in whole
    assert " DS " not in chained + piece
    assert "signatures/s" not in chained and "signatures/s" in piece


def test_changes_alone_are_signed(made, command, tmp_path):
    zone, keys = made
    origin, file = zone("enterprise")
    out, changed, changes = tmp_path / "out", tmp_path / "changed", tmp_path / "changes"
    options = ["-K", keys("ed25519", origin), "-s", "20200101", "-e", "20500101"]
    lines = file.read_text().splitlines()
    host = next(line for line in lines if " IN A 198." in line)
    changed.write_text("\n".join([*(line for line in lines if line != host), f"new.{origin} 60 IN A 192.0.2.1", ""]))
    printed = command("zone", "compare", file, changed, code=1, out=True)
    changes.write_text("".join(line for line in printed.splitlines(keepends=True) if line[:2] in {"- ", "+ "}))
    command("sign", file, "-f", out, *options, "--json")
    done = command("sign", out, "-f", out, *options, "--changes", changes, "--json")
    assert 0 < done["made"] < 10 < done["kept"] and done["verified"] == 0
    command("sign", changed, "-f", tmp_path / "full", *options)
    assert out.read_bytes() == (tmp_path / "full").read_bytes()
    changes.write_text("neither\n")
    assert "changes:1" in command("sign", out, "-f", out, *options, "--changes", changes, code=2)


def test_standard_input_and_output(made, dnsrig, tmp_path):
    zone, keys = made
    origin, file = zone("small")
    options = ["-K", keys("ed25519", origin), "-s", "20300101"]
    done = dnsrig("sign", "-", "-o", origin, *options, stdin=file.read_text())
    assert done.code == 0 and "standard output: zone " in done.err and " IN DS " in done.err, done.err
    assert dnsrig("sign", file, "-f", tmp_path / "signed", *options).code == 0
    assert done.out == (tmp_path / "signed").read_text()
    unnamed = dnsrig("sign", "-", *options, stdin=file.read_text())
    assert unnamed.code == 2 and "add -o NAME" in unnamed.err


def test_unsorted_zones_and_little_memory(made, command, tmp_path):
    zone, keys = made
    origin, file = zone("enterprise")
    lines = file.read_text().splitlines(keepends=True)
    mixed = tmp_path / "mixed"
    mixed.write_text("".join([lines[0], *sorted(lines[1:], key=lambda line: line[::-1])]))
    outputs = []
    for source, limits in [(file, []), (mixed, []), (mixed, ["--memory", "1M", "-n", "1"])]:
        command("sign", source, *limits, "-K", keys("ed25519", origin), "-s", "20300101", "-f", tmp_path / "out")
        outputs.append((tmp_path / "out").read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]


def test_the_ttl_of_keys(made, command, tmp_path):
    zone, keys = made
    origin, file = zone("small")
    for option in ("-L", "-T", "--dnskey-ttl"):
        command("sign", file, "-f", tmp_path / "out", "-K", keys("p256", origin), option, 77, "-x", "-t")
        records = [line.split() for line in (tmp_path / "out").read_text().splitlines() if " IN DNSKEY " in line]
        assert [record[1] for record in records] == ["77", "77"]


def test_digests_of_the_zone(command, tmp_path):
    zone, signed, again = (tmp_path / name for name in ("zone", "signed", "again"))
    command("zone", "generate", zone, "-o", "example.test.", "--records", 60, "--seed", 1)
    # ldns-verify-zone 1.8.3 goes on for ever where the last hash sorts behind the last name.
    zone.write_text(zone.read_text() + "zzz.example.test. 60 IN A 192.0.2.1\n")
    first = command("sign", zone, "-f", signed, "--zonemd", "sha384", "--zonemd", "sha512", "-3", "-", "--json")
    assert first["zonemd"] == ["sha384", "sha512"]
    assert "the digest of its ZONEMD record was verified" in command("zone", "check", signed)
    if shutil.which("ldns-verify-zone"):
        done = subprocess.run(["ldns-verify-zone", "-ZZ", signed], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    renewed = command("sign", signed, "-f", again, "-N", "increment", "-3", "-", "--json")
    assert renewed["zonemd"] == ["sha384", "sha512"]
    assert (renewed["made"], renewed["dropped"]) == (2, 2)
    assert "the digest of its ZONEMD record was verified" in command("zone", "check", again)
    without = command("sign", again, "-f", signed, "--zonemd", "none", "-3", "-", "--json")
    assert without["zonemd"] == []
    assert " ZONEMD " not in signed.read_text()
    assert "--zonemd none" in command("sign", zone, "--zonemd", "none", "--zonemd", "sha384", code=2)
    assert "joined" in command("sign", zone, "-f", signed, "--given-chain", "--zonemd", "sha384", code=2)

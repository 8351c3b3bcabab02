"""`dnsrig zone verify`: it finds what other validators find, and says where."""

import re
import subprocess
import sys

import pytest
from other_programs import need, validators

ORIGIN = "example.test."


@pytest.fixture(scope="module")
def signed(dnsrig, tmp_path_factory):
    """Signed zones by chain, and the file with their DS records."""
    folder = tmp_path_factory.mktemp("signed")
    options = ["--model", "enterprise", "--names", 60, "--seed", 2]
    assert dnsrig("zone", "generate", folder / "zone", *options).code == 0
    done = {}
    for chain, chosen in {"nsec": [], "nsec3": ["-3", "-"], "opt-out": ["-3", "-", "-A"]}.items():
        signing = dnsrig("sign", folder / "zone", "-f", folder / chain, "-K", folder, *chosen)
        assert signing.code == 0, signing.err
        done[chain] = folder / chain
    (folder / "dsset").write_text(signing.out.splitlines()[-1] + "\n")
    return done, folder / "dsset"


def others_find(file):
    """Tell which other validators reject `file`."""
    found = set()
    for package, command in validators(ORIGIN, file):
        need(command[0], package)
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            found.add(command[0])
    return found


def without(pattern, count=1):
    """Give a change that leaves out the last lines with `pattern`."""

    def change(lines):
        at = [index for index, line in enumerate(lines) if re.search(pattern, line)][-count:]
        return [line for index, line in enumerate(lines) if index not in at]

    return change


def replaced(pattern, old, new):
    """Give a change that puts `new` for `old` in the last line with `pattern`."""

    def change(lines):
        at = [index for index, line in enumerate(lines) if re.search(pattern, line)][-1]
        changed = re.sub(old, new, lines[at], count=1)
        assert changed != lines[at]
        return [*lines[:at], changed, *lines[at + 1 :]]

    return change


def flipped(pattern):
    """Give a change that alters the signature in the last line with `pattern`."""

    def change(lines):
        at = [index for index, line in enumerate(lines) if re.search(pattern, line)][-1]
        octet = lines[at][-20]
        return [*lines[:at], lines[at][:-20] + ("A" if octet != "A" else "B") + lines[at][-19:], *lines[at + 1 :]]

    return change


def added(line):
    """Give a change that appends `line`."""
    return lambda lines: [*lines, line]


def repeated(pattern, old, new):
    """Give a change that appends the last line with `pattern`, with `new` for `old`."""
    return lambda lines: [*lines, *set(replaced(pattern, old, new)(lines)).difference(lines)]


WRONG = r"^the signature of {} by the key with tag \d+ \(ECDSAP256SHA256\) is wrong$"
NO_CHAIN = "the zone has no chain of denial$"
# What is changed, and the type of a fault of the changed owner, with what it says.
ANY_CHAIN = {
    "a signature is missing": (without(r" RRSIG AAAA 13 "), "AAAA", "^no valid signature of ECDSAP256SHA256$"),
    "all signatures of the keys are missing": (
        without(r" RRSIG DNSKEY 13 "),
        "DNSKEY",
        "^no valid signature of ECDSAP256SHA256$",
    ),
    "a signature is wrong": (flipped(r" RRSIG AAAA 13 "), "RRSIG", WRONG.format("AAAA")),
    "data were changed": (replaced(r" IN AAAA ", r"2001:db8:", "2001:db9:"), "RRSIG", WRONG.format("AAAA")),
    "a record was added to an RRset": (
        added(f"{ORIGIN} 86400 IN NS ns9.{ORIGIN}"),
        "RRSIG",
        WRONG.format("NS"),
    ),
    "a DS record was changed": (replaced(r" IN DS ", r" IN DS \d+ ", " IN DS 1 "), "RRSIG", WRONG.format("DS")),
    "a signature has another algorithm": (
        replaced(r" RRSIG AAAA 13 ", " RRSIG AAAA 13 ", " RRSIG AAAA 15 "),
        "RRSIG",
        r"^the signature of AAAA is by a key that the zone has not: ED25519 with tag \d+$",
    ),
    "a signature is of another key": (
        replaced(r" RRSIG AAAA 13 ", r" \d+ (\S+) (\S+)$", r" 1 \1 \2"),
        "RRSIG",
        "^the signature of AAAA is by a key that the zone has not: ECDSAP256SHA256 with tag 1$",
    ),
    "a signature names another signer": (
        replaced(r" RRSIG AAAA 13 ", " example.test. ", " test. "),
        "RRSIG",
        "^the signature of AAAA names another signer than example.test.$",
    ),
    "a signature is over": (
        replaced(r" RRSIG AAAA 13 ", r" 20\d{12} 20\d{12} ", " 20200201000000 20200101000000 "),
        "RRSIG",
        "^the signature of AAAA expired on 20200201000000$",
    ),
    "a TTL is above the original": (
        replaced(r" IN AAAA ", r"^(\S+) \d+ ", r"\1 999999 "),
        "RRSIG",
        r"^the signature of AAAA is for the TTL \d+, but the records have 999999$",
    ),
    "a key was removed": (
        without(r" IN DNSKEY 256 "),
        "RRSIG",
        "^the signature of SOA is by a key that the zone has not",
    ),
    "all keys were removed": (without(r" IN DNSKEY ", 2), "DNSKEY", "^the apex has no DNSKEY record"),
}
NSEC = {
    "a record of the chain is missing": (without(r" IN NSEC "), "NSEC", "^the name has no NSEC record$"),
    "a type is missing in the chain": (
        replaced(r" IN NSEC .* A ", r" A ", " "),
        "NSEC",
        r"^the types are not (.* )?A ",
    ),
    "the chain has a type too many": (
        replaced(r" IN NSEC .* RRSIG ", " RRSIG ", " LOC RRSIG "),
        "NSEC",
        "^the types are not (?!.*LOC)",
    ),
    "the chain leads elsewhere": (
        replaced(r" IN NSEC ", r" IN NSEC \S+ ", f" IN NSEC nowhere.{ORIGIN} "),
        "NSEC",
        "^the next name is not ",
    ),
    "a name is not in the chain": (
        added(f"new.{ORIGIN} 60 IN A 192.0.2.1"),
        "NSEC",
        "^the name has no NSEC record$",
    ),
    "there is no chain": (without(r" (IN|RRSIG) NSEC ", 100_000), "NSEC", NO_CHAIN),
}
NSEC3 = {
    "a record of the chain is missing": (without(r" IN NSEC3 "), "NSEC3", "^the name has no NSEC3 record"),
    "a type is missing in the chain": (
        replaced(r" IN NSEC3 .* A ", r" A ", " "),
        "NSEC3",
        r"^the types are not (.* )?A ",
    ),
    "the chain leads elsewhere": (
        replaced(r" IN NSEC3 1 ", r"( - )\w{4}", r"\g<1>0000"),
        "NSEC3",
        "^the next hash is not ",
    ),
    "a name is not in the chain": (
        added(f"new.{ORIGIN} 60 IN A 192.0.2.1"),
        "NSEC3",
        "^the name has no NSEC3 record",
    ),
    "a hash has two records": (
        repeated(r" IN NSEC3 .* A ", r" A ", " "),
        "NSEC3",
        "^a second NSEC3 record of this hash$",
    ),
    "a record has unknown flags": (
        replaced(r" IN NSEC3 1 ", r" NSEC3 1 \d ", " NSEC3 1 2 "),
        "NSEC3",
        "^the flags are 2 instead of 0 or 1",
    ),
    "the parameters have flags": (
        replaced(r" IN NSEC3PARAM 1 ", r" 1 0 ", " 1 1 "),
        "NSEC3PARAM",
        "^the flags are 1 instead of 0",
    ),
    "the parameters are missing": (without(r" IN NSEC3PARAM "), "NSEC", NO_CHAIN),
    "there is no chain": (without(r" (IN|RRSIG) NSEC3(PARAM)? ", 100_000), "NSEC", NO_CHAIN),
}
WITH_MANY_FAULTS = {"a key was removed", "all keys were removed", "the parameters are missing"}
CASES = [
    *[("nsec", name, *case) for name, case in {**ANY_CHAIN, **NSEC}.items()],
    *[("nsec3", name, *case) for name, case in {**ANY_CHAIN, **NSEC3}.items()],
    *[("opt-out", name, *case) for name, case in NSEC3.items()],
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}: {case[1]}" for case in CASES])
def test_planted_faults(dnsrig, signed, tmp_path, case):
    zones, _ = signed
    chain, name, change, rtype, said = case
    lines = zones[chain].read_text().splitlines()
    planted = change(lines)
    owners = {line.split()[0] for line in set(lines).symmetric_difference(planted)}
    file = tmp_path / "planted"
    file.write_text("\n".join(planted) + "\n")
    found = dnsrig("zone", "verify", file, "--most", 10_000, "--json")
    assert found.code == 1, found.out
    faults = found.json["faults"]
    assert any(
        is_of(fault, owners) and fault["type"] == rtype and re.search(said, fault["what"]) for fault in faults
    ), faults
    assert found.json["fault_count"] == len(faults)
    assert name in WITH_MANY_FAULTS or len(faults) < 10
    assert others_find(file), "no other validator finds it"


def is_of(fault, owners):
    """Tell whether a fault is about one of `owners`, or about the name that has the hash which is such an owner."""
    hashed = re.search(r" \(hash (\w+)\)$", fault["what"])
    return fault["owner"] in owners or (hashed is not None and f"{hashed[1]}.{ORIGIN}" in owners)


def test_nsec3_records_in_any_order(dnsrig, signed, tmp_path):
    zones, dsset = signed
    lines = zones["nsec3"].read_text().splitlines()
    rank = {" IN NSEC3 ": 1, " RRSIG NSEC3 ": 2}
    order = sorted(lines, key=lambda line: max(number * (word in line) for word, number in rank.items()))
    assert order != lines
    file = tmp_path / "ordered"
    file.write_text("\n".join(order) + "\n")
    done = dnsrig("zone", "verify", file, "--ds", dsset)
    assert done.code == 0 and done.out.endswith("; no fault\n"), done.out
    assert others_find(file) == set()


@pytest.mark.parametrize("chain", ["nsec", "nsec3", "opt-out"])
def test_nothing_to_find(dnsrig, signed, chain):
    zones, dsset = signed
    done = dnsrig("zone", "verify", zones[chain], "--ds", dsset)
    assert done.code == 0 and done.out.endswith("; no fault\n"), done.out
    assert others_find(zones[chain]) == set()


def test_where_a_fault_is(dnsrig, signed, tmp_path):
    zones, _ = signed
    lines = zones["nsec"].read_text().splitlines()
    changed = replaced(r" IN AAAA ", r"2001:db8:", "2001:db9:")(lines)
    number = next(at for at, line in enumerate(changed, 1) if lines[at - 1] != line)
    file = tmp_path / "planted"
    file.write_text("\n".join(changed) + "\n")
    done = dnsrig("zone", "verify", file)
    assert done.code == 1
    owner = changed[number - 1].split()[0]
    faults = done.out.splitlines()[:-1]
    places = [int(fault.removeprefix(f"{file}:").split(":")[0]) for fault in faults]
    assert all(f" {owner} " in fault for fault in faults)
    signature = next(at for at in range(number, len(changed)) if " RRSIG AAAA " in changed[at]) + 1
    assert set(places) <= {number, signature} and places


def test_the_most_faults(dnsrig, signed, tmp_path):
    zones, _ = signed
    file = tmp_path / "planted"
    text = zones["nsec"].read_text()
    file.write_text("".join(line for line in text.splitlines(keepends=True) if " IN RRSIG " not in line))
    few = dnsrig("zone", "verify", file, "--most", 3)
    assert few.code == 1 and len(few.out.splitlines()) == 5
    assert re.search(r"^\d+ more faults; --most prints more of them$", few.out, re.MULTILINE)
    everything = dnsrig("zone", "verify", file, "--most", 100_000, "--json").json
    assert len(everything["faults"]) == everything["fault_count"] == text.count(" IN RRSIG ")
    none = dnsrig("zone", "verify", file, "--most", 0, "--json").json
    assert (none["faults"], none["fault_count"]) == ([], everything["fault_count"])


def test_times(dnsrig, signed):
    zones, _ = signed
    for now, code in [("now", 0), ("now+29d", 0), ("now+30d", 1), ("now-2h", 1), ("20200101", 1)]:
        assert dnsrig("zone", "verify", zones["nsec"], "--now", now).code == code, now
    assert dnsrig("zone", "verify", zones["nsec"], "-s", "20200101", "--ignore-times").code == 0
    assert dnsrig("zone", "verify", zones["nsec"], "-s", "never").code == 2


def test_ds_records(dnsrig, signed, tmp_path):
    zones, dsset = signed
    record = dsset.read_text().strip()
    fields = record.split(" DS ")[1]
    for given in (record, fields, f"{ORIGIN} DS {fields}"):
        assert dnsrig("zone", "verify", zones["nsec"], "--ds", given).code == 0, given
    other = fields[:-4] + ("0000" if not fields.endswith("0000") else "1111")
    wrong = dnsrig("zone", "verify", zones["nsec"], "--ds", other)
    assert wrong.code == 1 and "DS" in wrong.out
    # Of several one has to match.
    assert dnsrig("zone", "verify", zones["nsec"], "--ds", other, "--ds", fields).code == 0
    for bad in (
        "1 2 3",
        "one two three four",
        f"other.test. DS {fields}",
        tmp_path / "none",
        zones["nsec"].parent / "zone",
    ):
        refused = dnsrig("zone", "verify", zones["nsec"], "--ds", bad)
        assert refused.code == 2 and f"--ds {bad}" in refused.err, refused.err


def test_standard_input(dnsrig, signed):
    zones, dsset = signed
    text = zones["nsec3"].read_text()
    done = dnsrig("zone", "verify", "-", "-o", ORIGIN, "--ds", dsset, stdin=text)
    assert done.code == 0 and done.out.startswith("standard input: zone example.test."), done.err
    assert dnsrig("zone", "verify", "-", "--ds", dsset, stdin=text).code == 2


def test_unsigned_and_no_zones(dnsrig, small_zone, tmp_path):
    unsigned = dnsrig("zone", "verify", small_zone)
    assert unsigned.code == 1 and "no DNSKEY record" in unsigned.out
    bad = tmp_path / "bad"
    bad.write_text("$ORIGIN z.test.\n@ 60 IN SOA ns host 1 2 3 4 5\nwww 60 IN A 300.1.1.1\n")
    refused = dnsrig("zone", "verify", bad)
    assert refused.code == 2 and "bad:3:" in refused.err
    assert dnsrig("zone", "verify", tmp_path / "none").code == 2


def test_output_that_nobody_reads(signed):
    zones, _ = signed
    command = f"{sys.executable} -m dnsrig zone verify {zones['nsec']} --now 20200101 --most 1000 >/dev/full"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 3 and "Traceback" not in done.stderr

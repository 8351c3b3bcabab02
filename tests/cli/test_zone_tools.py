"""`dnsrig zone`, `sign` and `stream` by the eyes of other tools."""

import json
import shutil
import stat
import subprocess
import sys

import pytest


def tool(name, package):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed: install the Debian package {package}")
    return name


def test_a_generated_zone_loads_elsewhere(dnsrig, tmp_path):
    file = tmp_path / "made.db"
    done = dnsrig("zone", "generate", file, "-o", "made.test", "--seed", 4, "--json")
    assert done.json["records"] == 244
    again = tmp_path / "again.db"
    dnsrig("zone", "generate", again, "-o", "made.test", "--seed", 4)
    assert file.read_bytes() == again.read_bytes()
    subprocess.run([tool("named-checkzone", "bind9-utils"), "-q", "made.test", file], check=True)


@pytest.mark.parametrize("algorithm", ["RSASHA256", "ECDSAP256SHA256", "ED25519"])
@pytest.mark.parametrize("denial", [[], ["-3", "-"], ["-3", "a1b2", "-H", "5"], ["-3", "-", "-A"]])
def test_a_signed_zone_is_valid(dnsrig, small_zone, tmp_path, algorithm, denial):
    out = tmp_path / "signed.db"
    done = dnsrig("sign", small_zone, "-f", out, "-a", algorithm, *denial, "--json")
    assert done.code == 0, done.err
    private = next(tmp_path.glob("K*.private"))
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    for command in (
        [tool("dnssec-verify", "bind9-utils"), "-q", "-o", "example.test", out],
        [tool("ldns-verify-zone", "ldnsutils"), out],
        [tool("kzonecheck", "knot-dnssecutils"), "-o", "example.test", "-d", "on", out],
        [tool("nsd-checkzone", "nsd"), "example.test", out],
    ):
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_signing_a_signed_zone_with_new_keys(dnsrig, small_zone, tmp_path):
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    assert dnsrig("sign", small_zone, "-f", first, "-a", "RSASHA256").code == 0
    other = ["-f", second, "-a", "ED25519", "-3", "-"]
    kept = dnsrig("sign", first, *other)
    assert kept.code == 2 and "has keys of the zone example.test. already" in kept.err
    assert dnsrig("sign", first, *other, "--new-keys").code == 0
    command = [tool("dnssec-verify", "bind9-utils"), "-q", "-o", "example.test", second]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_signing_with_the_keys_of_bind(dnsrig, small_zone, tmp_path):
    keygen = [tool("dnssec-keygen", "bind9-utils"), "-q", "-K", tmp_path, "-a", "ECDSAP256SHA256"]
    for flags in (["-f", "KSK"], []):
        subprocess.run([*keygen, *flags, "example.test"], check=True, capture_output=True)
    keys = sorted(tmp_path.glob("K*.private"))
    done = dnsrig("sign", small_zone, *keys, "-f", tmp_path / "signed.db", "--json")
    assert sorted(done.json["keys"]) == [key.stem for key in keys]
    subprocess.run(["dnssec-verify", "-q", "-o", "example.test", tmp_path / "signed.db"], check=True)


def test_a_made_stream_is_a_query_file(dnsrig, small_zone, tmp_path):
    for kind in ("existence", "denial", "normal"):
        file = tmp_path / f"{kind}.txt"
        done = dnsrig("stream", "make", kind, file, "--zone", small_zone, "-n", 500, "--seed", 2, "--json")
        assert done.json["queries"] == 500
        lines = file.read_text().splitlines()
        assert len(lines) == 500 and all(len(line.split()) == 2 for line in lines)
    assert done.json["nxdomain_share"] == pytest.approx(0.08)


def test_servers_are_listed(dnsrig):
    rows = dnsrig("servers", "--json").json["servers"]
    assert [row["server"] for row in rows] == ["embedded", "bind", "nsd", "knot", "powerdns", "unbound"]
    assert rows[0]["found"] and all(row["version"] for row in rows if row["found"])


def test_rules_are_listed_as_json(dnsrig):
    rules = json.loads(dnsrig("zone", "check", "--rules", "--json").out)["rules"]
    assert {"rule", "severity", "text"} == set(rules[0]) and len(rules) > 30
    assert dnsrig("zone", "check").code == 2


@pytest.mark.parametrize("command", [["zone", "sort"], ["sign", "--no-state", "-a", "ED25519", "-f", "-"]])
def test_a_zone_for_closed_output_is_not_lost_in_silence(small_zone, tmp_path, command):
    zone = tmp_path / "zone"
    zone.write_bytes(small_zone.read_bytes())
    shell = 'exec "$@" >&-'
    done = subprocess.run(
        ["sh", "-c", shell, "sh", sys.executable, "-m", "dnsrig", *command, str(zone)],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 3 and "standard output is closed" in done.stderr

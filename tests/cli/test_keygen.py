"""`dnsrig keygen` and `dnsrig ds`, by the eyes of BIND's, ldns' and Knot's tools."""

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dnsrig import _core
from dnsrig.errors import InputError
from full_output import run_into

SOFTHSM = [Path("/usr/lib/softhsm/libsofthsm2.so"), Path("/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so")]
PIN = "48151623"
ALGORITHMS = {
    "RSASHA256": ["-b", "1024"],
    "RSASHA512": ["-b", "1584"],
    "ECDSAP256SHA256": [],
    "ECDSAP384SHA384": [],
    "ED25519": [],
}


def run(program: str, package: str, *arguments: object, cwd: Path | None = None) -> str:
    """Give what a program prints; skip where it is missing, fail where it fails."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: install the Debian package {package}")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def digest_words(line: str) -> list[str]:
    """Give a DS or CDS record's type, numbers and digest, however it is written."""
    words = line.split()
    at = next(index for index, word in enumerate(words) if word in {"DS", "CDS"})
    return [*words[at : at + 4], "".join(words[at + 4 :]).upper()]


def test_the_name_is_printed_and_the_files_are_private(dnsrig, tmp_path):
    done = dnsrig("keygen", "-f", "KSK", "Example.Test", cwd=tmp_path)
    assert done.code == 0, done.err
    name = done.out.removesuffix("\n")
    assert name.startswith("Kexample.test.+013+") and not done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{name}.key", f"{name}.private"]
    assert stat.S_IMODE((tmp_path / f"{name}.private").stat().st_mode) == 0o600
    assert " IN DNSKEY 257 3 13 " in (tmp_path / f"{name}.key").read_text()


def test_sign_takes_the_name_that_keygen_prints(dnsrig, small_zone, tmp_path):
    names = [dnsrig("keygen", *flags, "example.test", cwd=tmp_path).out.strip() for flags in (["-f", "ksk"], [])]
    done = dnsrig("sign", small_zone, *names, "-f", "signed", cwd=tmp_path)
    assert done.code == 0, done.err
    run("dnssec-verify", "bind9-utils", "-q", "-o", "example.test", "signed", cwd=tmp_path)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_other_tools_use_our_keys(dnsrig, small_zone, tmp_path, algorithm):
    options = ["-a", algorithm.lower(), *ALGORITHMS[algorithm], "-K", tmp_path]
    facts = [dnsrig("keygen", *options, *flags, "example.test", "--json").json for flags in (["-f", "KSK"], [])]
    assert [fact["role"] for fact in facts] == ["ksk", "zsk"]
    names = [fact["file_name"] for fact in facts]
    zone = tmp_path / "zone"
    with_keys = [small_zone.read_text(), *((tmp_path / f"{name}.key").read_text() for name in names)]
    zone.write_text("".join(with_keys))
    run("dnssec-signzone", "bind9-dnsutils", "-o", "example.test", "-f", "signed", "zone", *names, cwd=tmp_path)
    run("dnssec-verify", "bind9-utils", "-q", "-o", "example.test", "signed", cwd=tmp_path)
    run("ldns-signzone", "ldnsutils", "-o", "example.test", "-f", "by-ldns", small_zone, *names, cwd=tmp_path)
    run("ldns-verify-zone", "ldnsutils", "by-ldns", cwd=tmp_path)
    (tmp_path / "kasp").mkdir()
    keymgr = ["keymgr", "knot", "-D", tmp_path / "kasp", "example.test."]
    for name in names:
        run(*keymgr, "import-bind", tmp_path / f"{name}.key")
    tag = str(facts[0]["tag"])
    expected = [digest_words(record) for record in facts[0]["ds"]]
    assert digest_words(run(*keymgr, "ds", tag).splitlines()[0]) in expected


def test_times_as_bind_has_them(dnsrig, tmp_path):
    start = int(time.time())
    options = ["-L", 7200, "-P", "20260101", "-A", "20260101+1d", "-R", "now+1y", "-I", "+1mo", "-D", "now+3w"]
    options += ["--sync-publish", "20260203040506", "--sync-delete", "now-2h"]
    done = dnsrig("keygen", *options, "-K", tmp_path, "example.test")
    end = int(time.time())
    name = tmp_path / done.out.strip()
    said = run("dnssec-settime", "bind9-utils", "-u", "-p", "all", name)
    times = dict(line.split(": ") for line in said.splitlines())
    assert times["Publish"] == "1767225600" and times["Activate"] == "1767312000"
    assert times["SYNC Publish"] == "1770091506"
    for event, offset in [("Created", 0), ("Revoke", 365), ("Inactive", 30), ("Delete", 21), ("SYNC Delete", -2 / 24)]:
        assert start <= int(times[event]) - offset * 86_400 <= end, event
    assert "example.test. 7200 IN DNSKEY 256 3 13 " in name.with_name(f"{name.name}.key").read_text()
    assert f"warning: {name.name}: Delete is before Inactive\n" in done.err


def test_no_times(dnsrig, tmp_path):
    only = dnsrig("keygen", "-G", "-K", tmp_path, "example.test", "--json").json
    assert list(only["timing"]) == ["Created"]
    unset = dnsrig("keygen", "-P", "none", "-I", "never", "-K", tmp_path, "example.test", "--json").json
    assert list(unset["timing"]) == ["Created", "Activate"]
    seconds = dnsrig("keygen", "-A", "UNSET", "-P", "1700000000", "-K", tmp_path, "example.test", "--json").json
    assert seconds["timing"]["Publish"] == 1_700_000_000 and "Activate" not in seconds["timing"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-P", "soon"], "'soon' is not a time"),
        (["-P", ""], "'' is not a time"),
        (["-P", "now+1m"], "'now+1m' is not a time"),
        (["-P", "20260230"], "no such day"),
        (["-P", "20260101250000"], "no such day, hour, minute or second"),
        (["-P", "sync", "soon"], "Invalid value for '--sync-publish'"),
        (["-P", "ds", "now"], "'ds' is not a time"),
        (["-P", "5000000000"], "not between 1970 and 2106"),
        (["-P", "now+1m\u0131"], "'now+1m\u0131' is not a time"),
        (["-P", "19691231"], "not between 1970 and 2106"),
        (["-P", "now+999y"], "not between 1970 and 2106"),
        (["-G", "-A", "now"], "-G leaves out"),
        (["-a", "RSASHA256", "-b", "1000"], "1000 bits are not possible"),
        (["-a", "ED25519", "-b", "2048"], "always have 256 bits"),
        (["-a", "RSASHA256", "-b", "٢٠٤٨"], "not a whole number"),
        (["-a", ""], "algorithm  is not supported"),
        (["-a", "DSA"], "algorithm DSA is not supported"),
        (["-a", "ed448"], "ED448"),
        (["-a", "RSASHA1"], "SHA-1"),
        (["-a", "7"], "SHA-1"),
        (["-K", "/none"], "does not exist"),
        (["--existing"], "--existing needs --pkcs11"),
        (["--pkcs11", f"pkcs11:tokn=a?pin-value={PIN}"], "the attribute tokn is not known"),
        (["--pkcs11", "pkcs11:token=a;object=b?pin-source=/none"], "none"),
    ],
)
def test_what_is_wrong_is_said(dnsrig, tmp_path, monkeypatch, arguments, message):
    monkeypatch.setenv("PKCS11_MODULE_PATH", "/none.so")
    done = dnsrig("keygen", *arguments, "example.test", cwd=tmp_path)
    assert done.code in {2, 3} and message in done.err and PIN not in done.err, done.err
    assert not list(tmp_path.iterdir())


def test_sha1_where_it_is_asked_for(dnsrig, tmp_path):
    for algorithm in ("RSASHA1", "NSEC3RSASHA1"):
        done = dnsrig("keygen", "-a", algorithm, "-b", 1024, "--allow-sha1", "-f", "KSK", "example.test", cwd=tmp_path)
        assert done.code == 0, done.err
        name = done.out.strip()
        ours = dnsrig("ds", name, "-d", "1", "--allow-sha1", cwd=tmp_path)
        theirs = run("dnssec-dsfromkey", "bind9-utils", "-1", name, cwd=tmp_path)
        assert digest_words(ours.out) == digest_words(theirs)
        refused = dnsrig("ds", name, "-d", "SHA1", cwd=tmp_path)
        assert refused.code == 2 and "--allow-sha1" in refused.err


def test_ds_of_key_files_and_zones(dnsrig, small_zone, tmp_path):
    names = [dnsrig("keygen", "-f", "KSK", "-L", 60, "example.test", cwd=tmp_path).out.strip() for _ in range(2)]
    names.append(dnsrig("keygen", "example.test", cwd=tmp_path).out.strip())
    assert dnsrig("sign", small_zone, *names, "-f", "signed", cwd=tmp_path).code == 0
    for options, theirs in [
        ([], ["-2"]),
        (["-d", "4"], ["-a", "SHA-384"]),
        (["-d", "SHA-256", "--cds"], ["-2", "-C"]),
        (["--all-keys"], ["-2", "-A"]),
    ]:
        ours = dnsrig("ds", *options, "signed", cwd=tmp_path).out.splitlines()
        zone = ["-f", "signed", "example.test"]
        expected = run("dnssec-dsfromkey", "bind9-utils", *theirs, *zone, cwd=tmp_path).splitlines()
        assert sorted(map(digest_words, ours)) == sorted(map(digest_words, expected))
    several = dnsrig("ds", "-d", "2", "-d", "4", *names[:2], "--json", cwd=tmp_path).json["records"]
    assert [digest_words(record)[2:4] for record in several] == [["13", "2"], ["13", "4"]] * 2
    assert all(record.startswith("example.test. 60 IN DS ") for record in several)
    assert dnsrig("ds", "-T", 5, f"{names[2]}.key", cwd=tmp_path).out.startswith("example.test. 5 IN DS ")


def test_ds_records_have_one_ttl(dnsrig, small_zone, tmp_path):
    """That of the zone's DNSKEY records, wherever they are printed; a key file without TTL gives none."""
    signed = tmp_path / "signed"
    printed = dnsrig("sign", small_zone, "-K", tmp_path, "-L", 1234, "-f", signed).out.splitlines()[-1]
    assert printed.startswith("example.test. 1234 IN DS ")
    assert dnsrig("ds", signed).out.strip() == printed
    key = next(path for path in tmp_path.glob("K*.key") if " 257 " in path.read_text())
    alone = dnsrig("ds", key.stem, "-K", tmp_path).out.strip()
    assert alone == printed.replace(" 1234 ", " ")
    assert dnsrig("zone", "verify", signed, "--ds", alone).code == 0
    assert dnsrig("ds", key, "-T", 60).out.startswith("example.test. 60 IN DS ")


def test_ds_of_a_zone_file_with_a_key_file_beside_it(dnsrig, small_zone, tmp_path):
    zone = tmp_path / "zz.db"
    printed = dnsrig("sign", small_zone, "-K", tmp_path, "-f", zone).out.splitlines()[-1]
    other = dnsrig("keygen", "-f", "KSK", "-K", tmp_path, "example.test").out.strip()
    (tmp_path / "zz.db.key").write_text((tmp_path / f"{other}.key").read_text())
    assert dnsrig("ds", zone).out.strip() == printed
    assert f" DS {int(other.rsplit('+', 1)[1])} " in dnsrig("ds", tmp_path / "zz.db.key").out


def test_ds_of_keys_that_have_none(dnsrig, tmp_path):
    zsk = dnsrig("keygen", "-K", tmp_path, "example.test").out.strip()
    said = dnsrig("ds", "-K", tmp_path, zsk)
    assert said.code == 0 and "a zone-signing key" in said.err
    key = tmp_path / f"{zsk}.key"
    key.write_text(key.read_text().replace("DNSKEY 256", "DNSKEY 385"))
    assert "revoked" in dnsrig("ds", key).err


def test_a_key_whose_name_is_not_told_is_no_key(tmp_path):
    """The next signing would use it."""
    done = run_into(None, [sys.executable, "-m", "dnsrig", "keygen", "-K", tmp_path, "example.test"])
    assert done.returncode == 141 and "removed again" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_zone_whose_key_files_cannot_have_their_names(dnsrig, tmp_path):
    zone = ".".join([*["a" * 63] * 3, "b" * 61])
    done = dnsrig("keygen", "-K", tmp_path, zone)
    assert done.code == 2 and "too long for BIND's key files" in done.err
    assert not list(tmp_path.iterdir())


def test_ds_of_what_has_no_keys(dnsrig, small_zone, tmp_path):
    unsigned = dnsrig("ds", small_zone)
    assert unsigned.code == 2 and "no DNSKEY record with the SEP flag" in unsigned.err
    missing = dnsrig("ds", "Knone.+013+00001.key", cwd=tmp_path)
    assert missing.code == 2 and "Knone.+013+00001.key: no such key; name its folder by -K" in missing.err


def test_tags_of_keys_in_the_folder_are_avoided(tmp_path):
    keys = _core.KeySet()
    keys.generate("example.test.", "ED25519", None, "ksk")
    keys.write(tmp_path)
    tags = {key["tag"] for key in keys.describe()}
    taken = next(tmp_path.glob("*.key")).read_text()
    # Damaged, so that reading the folder shows.
    (tmp_path / "Kexample.test.+013+00001.key").write_text(taken.replace("DNSKEY", "DNSKAY"))
    with pytest.raises(InputError, match=r"\+013\+00001\.key"):
        keys.generate("example.test.", "ED25519", None, "zsk", folder=tmp_path)
    (tmp_path / "Kexample.test.+013+00001.key").unlink()
    keys.generate("example.test.", "ED25519", None, "zsk", folder=tmp_path)
    assert keys.describe()[1]["tag"] not in tags | {tag + 128 for tag in tags}


def test_keys_of_a_folder(dnsrig, tmp_path):
    names = [dnsrig("keygen", *flags, "example.test", cwd=tmp_path).out.strip() for flags in (["--csk"], ["-I", "now"])]
    offline = dnsrig("keygen", "-f", "KSK", "example.test", cwd=tmp_path).out.strip()
    (tmp_path / f"{offline}.private").unlink()
    dnsrig("keygen", "other.test", cwd=tmp_path)
    keys = _core.KeySet()
    assert keys.read_directory(tmp_path, "example.test") == [offline]
    assert sorted(keys.file_names) == sorted(names)
    keys.check_owner("example.test")
    with pytest.raises(InputError, match=r"\.key:\d+: the key is for example\.test\., not for the zone other\.test\."):
        keys.check_owner("other.test")
    with pytest.raises(
        InputError, match=r"\.private:\d+: the key does not sign at \d{14}: its time Inactive is \d{14};"
    ):
        keys.check_active(int(time.time()))


@pytest.fixture
def token(tmp_path, monkeypatch):
    """A folder with a token of SoftHSM, `rig`, and its PIN; the environment names the module."""
    module = next((path for path in SOFTHSM if path.exists()), None)
    if module is None or shutil.which("softhsm2-util") is None:
        pytest.skip("SoftHSM is not installed: install the Debian package softhsm2")
    folder = tmp_path / "hsm"
    (folder / "tokens").mkdir(parents=True)
    configuration = folder / "softhsm2.conf"
    configuration.write_text(f"directories.tokendir = {folder / 'tokens'}\nobjectstore.backend = file\n")
    (folder / "pin").write_text(PIN)
    monkeypatch.setenv("SOFTHSM2_CONF", str(configuration))
    monkeypatch.setenv("PKCS11_MODULE_PATH", os.fspath(module))
    run("softhsm2-util", "softhsm2", "--init-token", "--free", "--label", "rig", "--so-pin", "12345678", "--pin", PIN)
    return folder


def test_keys_in_a_token_sign(dnsrig, small_zone, tmp_path, token):
    uri = f"pkcs11:token=rig;object={{}}?pin-source={token / 'pin'}"
    names = []
    for label, flags in [("ksk", ["-f", "KSK"]), ("zsk", [])]:
        done = dnsrig("keygen", *flags, "--pkcs11", uri.format(label), "example.test", cwd=tmp_path)
        assert done.code == 0, done.err
        names.append(done.out.strip())
    private = (tmp_path / f"{names[0]}.private").read_text()
    assert "Label: " in private and "PrivateKey" not in private
    done = dnsrig("sign", small_zone, *names, "-f", "signed", cwd=tmp_path)
    assert done.code == 0, done.err
    run("dnssec-verify", "bind9-utils", "-q", "-o", "example.test", "signed", cwd=tmp_path)
    again = dnsrig("keygen", "--pkcs11", uri.format("zsk"), "example.test", cwd=tmp_path)
    assert again.code == 2 and "a key of this name already" in again.err
    # The files that were lost come back.
    before = (tmp_path / f"{names[1]}.key").read_text().splitlines()[-1]
    for suffix in ("key", "private"):
        (tmp_path / f"{names[1]}.{suffix}").unlink()
    back = dnsrig("keygen", "--pkcs11", uri.format("zsk"), "--existing", "example.test", cwd=tmp_path)
    assert back.out.strip() == names[1], back.err
    assert (tmp_path / f"{names[1]}.key").read_text().splitlines()[-1] == before


def test_a_wrong_pin_is_not_shown(dnsrig, tmp_path, token):
    uri = "pkcs11:token=rig;object=a?pin-value=77665544"
    done = dnsrig("keygen", "--pkcs11", uri, "example.test", cwd=tmp_path)
    assert done.code == 2 and "the PIN is wrong" in done.err, done.err
    assert "77665544" not in done.out + done.err
    assert [path.name for path in tmp_path.iterdir()] == ["hsm"]

"""Real servers over DoT and DoH, as other programs see them, and what is said where there is none."""

import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.servers.base import Server, ServerSettings
from dnsrig.servers.certificates import Certificate, make_certificate
from dnsrig.servers.registry import driver
from dnsrig.servers.transports import ENCRYPTED_TRANSPORTS

RESUMPTION_DEADLINE_S = 30.0
KDIG_OPTIONS = {"dot": "+tls", "doh": "+https"}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def encrypting(kind: type[Server]) -> type[Server]:
    """Each driver whose installed server has an encrypted transport."""
    found = kind.find()
    assert found is not None
    if not kind.encrypted_transports(found):
        pytest.skip("; ".join(f"{transport}: {why}" for transport, why in kind.lacking(found).items()))
    return kind


def encrypted_settings(kind: type[Server], certificate: Certificate, **more) -> ServerSettings:
    found = kind.find()
    assert found is not None
    return ServerSettings(encrypted=kind.encrypted_transports(found), certificate=certificate, **more)


def need(program: str, package: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}: install the Debian package {package}")


def kdig(endpoint: tuple[str, int], transport: str, certificate: Certificate, *question: str) -> str:
    """Ask with kdig, which verifies the certificate, and give the short answer."""
    trust = [f"+tls-ca={certificate.chain}", "+tls-hostname=localhost"]
    address, port = endpoint
    command = ["kdig", f"@{address}", "-p", str(port), KDIG_OPTIONS[transport], *trust, "+short", *question]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


def s_client(endpoint: tuple[str, int], *options: str) -> str:
    """Shake hands with openssl s_client, which sends nothing and closes."""
    command = ["openssl", "s_client", "-connect", "{}:{}".format(*endpoint), *options]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    ).stdout


def resumes(endpoint: tuple[str, int], version: str, session: Path) -> bool:
    """Say whether a session can be resumed; its ticket may come after the handshake, so the client waits for it."""
    session.unlink(missing_ok=True)
    command = ["openssl", "s_client", "-connect", "{}:{}".format(*endpoint), version, "-sess_out", str(session)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as first:
        deadline = time.monotonic() + RESUMPTION_DEADLINE_S
        while not (session.exists() and session.stat().st_size) and first.poll() is None:
            if time.monotonic() > deadline:
                first.kill()
                return False
            time.sleep(0.02)
    return "Reused, " in s_client(endpoint, version, "-sess_in", str(session))


@pytest.mark.parametrize("threads", [1, 2])
def test_other_programs_get_answers(encrypting: type[Server], threads: int, certificate, zones, tmp_path: Path) -> None:
    need("kdig", "knot-dnsutils")
    settings = encrypted_settings(encrypting, certificate, threads=threads)
    with encrypting([zones("nsec3")], settings, tmp_path / "server") as server:
        endpoints = server.endpoints()
        assert list(endpoints) == ["udp", "tcp", *(name for name in ENCRYPTED_TRANSPORTS if name in settings.encrypted)]
        assert endpoints["udp"] == endpoints["tcp"] == server.address
        assert len(set(endpoints.values())) == len(endpoints) - 1
        for transport in KDIG_OPTIONS.keys() & settings.encrypted:
            assert kdig(endpoints[transport], transport, certificate, "www.example.", "A") == "192.0.2.4"


@pytest.mark.parametrize("key", ["ecdsa-p256", "rsa-2048"])
def test_both_kinds_of_certificate(encrypting: type[Server], key, zones, tmp_path: Path) -> None:
    need("openssl", "openssl")
    certificate = make_certificate(tmp_path, key)
    settings = encrypted_settings(encrypting, certificate)
    with encrypting([zones("unsigned")], settings, tmp_path / "server") as server:
        for transport in KDIG_OPTIONS.keys() & settings.encrypted:
            said = s_client(server.endpoints()[transport], "-tls1_3")
            assert "Peer signature type: " + ("RSA-PSS" if key == "rsa-2048" else "ECDSA") in said


def test_sessions_resume_whichever_thread_gets_them(
    encrypting: type[Server], certificate, zones, tmp_path: Path
) -> None:
    need("openssl", "openssl")
    settings = encrypted_settings(encrypting, certificate, threads=2)
    with encrypting([zones("unsigned")], settings, tmp_path / "server") as server:
        assert any("ticket" in remark for remark in server.remarks())
        for transport in KDIG_OPTIONS.keys() & settings.encrypted:
            for version in 4 * ("-tls1_2", "-tls1_3"):
                assert resumes(server.endpoints()[transport], version, tmp_path / "session"), (transport, version)


def test_start_waits_for_the_new_zone_on_every_transport(
    encrypting: type[Server], certificate, zones, tmp_path: Path
) -> None:
    need("kdig", "knot-dnsutils")
    settings = encrypted_settings(encrypting, certificate)
    zone = zones("unsigned")
    live = tmp_path / "live.zone"
    shutil.copy(zone.path, live)
    with encrypting([type(zone)(zone.origin, live)], settings, tmp_path / "server") as server:
        shutil.copy(zones("unsigned", serial=2).path, live)
        server.reload()
        for transport in KDIG_OPTIONS.keys() & settings.encrypted:
            said = kdig(server.endpoints()[transport], transport, certificate, "new2.example.", "TXT")
            assert said == '"a name of this serial only"'


def test_ipv6(encrypting: type[Server], certificate, zones, tmp_path: Path) -> None:
    need("kdig", "knot-dnsutils")
    settings = encrypted_settings(encrypting, certificate, address="::1")
    with encrypting([zones("unsigned")], settings, tmp_path / "server") as server:
        for transport in KDIG_OPTIONS.keys() & settings.encrypted:
            assert kdig(server.endpoints()[transport], transport, certificate, "www.example.", "A") == "192.0.2.4"


def test_taken_port(encrypting: type[Server], certificate, zones, tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        taken = holder.getsockname()[1]
        for transport in encrypted_settings(encrypting, certificate).encrypted:
            settings = encrypted_settings(encrypting, certificate, encrypted_ports={transport: taken})
            server = encrypting([zones("unsigned")], settings, tmp_path / transport)
            with pytest.raises(EnvironmentLacksError, match=rf"port {taken} of 127\.0\.0\.1 is taken"):
                server.start()
            assert server.pids() == []


def test_transport_that_is_not_there(kind: type[Server], certificate, zones, tmp_path: Path) -> None:
    found = kind.find()
    assert found is not None
    for transport, reason in kind.lacking(found).items():
        settings = ServerSettings(encrypted=frozenset({transport}), certificate=certificate)
        server = kind([zones("unsigned")], settings, tmp_path / transport)
        with pytest.raises(InputError) as caught:
            server.start()
        assert str(caught.value).endswith(reason)
        assert server.pids() == []


@pytest.mark.parametrize(
    ("version", "missing"), [("3.2.6", {"dot", "doh", "doq"}), ("3.3.10", {"dot", "doh"}), ("3.5.0", {"doh"})]
)
def test_knot_goes_by_its_version(version: str, missing: set[str]) -> None:
    from dnsrig.servers.base import Installation

    assert driver("knot").lacking(Installation(Path("/usr/sbin/knotd"), version)).keys() == missing


def test_certificate_that_is_not_there(encrypting: type[Server], zones, tmp_path: Path) -> None:
    absent = Certificate(tmp_path / "absent.pem", tmp_path / "absent.key", "ecdsa-p256")
    server = encrypting([zones("unsigned")], encrypted_settings(encrypting, absent), tmp_path / "server")
    with pytest.raises(InputError, match=r"absent\.pem.*No such file"):
        server.start()


def test_parts_of_dnsdist(zones, tmp_path: Path) -> None:
    kind = driver("dnsdist+embedded")
    if kind.find() is None:
        pytest.skip("dnsdist is not installed: install the Debian package dnsdist")
    with kind([zones("unsigned")], ServerSettings(), tmp_path / "server") as server:
        parts = server.pids_by_part()
        assert list(parts) == ["dnsdist", "embedded"]
        assert all(parts.values())
        assert sorted(server.pids()) == sorted(parts["dnsdist"] + parts["embedded"])

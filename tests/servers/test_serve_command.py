"""`dnsrig serve` with encrypted transports, and `dnsrig servers`, which lists them."""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from dnsrig.servers.nsd import Nsd
from dnsrig.servers.resolvers.registry import resolver_drivers


def test_serve_names_its_ports_and_certificate(zones) -> None:
    if Nsd.find() is None or shutil.which("kdig") is None:
        pytest.skip("needs nsd and kdig: install the Debian packages nsd and knot-dnsutils")
    command = [sys.executable, "-m", "dnsrig", "serve", "nsd", str(zones("nsec").path), "--encrypted", "dot"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        said = ""
        for line in serving.stdout:
            said += line
            if "certificate: " in line:
                break
        port, certificate = re.findall(r"DoT on port (\d+)\n  certificate: (\S+)", said)[0]
        question = ["kdig", "@127.0.0.1", "-p", port, "+tls", f"+tls-ca={certificate}", "+short", "www.example.", "A"]
        answer = subprocess.run(question, capture_output=True, text=True, check=False).stdout
        serving.send_signal(signal.SIGINT)
    assert answer.strip() == "192.0.2.4"
    assert serving.returncode == 0
    assert not Path(certificate).exists()


@pytest.mark.parametrize(
    ("server", "encrypted", "said"),
    [
        ("embedded", "dot,do53", "'do53' is not one of dot, doh, doq"),
        ("dnsdist", "", "name the server behind it, such as dnsdist\\+nsd"),
        ("powerdns", "dot", "dnsdist\\+powerdns puts dnsdist in front of it|not installed"),
    ],
)
def test_what_serve_refuses(dnsrig, zones, server: str, encrypted: str, said: str) -> None:
    done = dnsrig("serve", server, zones("unsigned").path, "--encrypted", encrypted)
    assert done.code in {2, 3}
    assert re.search(said, done.err), done.err


def test_servers_are_listed_with_what_they_encrypt(dnsrig) -> None:
    listed = dnsrig("servers", "--json").json
    assert [front["server"] for front in listed["fronts"]] == ["dnsdist+SERVER"]
    assert all(row["encrypted"] == [] for row in listed["servers"] if not row["found"])
    nsd = next(row for row in listed["servers"] if row["server"] == "nsd")
    assert nsd["encrypted"] == (["dot"] if nsd["found"] else [])
    assert "dnsdist+SERVER" in dnsrig("servers").out


def test_resolvers_and_proxies_are_listed_too(dnsrig) -> None:
    listed = {row["server"]: row for row in dnsrig("servers", "--json").json["resolvers"]}
    assert list(listed) == list(resolver_drivers())
    assert all(row["role"] in {"resolver", "proxy"} for row in listed.values())
    hickory = listed["hickory-recursor"]
    assert (hickory["package"], hickory["install"].split()[:3]) == ("", ["cargo", "install", "hickory-dns"])
    table = dnsrig("servers").out
    assert (f"not found: {hickory['install']}" in table) != hickory["found"]

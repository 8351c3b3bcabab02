"""A small zone in every form that the servers must serve, signed by BIND's tools."""

import shutil
import subprocess
from pathlib import Path

import pytest
from dnsrig.servers.base import ServedZone

ZONE = """\
$ORIGIN example.
$TTL 3600
@ SOA ns1 hostmaster {serial} 7200 900 1209600 300
@ NS ns1
@ NS ns2
@ MX 10 mail
ns1 A 192.0.2.1
ns2 A 192.0.2.2
ns2 AAAA 2001:db8::2
mail A 192.0.2.3
www A 192.0.2.4
alias CNAME www
a.b.ent TXT "below an empty non-terminal"
*.wild TXT "wildcard"
new{serial} TXT "a name of this serial only"
secure NS ns1.secure
secure DS 12345 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
ns1.secure A 192.0.2.5
insecure NS ns1.insecure
ns1.insecure A 192.0.2.6
"""
VARIANTS = {
    "unsigned": None,
    "nsec": [],
    "nsec3": ["-3", "aabbccdd", "-H", "5"],
    "nsec3-plain": ["-3", "-", "-H", "0"],
    "opt-out": ["-3", "-", "-H", "1", "-A"],
}
ITERATIONS_OF_LDNS = 500


class Zones:
    """Makes zone files on demand and keeps them for the session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, variant: str, serial: int = 1) -> ServedZone:
        path = self.folder / f"{variant}-{serial}.zone"
        if not path.exists():
            self._make(path, VARIANTS[variant], serial)
        return ServedZone("example", path)

    def iterated(self, iterations: int) -> ServedZone:
        """Make a zone with many iterations; dnssec-signzone refuses more than 150, ldns-signzone does not."""
        path = self.folder / f"iterations-{iterations}.zone"
        if path.exists():
            return ServedZone("example", path)
        if iterations <= 150:
            self._make(path, ["-3", "-", "-H", str(iterations)], 1)
            return ServedZone("example", path)
        if shutil.which("ldns-signzone") is None:
            pytest.skip("needs ldns-signzone: install the Debian package ldnsutils")
        self._keys()
        keys = [str(key.with_suffix("")) for key in sorted(self.folder.glob("K*.private"))]
        unsigned = self(variant="unsigned").path
        _run(["ldns-signzone", "-n", "-t", str(iterations), "-f", str(path), str(unsigned), *keys], self.folder)
        return ServedZone("example", path)

    def _make(self, path: Path, options: list[str] | None, serial: int) -> None:
        text = ZONE.format(serial=serial)
        if options is None:
            path.write_text(text)
            return
        self._keys()
        source = self.folder / f"{path.stem}.unsigned"
        source.write_text(text)
        _run(
            ["dnssec-signzone", "-q", "-S", "-o", "example", *options, "-f", str(path), str(source)],
            self.folder,
        )

    def _keys(self) -> None:
        if shutil.which("dnssec-keygen") is None:
            pytest.skip("needs dnssec-keygen and dnssec-signzone: install the Debian package bind9-utils")
        if not list(self.folder.glob("K*.private")):
            for flags in (["-f", "KSK"], []):
                _run(["dnssec-keygen", "-q", "-a", "ECDSAP256SHA256", *flags, "example"], self.folder)


def _run(argv: list[str], folder: Path) -> None:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"

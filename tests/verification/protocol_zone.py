"""A small zone with every landmark that items of the role `authoritative` ask for."""

import subprocess
import sys
from pathlib import Path

import dns.name
import dns.zone
from dnsrig.verification.landmarks import Landmarks, find_landmarks

ORIGIN = "matrix.example."
LARGE_TEXTS = 60
WIDE_TEXTS = 20
MIDDLE_TEXTS = 12


def zone_text() -> str:
    """Give the zone unsigned."""
    middle = "\n".join(f'middle TXT "text {number:02} {"m" * 40}"' for number in range(MIDDLE_TEXTS))
    wide = "\n".join(f'wide TXT "text {number:02} {"w" * 70}"' for number in range(WIDE_TEXTS))
    large = "\n".join(f'large TXT "text {number:02} {"x" * 70}"' for number in range(LARGE_TEXTS))
    return f"""\
$ORIGIN {ORIGIN}
$TTL 3600
@ SOA ns1 hostmaster 7 7200 900 1209600 300
@ NS ns1
@ NS ns2
@ MX 10 host
ns1 A 192.0.2.1
ns2 A 192.0.2.2
ns2 AAAA 2001:db8::2
host A 192.0.2.4
alias CNAME host
below DNAME target
host.target A 192.0.2.9
a.ent TXT "below an empty non-terminal"
*.wild TXT "wildcard"
strings TXT "{"a" * 255}" "{"b" * 255}" "the last one"
secure NS ns1.secure
secure DS 12345 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
ns1.secure A 192.0.2.5
insecure NS ns1.insecure
ns1.insecure A 192.0.2.6
{middle}
{wide}
{large}
"""


def make_zone(folder: Path) -> tuple[Path, Landmarks]:
    """Write the zone, signed with RSA keys so that its keys exceed 512 octets; give its file and its landmarks."""
    plain, signed = folder / "matrix.zone", folder / "matrix.signed"
    plain.write_text(zone_text())
    command = ["sign", "-K", str(folder), "-a", "RSASHA256", "--zsk-bits", "2048", "-f", str(signed), str(plain)]
    done = subprocess.run([sys.executable, "-m", "dnsrig", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    zone = dns.zone.from_file(str(signed), ORIGIN, relativize=False, check_origin=False)
    rrsets = ((name, rdataset.rdtype, rdataset) for name, node in zone.nodes.items() for rdataset in node.rdatasets)
    return signed, find_landmarks(dns.name.from_text(ORIGIN), rrsets)

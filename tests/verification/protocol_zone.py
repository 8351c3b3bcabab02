"""A small zone with every landmark that items of the role `authoritative` ask for."""

import subprocess
import sys
from pathlib import Path

import dns.name
import dns.zone
from dnsrig.verification.landmarks import Landmarks, find_landmarks

ORIGIN = "matrix.example."
RECORDS = {"huge": 75, "large": 20, "wide": 8, "middle": 3}
"""Records of TXT RRsets whose responses exceed 16384, 4000, 1220 and 512 octets."""
STRING_OCTETS = 230


def zone_text() -> str:
    """Give the zone unsigned."""
    texts = "\n".join(
        f'{name} TXT "{number:02} {"x" * (STRING_OCTETS - 3)}"'
        for name, records in RECORDS.items()
        for number in range(records)
    )
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
away CNAME www.elsewhere.test.
below DNAME target
host.target A 192.0.2.9
a.ent TXT "below an empty non-terminal"
*.wild TXT "wildcard"
strings TXT "{"a" * 255}" "{"b" * 255}" "the last one"
words TXT "four" " strings," " none" " long"
secure NS ns1.secure
secure DS 12345 13 2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
ns1.secure A 192.0.2.5
insecure NS ns1.insecure
ns1.insecure A 192.0.2.6
ns1.insecure AAAA 2001:db8::6
zz-insecure NS ns1
zz-insecure NS ns2
zz-secure NS ns1
zz-secure DS 12346 13 2 fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210
{texts}
"""


def make_zone(folder: Path) -> tuple[Path, Landmarks]:
    """Write the zone, signed with RSA keys so that its keys exceed 512 octets; give its file and its landmarks."""
    plain, signed = folder / "matrix.zone", folder / "matrix.signed"
    plain.write_text(zone_text())
    command = ["sign", "-K", str(folder), "-a", "RSASHA256", "--zsk-bits", "2048", "-f", str(signed), str(plain)]
    done = subprocess.run([sys.executable, "-m", "dnsrig", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return signed, read_landmarks(signed, ORIGIN)


def read_landmarks(path: Path, origin: str) -> Landmarks:
    """Find what a zone file has."""
    zone = dns.zone.from_file(str(path), origin, relativize=False, check_origin=False)
    rrsets = ((name, rdataset.rdtype, rdataset) for name, node in zone.nodes.items() for rdataset in node.rdatasets)
    return find_landmarks(dns.name.from_text(origin), rrsets)

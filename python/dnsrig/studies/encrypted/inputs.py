"""The zone and the queries of encrypted-cost: delegations of four letters, whose referrals all have one size."""

import random
import string
from dataclasses import dataclass
from pathlib import Path

from dnsrig import _core
from dnsrig.runs.folder import RunFolder

ORIGIN = "com."
NAMES = 1000
LETTERS = 4
ZONE_FILE = "zone-com.db"
QUERY_FILE = "queries.txt"
_APEX = """\
$ORIGIN com.
$TTL 172800
@ SOA a.gtld-servers.net. nstld.verisign-grs.com. 1 1800 900 604800 86400
@ NS a.gtld-servers.net.
@ NS b.gtld-servers.net.
"""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the servers serve and are asked."""

    zone_file: Path
    queries: _core.QueryStream
    facts: dict[str, object]


def prepare(run: RunFolder, seed: int) -> Inputs:
    """Make the zone and the queries in `run`'s folder `inputs`, the same again for the same seed."""
    zone_file, query_file = run.path / "inputs" / ZONE_FILE, run.path / "inputs" / QUERY_FILE
    labels = drawn_labels(seed)
    if not (zone_file.exists() and query_file.exists()):
        zone_file.write_text(_APEX + "".join(map(delegation, labels)), encoding="ascii")
        query_file.write_text("".join(f"{label}.{ORIGIN} A\n" for label in labels), encoding="ascii")
    for path in (zone_file, query_file):
        run.add_input(path)
    queries, _ = _core.QueryStream.from_text(query_file, message='{"recursion_desired": false}')
    facts: dict[str, object] = {
        "zone": {"origin": ORIGIN, **_core.Zone.read(zone_file, None).statistics()},
        "streams": {"four-letter names": {"queries": len(queries), "unique_names": NAMES}},
    }
    return Inputs(zone_file, queries, facts)


def drawn_labels(seed: int) -> list[str]:
    """Draw the delegated labels, all different."""
    draw = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < NAMES:
        found["".join(draw.choices(string.ascii_lowercase, k=LETTERS))] = None
    return list(found)


def delegation(label: str) -> str:
    """Delegate a label to two name servers below it, with an address each: a referral of 94 octets."""
    servers = (f"ns1.{label}", f"ns2.{label}")
    return "".join(f"{label} NS {server}\n{server} A 192.0.2.{number}\n" for number, server in enumerate(servers, 1))

"""A small private tree of signed zones: the root, test., a good zone below it and broken ones."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from dnsrig import _core
from dnsrig.hosts.namespace import Namespace
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.embedded import Embedded

DAY_S = 86_400
GOOD_ADDRESS = "203.0.113.80"
ZONES = ("good", "forged", "expired", "unsigned")
HEAD = """\
$ORIGIN {origin}
$TTL 300
@ SOA {server} hostmaster.invalid. 1 7200 900 1209600 300
@ NS {server}
"""


@dataclass(frozen=True)
class PrivateTree:
    """What a resolver must be told, and what is to be served where, on port 53."""

    root_hints: str
    trust_anchors: str
    served: Sequence[tuple[str, Sequence[ServedZone]]]
    """Addresses of servers, with the zones of each."""

    @property
    def addresses(self) -> list[str]:
        return [address for address, _ in self.served]

    @property
    def trust_anchor_keys(self) -> str:
        """The root's key-signing keys, for those who read no DS records."""
        text = self.served[0][1][0].path.read_text()
        return "\n".join(re.findall(r"^.*\sDNSKEY\s+257\s.*$", text, re.MULTILINE))


class TreeMaker:
    """Makes zone files; zones are made before their parents, which need their DS records."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(self, *, ipv6: bool) -> PrivateTree:
        root, test, below = (("192.0.2.1", "2001:db8::1"), ("192.0.2.2", "2001:db8::2"), ("192.0.2.3", "2001:db8::3"))
        families = 2 if ipv6 else 1
        leaves, delegations = [], [glue("ns.zones.test.", below[:families])]
        for name in ZONES:
            origin = f"{name}.test."
            text = f"www A {GOOD_ADDRESS}\n{'large TXT ' + ' '.join(['x' * 200] * 12)}\n"
            zone, ds = self.zone(origin, "ns.zones.test.", text, signed=name != "unsigned", expired=name == "expired")
            if name == "forged":
                zone.path.write_text(zone.path.read_text().replace(GOOD_ADDRESS, "203.0.113.81"))
            leaves.append(zone)
            delegations.append(f"{name} NS ns.zones.test.\n" + "".join(f"{record}\n" for record in ds))
        middle, ds = self.zone("test.", "ns.test.", glue("ns.test.", test[:families]) + "".join(delegations))
        text = glue("a.root-dns.", root[:families]) + glue("ns.test.", test[:families]) + "test. NS ns.test.\n"
        top, anchors = self.zone(".", "a.root-dns.", text + "".join(f"{record}\n" for record in ds))
        hints = ". 3600000 NS a.root-dns.\n" + glue("a.root-dns.", root[:families])
        served = [
            (address, zones)
            for addresses, zones in ((root, [top]), (test, [middle]), (below, leaves))
            for address in addresses[:families]
        ]
        return PrivateTree(hints, "".join(f"{record}\n" for record in anchors), served)

    def zone(
        self, origin: str, server: str, text: str, *, signed: bool = True, expired: bool = False
    ) -> tuple[ServedZone, list[str]]:
        """Write a zone; give it with its DS records."""
        path = self.folder / f"{origin.rstrip('.') or 'root'}.zone"
        path.write_text(HEAD.format(origin=origin, server=server) + text)
        if not signed:
            return ServedZone(origin, path), []
        keys = _core.KeySet()
        for role in ("ksk", "zsk"):
            keys.generate(origin, "ECDSAP256SHA256", None, role)
        now = int(time.time())
        span = (now - 9 * DAY_S, now - 2 * DAY_S) if expired else (now - DAY_S, now + 30 * DAY_S)
        _core.Zone.read(path, origin).sign(keys, denial="nsec", inception=span[0], expiration=span[1]).write(path)
        return ServedZone(origin, path), keys.ds_records


def glue(name: str, addresses: Sequence[str]) -> str:
    return "".join(f"{name} 3600 {'AAAA' if ':' in address else 'A'} {address}\n" for address in addresses)


@contextmanager
def serving(tree: PrivateTree, host: Namespace, folder: Path) -> Iterator[None]:
    """Serve the tree on its addresses, which the host must have."""
    with ExitStack() as stack:
        for address, zones in tree.served:
            place = folder / re.sub(r"\W", "-", address)
            stack.enter_context(Embedded(zones, ServerSettings(address=address, port=53), place, host))
        yield

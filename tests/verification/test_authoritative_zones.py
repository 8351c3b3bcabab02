"""Zones out of the ordinary before servers that are right: no item accuses them."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import dns.dnssec
import dns.rdataset
import dns.tsig
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DS import DS
from dnsrig.items.catalogue import items
from dnsrig.servers.base import ServedZone
from dnsrig.servers.registry import driver
from dnsrig.verification.asker import Asker
from dnsrig.verification.deviations import deviating_items
from dnsrig.verification.discovery import discover
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.runner import Result, run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.targets import settings_of
from dnsrig.verification.tsig_keys import key_of_settings
from dnsrig.verification.verdicts import Verdict
from dnsrig.verification.zones.editing import ZoneEditor
from dnsrig.verification.zones.making import VARIANTS, RigZone, Variant, make_zone
from matrix_record import keep_right, passed_of
from protocol_zone import ORIGIN, read_landmarks, zone_text
from turns import EVERY_PAIR

UDP_WAITS_S = (0.5, 1.0, 2.0)
ZONES_AT_ONCE = 14
OF_THE_SERVER = {"A-tcp-stalled"}
"""Whatever the zone is; of many zones at once it takes all that a server has for TCP. Other tests have it."""
SERVERS = ("embedded", "bind", "nsd", "knot", "powerdns")
ONCE, TWICE = (0,), (0, 2)
"""Before how many of the servers a zone is looked at, where not before all: every pair takes minutes."""
HEAD = "$TTL 3600\n@ SOA ns.elsewhere.example. hostmaster 1 7200 900 1209600 300\n"
OF_243_OCTETS = f"{'a' * 63}.{'b' * 63}.{'c' * 63}.{'d' * 48}."
ZONES = {
    ORIGIN: zone_text(),
    # Delegated in the zone above, and served by the same server.
    f"insecure.{ORIGIN}": HEAD + "@ NS ns1\nns1 A 192.0.2.6\n",
    "least.example.": HEAD + "@ NS ns.elsewhere.example.\n",
    "wild.example.": HEAD + '@ NS ns\n* TXT "everything"\n* A 192.0.2.1\nns A 192.0.2.2\na.b TXT "deep"\n',
    # Servers below a delegation, an alias to another zone, a chain of aliases, one that leads below the delegation.
    "below.example.": HEAD
    + "@ NS ns.child\nchild NS ns.child\nns.child A 192.0.2.3\nns.child AAAA 2001:db8::3\n"
    + "a CNAME b\nb CNAME c\nc A 192.0.2.4\nd CNAME host.elsewhere.example.\ne CNAME x.child\n",
    "aliases.example.": HEAD
    + "@ NS ns.elsewhere.example.\na CNAME www.elsewhere.example.\nold DNAME elsewhere.example.\n",
    # Wildcards below a host, one of a rare type; RRsets of several records; data in mixed case; a type of no name.
    "odd.example.": HEAD
    + "@ NS ns\n@ NS ns2\n@ MX 10 Mail\nns A 192.0.2.2\nns2 A 192.0.2.3\nHost A 192.0.2.4\nhost A 192.0.2.5\n"
    + f"*.host TLSA 3 1 1 {'00' * 32}\nmail A 192.0.2.6\n*.mail MX 10 mail\na CNAME Host\nempty.b TYPE65280 \\# 1 00\n"
    + "child NS ns.child\nns.child A 192.0.2.7\nother NS ns.child\nold DNAME host\n",
    "2.0.192.in-addr.arpa.": HEAD + "@ NS ns.elsewhere.example.\n1 PTR host.elsewhere.example.\n",
    "mail.example.": HEAD + "@ NS ns.elsewhere.example.\n* MX 10 mail.elsewhere.example.\nhost A 192.0.2.1\n",
    # There is hardly room for another label.
    OF_243_OCTETS: HEAD + "@ NS ns.elsewhere.example.\nh A 192.0.2.1\n* A 192.0.2.2\n",
    "renames.example.": HEAD + f"@ NS ns.elsewhere.example.\nold DNAME {OF_243_OCTETS}\n",
}
SYNCHRONISED = "synchronised.example."
NOT_SERVED = {("knot", OF_243_OCTETS), ("powerdns", SYNCHRONISED)}
"""Knot loads the zone and gives no SOA record; PowerDNS 4.7 reads no CSYNC records in the form for unknown types."""
REVOKING = "revoking.example."
"""A key of this zone is revoked, and signs its revocation."""
RSA_KEYS = Variant(name="keys", algorithms=("RSASHA256",), keys_of_each=2)
NSEC, NSEC3 = VARIANTS["nsec"], VARIANTS["nsec3"]
WILDCARDS = (
    "@ NS ns\nns A 192.0.2.2\nhost A 192.0.2.3\n* A 192.0.2.1\n*.host A 192.0.2.4\n*.tree A 192.0.2.5\n"
    "al CNAME zz\ndeep CNAME x.y.host\nold DNAME tree\n"
)
MAIL = "@ NS ns\nns A 192.0.2.2\n* MX 10 ns\nhost A 192.0.2.3\nempty.host TXT below\n"
DELEGATIONS = (
    "@ NS ns\nns A 192.0.2.2\na NS ns.a\nns.a A 192.0.2.3\nb NS ns.b\nns.b A 192.0.2.4\n"
    f"b DS 1 13 2 {'01' * 32}\nm A 192.0.2.5\nzz CNAME m\n*.wild A 192.0.2.6\n"
)
# Targets outside, below delegations, by wildcards, and those that say that there is no service.
SERVICES = (
    '@ NS ns\nns A 192.0.2.2\n@ MX 0 .\n@ TXT "v=spf1 -all"\n@ TXT other\n@ CAA 0 issue "ca.test; account=1"\n'
    '@ CAA 128 iodef "mailto:a@b.test"\n_a._tcp SRV 0 0 0 .\n_b._tcp SRV 0 0 5 x.wild\n*.wild A 192.0.2.3\n'
    "post MX 10 mx.child\npost MX 20 mx.elsewhere.test.\npost MX 30 x.wild\nchild NS ns.child\nns.child A 192.0.2.4\n"
    "other NS ns.child\nweb HTTPS 1 . alpn=h2\nalso HTTPS 0 web\ngone HTTPS 0 .\nlong CNAME x.wild\n"
    'away CNAME www.elsewhere.test.\ndown CNAME www.child\n_dmarc TXT "v=DMARC1; p=none"\n*.cname CNAME web\n'
)
SIGNED = {
    # The DNSKEY response exceeds the limit of 1232 octets that servers ship with.
    "keys.example.": (RSA_KEYS, "@ NS ns\nns A 192.0.2.2\nhost A 192.0.2.3\n"),
    # So does that of the only large RRset.
    "large.example.": (
        NSEC,
        "@ NS ns\nns A 192.0.2.2\n" + "".join(f'big TXT "{number} {"x" * 225}"\n' for number in range(7)),
    ),
    "services.example.": (NSEC, SERVICES),
    "services3.example.": (NSEC3, SERVICES),
    "wildcards.example.": (NSEC, WILDCARDS),
    "wildcards3.example.": (NSEC3, WILDCARDS),
    "mail-signed.example.": (NSEC, MAIL),
    "mail-signed3.example.": (NSEC3, MAIL),
    "delegations.example.": (NSEC, DELEGATIONS),
    "delegations3.example.": (NSEC3, DELEGATIONS),
    SYNCHRONISED: (NSEC, "@ NS ns\nns A 192.0.2.2\n@ CSYNC 1 3 NS A AAAA\n"),
    REVOKING: (NSEC, "@ NS ns\nns A 192.0.2.2\n"),
}
ROOT = HEAD + "@ NS ns.elsewhere.example.\nexample NS ns.elsewhere.example.\nns.elsewhere.example A 192.0.2.1\n"


@dataclass(frozen=True)
class Made:
    """A zone's file, what is in it, and the parent zone's DS records for it."""

    path: Path
    landmarks: Landmarks
    ds: tuple[DS, ...] = ()


@pytest.fixture(scope="module")
def zones(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Made]:
    folder = tmp_path_factory.mktemp("zones")
    made = {}
    for number, (origin, text) in enumerate(ZONES.items()):
        path = folder / f"{number}.zone"
        path.write_text(text)
        made[origin] = Made(path, read_landmarks(path, origin))
    for origin, (variant, text) in SIGNED.items():
        zone = make_zone(folder, variant, origin, records=HEAD + text)
        zone = revoking(zone) if origin == REVOKING else zone
        made[origin] = Made(zone.path, zone.landmarks, zone.ds)
    return made


def revoking(zone: RigZone) -> RigZone:
    """Add a key that is revoked to a zone's keys, and have it sign them beside the KSK (RFC 5011 section 2.1)."""
    editor = ZoneEditor(zone)
    private = ec.generate_private_key(ec.SECP256R1())
    revoked = dns.dnssec.make_dnskey(private.public_key(), "ECDSAP256SHA256", flags=0x0181)
    keys = editor.rdataset(editor.origin, RdataType.DNSKEY)
    editor.put(editor.origin, RdataType.DNSKEY, keys.ttl, [*keys, revoked])
    signatures = []
    for pair in (editor.ksk, (revoked, private)):
        editor.sign(editor.origin, RdataType.DNSKEY, pair)
        signatures += editor.data.find_rdataset(editor.origin, RdataType.RRSIG, RdataType.DNSKEY)
    editor.data.replace_rdataset(editor.origin, dns.rdataset.from_rdata_list(keys.ttl, signatures))
    return editor.finish()


def run(
    asker: Asker, known: Landmarks, ds: tuple[DS, ...] = (), tsig: dns.tsig.Key | None = None
) -> tuple[Landmarks, list[Result]]:
    """Run the items; give with what was known of the zone what they say."""
    chosen = [known_item for known_item in items("authoritative") if known_item.item.id not in OF_THE_SERVER]
    return known, run_items(chosen, AuthoritativeSubject(asker, known, given_ds=ds or None, tsig=tsig))


def accused(found: tuple[Landmarks, list[Result]], expected: Iterable[str]) -> list[object]:
    """Give the items that fail unexpectedly, and those with an error of their own."""
    known, results = found
    wrong = [
        result
        for result in results
        if (result.outcome.verdict is Verdict.FAIL and result.item.id not in expected)
        or result.outcome.reason.startswith("Error in the item")
    ]
    return [(known.origin.to_text(), result.item.id, result.outcome.reason) for result in wrong]


def in_turn(name: str, mine: Mapping[str, Made], zones: Mapping[str, Made], turns: Sequence[int]) -> list[Made]:
    """Give those of a server's zones that are looked at there: the servers take turns, several for each zone."""
    turn = SERVERS.index(name)
    return [
        mine[origin]
        for place, origin in enumerate(zones)
        if origin in mine and (EVERY_PAIR or (place + turn) % len(SERVERS) in turns)
    ]


@pytest.mark.parametrize("name", SERVERS)
def test_servers_that_are_right_are_not_accused(name: str, zones: Mapping[str, Made], tmp_path: Path) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    mine = {origin: made for origin, made in zones.items() if (name, origin) not in NOT_SERVED}
    served = [ServedZone(origin, made.path) for origin, made in mine.items()]
    with kind(served, settings_of(kind), tmp_path) as server:
        tsig = key_of_settings(server.settings)
        expected = deviating_items("authoritative", name, server.version)
        asker = Asker(Endpoint(*server.address), udp_waits_s=UDP_WAITS_S)
        # Also where nothing is known of the zone but its name, and with what is found by it.
        named = [made.landmarks.origin for made in in_turn(name, mine, zones, ONCE)]
        known = [(made.landmarks, made.ds) for made in in_turn(name, mine, zones, TWICE)]
        known += [(Landmarks(origin), ()) for origin in named]
        with ThreadPoolExecutor(ZONES_AT_ONCE) as pool:
            found = list(pool.map(lambda made: run(asker, *made, tsig), known))
            found += pool.map(lambda origin: run(asker, discover(asker, origin), (), tsig), named)
        passed = set().union(*(passed_of(results) for _, results in found))
        failed = {one.item.id for _, results in found for one in results if one.outcome.verdict is Verdict.FAIL}
        keep_right("authoritative", (name, server.version), failed, passed - failed, "zones of other shapes")
        assert [wrong for several in found for wrong in accused(several, expected)] == []


@pytest.mark.parametrize("name", SERVERS)
def test_servers_that_have_the_root_too_are_not_accused(name: str, zones: Mapping[str, Made], tmp_path: Path) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    path = tmp_path / "root.zone"
    path.write_text(ROOT)
    origin = "delegations.example."
    served = [ServedZone(".", path), ServedZone(origin, zones[origin].path)]
    with kind(served, settings_of(kind), tmp_path / "server") as server:
        tsig = key_of_settings(server.settings)
        expected = deviating_items("authoritative", name, server.version)
        asker = Asker(Endpoint(*server.address), udp_waits_s=UDP_WAITS_S)
        assert accused(run(asker, zones[origin].landmarks, zones[origin].ds, tsig), expected) == []

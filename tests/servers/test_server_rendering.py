"""Rendered configurations: golden files, the servers' own checkers, and odd values from outside.

After a wanted change of a template, write the golden files anew with DNSRIG_UPDATE_GOLDEN=1 and read the difference.
"""

import os
from pathlib import Path

import pytest
from dnsrig.errors import InputError
from dnsrig.servers.base import ServedZone, Server, ServerSettings
from dnsrig.servers.certificates import Certificate
from dnsrig.servers.registry import driver, drivers
from dnsrig.servers.rendering import quoted, zone_name
from dnsrig.servers.settings import TransferKey
from dnsrig.servers.transports import EncryptedTransport
from hypothesis import given
from hypothesis import strategies as st

KINDS = [*drivers(), "dnsdist+embedded"]
GOLDEN = Path(__file__).with_name("golden")
FOLDER = Path("/run/server")
ZONES = Path("/zones")
ODD_NAME = "a 'b';c#d{e}$f*g[h]@i,=&ü~!.zone"
DEFAULT = ServerSettings(port=5300)
OTHER = {
    "address": "::1",
    "port": 5300,
    "threads": 4,
    "answers": "full",
    "answer_cache": "off",
    "raise_limits": False,
    "tcp_clients": 20,
}


def default_case(kind: type[Server], folder: Path = FOLDER, zones: Path = ZONES) -> Server:
    return kind([ServedZone("example", zones / "example.zone")], DEFAULT, folder)


def other_case(kind: type[Server], folder: Path = FOLDER, zones: Path = ZONES) -> Server:
    served = [
        ServedZone(".", zones / "root zone's file"),
        ServedZone("1.0/25.2.0.192.in-addr.arpa.", zones / "reverse"),
    ]
    settings = ServerSettings(**OTHER, log_queries=kind.logs_queries)
    return kind(served, settings, folder)


def encrypted_case(kind: type[Server], folder: Path = FOLDER, zones: Path = ZONES) -> Server:
    """Everything that some version of the server has; whether this one has it is seen at the start."""
    ports = {transport: 5301 + index for index, transport in enumerate(HAVE[kind.name])}
    settings = ServerSettings(
        port=5300,
        threads=2,
        encrypted=frozenset(ports),
        encrypted_ports=ports,
        certificate=Certificate(zones / "certificate.pem", zones / "key.pem", "ecdsa-p256"),
    )
    return kind([ServedZone("example", zones / "example.zone")], settings, folder)


def secondary_case(kind: type[Server], folder: Path = FOLDER, zones: Path = ZONES) -> Server:
    key = TransferKey(bytes(32))
    settings = ServerSettings(port=5300, transfer_key=key, primary=("127.0.0.1", 5301))
    return kind([ServedZone("example", zones / "example.zone"), ServedZone(".", zones / "root")], settings, folder)


CASES = {"default": default_case, "other": other_case}
SECONDARIES = [name for name, kind in drivers().items() if kind.takes_transfers]
HAVE: dict[str, list[EncryptedTransport]] = {
    "embedded": ["dot", "doh", "doq"],
    "bind": ["dot", "doh"],
    "nsd": ["dot"],
    "knot": ["dot", "doq"],
    "unbound": ["dot", "doh", "doq"],
    "dnsdist+embedded": ["dot", "doh", "doq"],
}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("case", list(CASES))
def test_golden(name: str, case: str) -> None:
    compare_with_golden(name, case, CASES[case](driver(name)))


@pytest.mark.parametrize("name", list(HAVE))
def test_golden_encrypted(name: str) -> None:
    compare_with_golden(name, "encrypted", encrypted_case(driver(name)))


@pytest.mark.parametrize("name", SECONDARIES)
def test_golden_secondary(name: str) -> None:
    compare_with_golden(name, "secondary", secondary_case(driver(name)))


@pytest.mark.parametrize("name", SECONDARIES)
def test_servers_checker_accepts_a_secondary(name: str, tmp_path: Path) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: install the Debian package {kind.package}")
    secondary_case(kind, tmp_path / "server", tmp_path).check()


@pytest.mark.parametrize("name", [name for name, kind in drivers().items() if not kind.takes_transfers])
def test_servers_that_cannot_be_secondaries_refuse(name: str) -> None:
    with pytest.raises(InputError, match=r"leave it out|cannot be a secondary"):
        secondary_case(driver(name))


def compare_with_golden(name: str, case: str, server: Server) -> None:
    rendered = server.render()
    folder = GOLDEN / f"{name}-{case}"
    if os.environ.get("DNSRIG_UPDATE_GOLDEN"):
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in rendered.items():
            (folder / file).write_text(text)
    assert {path.name: path.read_text() for path in folder.iterdir()} == rendered


@pytest.mark.parametrize("case", list(CASES))
def test_servers_checker_accepts(kind: type[Server], case: str, tmp_path: Path) -> None:
    server = CASES[case](kind, tmp_path / "server", tmp_path)
    for zone in server.zones:
        zone.path.write_text("@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns.invalid.\n")
    server.check()


def test_rendering_needs_no_files_and_repeats(kind: type[Server]) -> None:
    server = default_case(kind)
    assert server.render() == server.render()
    assert not server.folder.exists()


def test_odd_path_is_served(kind: type[Server], zones, tmp_path: Path) -> None:
    path = tmp_path / ODD_NAME
    path.write_bytes(zones("nsec").path.read_bytes())
    with kind([ServedZone("example", path)], ServerSettings(), tmp_path / "server") as server:
        assert server.pids()


@pytest.mark.parametrize("character", ['"', "\\", "\n", "\t", "\x7f", "\udcff", "\u2028"])
def test_unquotable_path_is_refused(kind: type[Server], character: str, tmp_path: Path) -> None:
    if kind.name.endswith("embedded"):
        pytest.skip("its configuration is JSON, which can hold any path")
    server = kind([ServedZone("example", tmp_path / f"a{character}b")], DEFAULT, tmp_path / "server")
    with pytest.raises(InputError, match="use a copy, or a symbolic link, with a plain name"):
        server.render()


def test_percent_sign(kind: type[Server], zones, tmp_path: Path) -> None:
    """NSD would replace %s by the zone's name and has no escape; Knot DNS has one."""
    path = tmp_path / "100%s.zone"
    path.write_bytes(zones("nsec").path.read_bytes())
    zone = ServedZone("example", path)
    if kind.name == "nsd":
        with pytest.raises(InputError, match="'%'"):
            kind([zone], ServerSettings(), tmp_path / "server")
        return
    with kind([zone], ServerSettings(), tmp_path / "server") as server:
        assert server.pids()


@given(st.text(st.characters(codec="utf-8"), min_size=1).map(Path))
def test_quoted_path_is_whole_or_refused(path: Path) -> None:
    try:
        text = quoted(path)
    except InputError:
        assert '"' in str(path) or "\\" in str(path) or not str(path).isprintable()
    else:
        assert text == f'"{path}"'
        assert not set(text[1:-1]) & {'"', "\\", "\n", "\r", "\0"}


@given(st.text())
def test_zone_name_needs_no_escapes(name: str) -> None:
    try:
        absolute = zone_name(name)
    except InputError:
        return
    assert absolute.endswith(".")
    assert not set(absolute) & set("\"\\ \t\n;{}()#%$'")


@pytest.mark.parametrize("name", ["a b", 'a"b', "a;b", "ü", "a..b", ".a", "a{", "a\n"])
def test_unwritable_zone_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        ServedZone(name, Path("/zones/a"))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"address": "localhost"}, "'localhost' is not an IPv4 or IPv6 address"),
        ({"port": 65536}, "65536"),
        ({"threads": 0}, "at least one thread"),
        ({"tcp_clients": 0}, "at least one TCP"),
        ({"cpus": frozenset()}, "at least one CPU"),
        ({"primary": ("127.0.0.1", 53)}, "needs the key of its primary"),
        ({"encrypted": frozenset({"dot", "doq"})}, "DoT, DoQ cannot be served without a certificate"),
        ({"encrypted_ports": {"dot": -1}}, "-1"),
        ({"port": 5300, "encrypted_ports": {"dot": 5300}}, "cannot have one port"),
    ],
)
def test_bad_settings(values: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ServerSettings(**values)


@pytest.mark.parametrize("name", [name for name, kind in drivers().items() if not kind.logs_queries])
def test_query_log_that_cannot_be_had_is_refused(name: str) -> None:
    zone = ServedZone("example", Path("/zones/a"))
    with pytest.raises(InputError, match="cannot log queries"):
        drivers()[name]([zone], ServerSettings(log_queries=True), Path("/run/server"))


def test_no_zones(kind: type[Server]) -> None:
    with pytest.raises(InputError, match="at least one zone"):
        kind([], DEFAULT, Path("/run/server"))


@pytest.mark.parametrize("name", KINDS)
def test_remarks_name_what_matters(name: str) -> None:
    kind = driver(name)
    plain, full = default_case(kind).remarks(), other_case(kind).remarks()
    for remarks in (plain, full):
        assert any("limiting" in remark for remark in remarks)
        assert all(remark == remark.strip() for remark in remarks)
    assert not any(remark.startswith("full answers") for remark in plain)
    assert any(remark.startswith("full answers") for remark in full)
    assert kind.iteration_limit

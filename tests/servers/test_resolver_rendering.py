"""Rendered configurations of resolvers and proxies: golden files, unfit settings, trust anchors in every form.

After a wanted change of a template, write the golden files anew with DNSRIG_UPDATE_GOLDEN=1 and read the difference.
"""

import dataclasses
import os
from pathlib import Path
from typing import Any

import dns.dnssec
import dns.name
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.servers.certificates import Certificate, make_certificate
from dnsrig.servers.resolvers.anchors import read_anchors
from dnsrig.servers.resolvers.base import Resolver
from dnsrig.servers.resolvers.registry import resolver_driver, resolver_drivers
from dnsrig.servers.resolvers.settings import Forwarder, ManagedAnchors, ResolverSettings
from hypothesis import given
from hypothesis import strategies as st

GOLDEN = Path(__file__).with_name("golden") / "resolvers"
FOLDER = Path("/run/server")
HINTS = ". 3600000 NS a.root-dns.\na.root-dns. 3600000 A 192.0.2.1\n"
HINTS_IPV6 = HINTS + "a.root-dns. 3600000 AAAA 2001:db8::1\n"
DS = ". IN DS 20326 8 2 e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d\n"
DNSKEY = """\
example. 3600 IN DNSKEY 257 3 15 ( l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4= )
"""
ROOT_DNSKEY = DNSKEY.replace("example.", ".")
HICKORY = {"root_hints": HINTS, "trust_anchors": ROOT_DNSKEY}


def default_case(kind: type[Resolver]) -> ResolverSettings:
    if kind.role == "proxy":
        return ResolverSettings(port=53, forwarders=(Forwarder("192.0.2.53"),))
    return ResolverSettings(port=53, root_hints=HINTS, trust_anchors=DS if kind.reads_ds else ROOT_DNSKEY)


def other_case(kind: type[Resolver]) -> ResolverSettings:
    common: dict[str, Any] = {
        "addresses": ("127.0.0.1", "::1"),
        "port": 5300,
        "unhidden": ("test", "2.0.192.in-addr.arpa."),
        "threads": 1 if kind.name == "knot-resolver" else 2,
        "verbose": True,
        "cache": "on",
    }
    if kind.can_validate:
        common |= {"validate": True, "trust_anchors": (DS if kind.reads_ds else ROOT_DNSKEY) + DNSKEY}
    if kind.can_manage_anchors:
        common["managed"] = ManagedAnchors(hold_down_s=6, probe_s=2)
    if kind.role == "proxy":
        return ResolverSettings(forwarders=(Forwarder("192.0.2.53", 5353), Forwarder("2001:db8::53")), **common)
    return ResolverSettings(root_hints=HINTS_IPV6, **common)


def measured_case(kind: type[Resolver]) -> ResolverSettings:
    return dataclasses.replace(
        default_case(kind),
        cache_octets=64 << 20,
        prefetch=kind.name == "unbound",
        statistics=True,
        upstream_queries=200,
        threads=2 if kind.name == "knot-resolver" else 1,
    )


def encrypted_case(kind: type[Resolver]) -> ResolverSettings:
    return dataclasses.replace(
        default_case(kind),
        addresses=("127.0.0.1", "::1"),
        encrypted_ports={"dot": 853, "doh": 443},
        certificate=Certificate(Path("/run/chain.pem"), Path("/run/key.pem"), "ecdsa-p256"),
        tcp_clients=500,
    )


CASES = {"default": default_case, "other": other_case, "measured": measured_case, "encrypted": encrypted_case}
ENCRYPTING = {"bind", "knot-resolver", "unbound"}
PAIRS = [
    (name, case)
    for name, kind in resolver_drivers().items()
    for case in CASES
    if {"measured": kind.role == "resolver" and kind.can_count, "encrypted": name in ENCRYPTING}.get(case, True)
]


@pytest.mark.parametrize(("name", "case"), PAIRS)
def test_golden(name: str, case: str) -> None:
    kind = resolver_driver(name)
    driver = kind(CASES[case](kind), FOLDER)
    rendered = {**driver.render(), "remarks.txt": "".join(f"{remark}\n" for remark in driver.remarks())}
    folder = GOLDEN / f"{name}-{case}"
    if os.environ.get("DNSRIG_UPDATE_GOLDEN"):
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in rendered.items():
            (folder / file).write_text(text)
    assert rendered == {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize(("name", "case"), PAIRS)
def test_checker_accepts(name: str, case: str, tmp_path: Path) -> None:
    kind = resolver_driver(name)
    if kind.find() is None:
        pytest.skip(f"{kind.title} is not installed: {kind.how_to_install()}")
    settings = CASES[case](kind)
    if settings.encrypted_ports:
        settings = dataclasses.replace(settings, certificate=make_certificate(tmp_path))
    kind(settings, tmp_path / "server").check()


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("unbound", {}, "needs root hints"),
        ("unbound", {"root_hints": ". NS a.\n"}, "no address of a root server"),
        ("unbound", {"root_hints": "not a zone file ("}, "root hints cannot be read"),
        ("bind", {"root_hints": HINTS, "forwarders": (Forwarder("192.0.2.1"),)}, "has no forwarders"),
        ("bind", {"root_hints": HINTS, "validate": True}, "needs trust anchors to validate"),
        ("bind", {"root_hints": HINTS, "trust_anchors": ". TXT none"}, "no DS or DNSKEY record"),
        ("bind", {"root_hints": HINTS, "trust_anchors": ". DS what"}, "trust anchors cannot be read"),
        ("bind", {"root_hints": HINTS, "managed": ManagedAnchors()}, "none to begin with"),
        ("bind", {"root_hints": HINTS, "addresses": ("localhost",)}, "'localhost' is not an IPv4 or IPv6 address"),
        ("bind", {"root_hints": HINTS, "port": 70000}, "port 70000 is not between"),
        ("powerdns-recursor", {"root_hints": HINTS, "trust_anchors": DS, "managed": ManagedAnchors()}, "RFC 5011"),
        (
            "knot-resolver",
            {"root_hints": HINTS, "trust_anchors": DS, "managed": ManagedAnchors(), "threads": 2},
            "in one process only",
        ),
        ("knot-resolver", {"root_hints": HINTS, "memory_octets": 16 << 20, "threads": 3}, "cannot start with 16777216"),
        ("unbound", {"root_hints": HINTS, "encrypted_ports": {"dot": 853}}, "DoT cannot be served without a certif"),
        (
            "bind",
            {"root_hints": HINTS, "trust_anchors": DS, "managed": ManagedAnchors(), "validate": False},
            "by a server that validates",
        ),
        ("hickory-recursor", {"root_hints": HINTS, "trust_anchors": DS}, "as DNSKEY records, and no DS"),
        ("hickory-recursor", {**HICKORY, "managed": ManagedAnchors()}, "RFC 5011"),
        ("hickory-recursor", {**HICKORY, "statistics": True}, "no statistics that dnsrig can ask for"),
        ("hickory-recursor", {**HICKORY, "cache_octets": 64 << 20}, "counts responses in its cache, not octets"),
        ("hickory-recursor", {**HICKORY, "prefetch": True}, "before it expires"),
        ("hickory-recursor", {**HICKORY, "serve_stale": True}, "no expired records"),
        ("hickory-recursor", {**HICKORY, "udp_limit": 1232}, "no setting for the octets"),
        ("dnsmasq", {}, "needs an address to forward to"),
        ("dnsdist", {"forwarders": (Forwarder("192.0.2.1"),), "trust_anchors": DS, "validate": True}, "not validate"),
    ],
)
def test_unfit_settings(name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        resolver_driver(name)(ResolverSettings(**given), FOLDER)


def test_what_no_distribution_has_names_the_command_that_builds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = resolver_driver("hickory-recursor")
    monkeypatch.setattr(kind, "find", classmethod(lambda _: None))
    with pytest.raises(
        EnvironmentLacksError, match=r"not installed: cargo install hickory-dns .*recursor,dnssec-aws-lc-rs"
    ):
        kind(default_case(kind), FOLDER).installation  # noqa: B018


@pytest.mark.parametrize("make", [lambda: ManagedAnchors(0), lambda: Forwarder("192.0.2.1", 0)])
def test_unfit_parts(make: Any) -> None:
    with pytest.raises(InputError):
        make()


def test_names() -> None:
    assert resolver_driver("unbound-forwarder").role == "proxy"
    with pytest.raises(InputError, match=r"named 'kresd': did you mean knot-resolver"):
        resolver_driver("kresd")
    with pytest.raises(
        InputError, match=r"known are bind, hickory-recursor, knot-resolver, powerdns-recursor, unbound, dnsmasq"
    ):
        resolver_driver("zzz")


@given(st.binary(min_size=32, max_size=32), st.sampled_from([".", "example.", "a.b.test."]))
def test_anchors_survive_every_form(private: bytes, zone: str) -> None:
    public = ed25519.Ed25519PrivateKey.from_private_bytes(private).public_key()
    key = dns.dnssec.make_dnskey(public, "ED25519", flags=257)
    ds = dns.dnssec.make_ds(dns.name.from_text(zone), key, "SHA256")
    of_key, of_ds = read_anchors(f"{zone} DNSKEY {key}\n{zone} DS {ds}\n{zone} TXT left-aside\n")
    assert (of_key.rdata, of_ds.rdata) == (key, ds)
    assert of_key.ds() == of_ds.ds() == of_ds
    assert read_anchors(of_key.record + "\n" + of_ds.record) == (of_key, of_ds)
    assert [len(anchor.fields) for anchor in (of_key, of_ds)] == [4, 4]

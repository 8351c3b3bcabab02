"""Every server answers from the signed zone with proofs that a validator accepts."""

import random
from pathlib import Path

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import pytest
from denial import Nsec3Proof, NsecProof, proof_in
from dnsrig.servers.base import Server, ServerSettings
from signature_check import APEX, ask, check_signatures, keys_of

SIGNED = ["nsec", "nsec3", "nsec3-plain", "opt-out"]
NO_NAMES = ["nx", "a.nx", "0", "zzz", "x.www", "x.ent", "x.b.ent", "nx.ns1", "*.nx", "x.y.z.alias"]
NO_DATA = [
    ("www", "MX"),
    ("@", "TXT"),
    ("ent", "A"),
    ("b.ent", "TXT"),
    ("wild", "TXT"),
    ("x.wild", "A"),
    ("x.y.wild", "MX"),
    ("insecure", "DS"),
]
EXPANDED = ["x.wild", "x.y.wild"]
FAULTY = {"unbound": ["x.ent", "x.b.ent", "wild", "x.wild", "x.y.wild"]}
"""Names about which a server's proofs are known to be wrong, see docs/servers.md."""


def absolute(name: str) -> dns.name.Name:
    return dns.name.from_text(name, APEX)


def check_proof_kind(message: dns.message.Message, variant: str) -> NsecProof | Nsec3Proof:
    proof = proof_in(message, APEX)
    assert isinstance(proof, NsecProof if variant == "nsec" else Nsec3Proof)
    return proof


@pytest.mark.parametrize("variant", SIGNED)
def test_signed_zone_validates(kind: type[Server], variant: str, zones, tmp_path: Path) -> None:
    with kind([zones(variant)], ServerSettings(), tmp_path / "server") as server:
        keys = keys_of(server.address)
        check_positive(server, keys)
        check_denials(server, keys, variant)
        check_wildcards(server, keys, variant)
        check_referrals(server, keys, variant)


def check_positive(server: Server, keys) -> None:
    for name, rdtype in (("www", "A"), ("@", "MX"), ("@", "SOA"), ("ns2", "AAAA"), ("secure", "DS")):
        answer = ask(server.address, f"{name}.example." if name != "@" else "example.", rdtype)
        assert answer.rcode() == dns.rcode.NOERROR
        assert answer.flags & dns.flags.AA
        assert check_signatures(answer.answer, keys) == 1
    answer = ask(server.address, "alias.example.", "A")
    assert {rrset.rdtype for rrset in answer.answer} >= {dns.rdatatype.CNAME, dns.rdatatype.A}
    assert check_signatures(answer.answer, keys) == 2


def check_denials(server: Server, keys, variant: str) -> None:
    chosen = random.Random(20100101)
    drawn = ["".join(chosen.choices("abcdefghijklmnopqrstuvwxyz", k=8)) for _ in range(40)]
    faulty = FAULTY.get(server.name, [])
    for name in [name for name in NO_NAMES + drawn if name not in faulty]:
        answer = ask(server.address, f"{name}.example.", "A")
        assert answer.rcode() == dns.rcode.NXDOMAIN, name
        assert not answer.answer
        check_signatures(answer.authority, keys)
        check_proof_kind(answer, variant).prove_no_name(absolute(name))
    for name, rdtype in [(name, rdtype) for name, rdtype in NO_DATA if name not in faulty]:
        owner = APEX if name == "@" else absolute(name)
        answer = ask(server.address, str(owner), rdtype)
        assert answer.rcode() == dns.rcode.NOERROR, name
        assert not answer.answer
        check_signatures(answer.authority, keys)
        check_proof_kind(answer, variant).prove_no_data(owner, dns.rdatatype.from_text(rdtype))


def check_wildcards(server: Server, keys, variant: str) -> None:
    for name in EXPANDED:
        answer = ask(server.address, f"{name}.example.", "TXT")
        assert answer.answer[0].name == absolute(name)
        assert check_signatures(answer.answer, keys) == 1
        check_signatures(answer.authority, keys)
        if name not in FAULTY.get(server.name, []):
            check_proof_kind(answer, variant).prove_expansion(absolute(name), absolute("wild"))


def check_referrals(server: Server, keys, variant: str) -> None:
    secure = ask(server.address, "host.secure.example.", "A")
    assert not secure.flags & dns.flags.AA
    assert {rrset.rdtype for rrset in secure.authority} >= {dns.rdatatype.NS, dns.rdatatype.DS}
    assert check_signatures(secure.authority, keys) == 1
    insecure = ask(server.address, "host.insecure.example.", "A")
    assert not insecure.flags & dns.flags.AA
    assert not insecure.answer
    assert check_signatures(insecure.authority, keys) >= 1
    check_proof_kind(insecure, variant).prove_insecure(absolute("insecure"))


def test_unsigned_zone_is_served_without_dnssec(kind: type[Server], zones, tmp_path: Path) -> None:
    with kind([zones("unsigned")], ServerSettings(), tmp_path / "server") as server:
        expected = {
            ("www", "A"): dns.rcode.NOERROR,
            ("nx", "A"): dns.rcode.NXDOMAIN,
            ("ent", "A"): dns.rcode.NOERROR,
            ("x.wild", "TXT"): dns.rcode.NOERROR,
            ("www", "MX"): dns.rcode.NOERROR,
        }
        for (name, rdtype), rcode in expected.items():
            answer = ask(server.address, f"{name}.example.", rdtype)
            assert answer.rcode() == rcode
            assert bool(answer.answer) == (name == "x.wild" or (name, rdtype) == ("www", "A"))
            present = {rrset.rdtype for rrset in answer.answer + answer.authority}
            assert not present & {dns.rdatatype.RRSIG, dns.rdatatype.NSEC, dns.rdatatype.NSEC3}


@pytest.mark.parametrize("iterations", [150, 500])
def test_many_iterations_validate_with_raised_limits(
    kind: type[Server], iterations: int, zones, tmp_path: Path
) -> None:
    with kind([zones.iterated(iterations)], ServerSettings(), tmp_path / "server") as server:
        check_denials(server, keys_of(server.address), "nsec3")


def test_full_answers(kind: type[Server], zones, tmp_path: Path) -> None:
    """Full answers carry the apex NS set beside a positive answer, or the remarks say that they do not."""
    with kind([zones("nsec")], ServerSettings(answers="full"), tmp_path / "server") as server:
        answer = ask(server.address, "www.example.", "A")
        carried = any(rrset.rdtype == dns.rdatatype.NS for rrset in answer.authority)
        remark = next(remark for remark in server.remarks() if remark.startswith("full answers"))
        assert carried != ("not available" in remark)

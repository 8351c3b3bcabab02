"""The proof checker itself: it accepts no proof from which something is missing."""

from pathlib import Path

import dns.name
import pytest
from denial import ProofError, closest_encloser_candidates, next_closer, proof_in
from dnsrig.servers.base import ServerSettings
from dnsrig.servers.registry import found
from signature_check import APEX, ask


def test_ancestors_and_next_closer() -> None:
    name = dns.name.from_text("a.b.c.example.")
    assert [str(ancestor) for ancestor in closest_encloser_candidates(name, APEX)] == [
        "b.c.example.",
        "c.example.",
        "example.",
    ]
    assert str(next_closer(name, APEX)) == "c.example."


@pytest.mark.parametrize("variant", ["nsec", "nsec3"])
def test_every_record_of_a_proof_is_needed(variant: str, zones, tmp_path: Path) -> None:
    from dnsrig.servers.registry import drivers

    name = next((name for name in found() if name != "embedded"), None)
    if name is None:
        pytest.skip("needs a server: install the Debian package nsd")
    questions = {
        "a.nx.example.": lambda proof, owner: proof.prove_no_name(owner),
        "www.example.": lambda proof, owner: proof.prove_no_data(owner, 16),
        "x.wild.example.": lambda proof, owner: proof.prove_no_data(owner, 1),
    }
    with drivers()[name]([zones(variant)], ServerSettings(), tmp_path / "server") as server:
        for question, prove in questions.items():
            owner = dns.name.from_text(question)
            answer = ask(server.address, question, "TXT" if question.startswith("www") else "A")
            proof = proof_in(answer, APEX)
            prove(proof, owner)
            for index in range(len(proof.records)):
                rest = proof.records[:index] + proof.records[index + 1 :]
                if rest:
                    with pytest.raises(ProofError):
                        prove(type(proof)(APEX, rest), owner)
            with pytest.raises(ProofError):
                proof.prove_no_name(dns.name.from_text("www.example.")) if "nx" not in question else (
                    proof.prove_no_data(owner, 1)
                )

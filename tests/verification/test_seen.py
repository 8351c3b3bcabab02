"""What came to the tree: found by name, whatever its case, and forgotten from its beginning."""

import dns.message
import dns.name
import pytest
from dnsrig.verification.tree import seen
from dnsrig.verification.tree.seen import SeenQueries


def add(queries: SeenQueries, name: str) -> None:
    query = dns.message.make_query(name, "A")
    queries.add(query, query.to_wire(), "udp", "192.0.2.1", ("192.0.2.2", 1053))


def names(queries: SeenQueries, name: str) -> list[str]:
    return [one.name.to_text() for one in queries.of(dns.name.from_text(name))]


def test_queries_for_a_name_are_found_whatever_its_case() -> None:
    queries = SeenQueries()
    for name in ("a.example.", "b.example.", "A.example.", "a.EXAMPLE.", "x.a.example."):
        add(queries, name)
    assert names(queries, "a.Example.") == ["a.example.", "A.example.", "a.EXAMPLE."]
    assert names(queries, "c.example.") == []


def test_the_oldest_queries_are_forgotten_by_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "LONGEST", 4)
    queries = SeenQueries()
    for number in range(5):
        add(queries, "old.example." if number < 2 else f"n{number}.example.")
    assert names(queries, "old.example.") == []
    assert names(queries, "n2.example.") == ["n2.example."]
    assert [one.name.to_text() for one in queries.since(3)] == ["n3.example.", "n4.example."]
    assert len(queries) == 5

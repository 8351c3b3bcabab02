"""The same seed gives the same octets: two processes, over UDP and TCP, asked in different orders."""

import json
import os
import random
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rdatatype
import dns.zonefile
import pytest
from dnsrig import _core

SEED = "11"
SIGNED_AT = "1669900000"
DOMAINS = 20_000
QUESTIONS = 60
STEPS = 6
ANSWER_S = 5.0
SILENT_S = 0.5
"""For how long an answer is waited for that may never come: some servers are out, or drop what they do not know."""
READY_S = 120.0


@dataclass(frozen=True)
class Query:
    """A query to a server, and how it is sent."""

    server: str
    name: str
    rtype: str
    payload: int | None
    tcp: bool


@contextmanager
def serving(folder: Path, profile: str) -> Iterator[int]:
    """Serve an Internet by a process of its own; give the port."""
    folder.mkdir()
    command = [sys.executable, "-m", "dnsrig", "internet", "serve", "--json", "--loopback", "-p", "0", "--no-distances"]
    what = ["--profile", profile, "--domains", str(DOMAINS), "--seed", SEED, "--signed-at", SIGNED_AT]
    with (
        (folder / "said").open("w") as said,
        subprocess.Popen([*command, *what, "-o", folder / "inet"], stdout=subprocess.PIPE, stderr=said) as process,
    ):
        try:
            assert process.stdout is not None
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                assert selector.select(READY_S), (folder / "said").read_text()
            yield json.loads(_object(process.stdout.fileno()))["port"]
        finally:
            process.send_signal(signal.SIGINT)


def _object(file: int) -> bytes:
    """Read the object that the command prints before it serves."""
    text = b""
    while not text.endswith(b"\n}\n"):
        part = os.read(file, 65_536)
        assert part, text
        text += part
    return text


def send(port: int, query: Query, patience_s: float = ANSWER_S) -> bytes | None:
    """Give the octets of the answer; None if there was none."""
    message = dns.message.make_query(query.name, query.rtype, id=7)
    if query.payload is not None:
        message.use_edns(0, dns.flags.DO, query.payload)
    ask = dns.query.tcp if query.tcp else dns.query.udp
    try:
        # What dnspython makes of the octets is of no interest, only these.
        answer = ask(message, query.server, port=port, timeout=patience_s)
    except dns.exception.Timeout:
        return None
    assert answer.wire is not None
    return bytes(answer.wire)


def way_down(port: int, root: str, question: tuple[str, str], payload: int | None) -> Iterator[tuple[Query, bytes]]:
    """Ask from the root down, as a resolver does; what is cut is asked for by TCP again."""
    server, name = root, question[0]
    for _ in range(STEPS):
        query = Query(server, name, question[1], payload, tcp=False)
        answer = send(port, query, SILENT_S)
        if answer is None:
            return
        yield query, answer
        message = dns.message.from_wire(answer)
        if message.flags & dns.flags.TC:
            query = Query(server, name, question[1], payload, tcp=True)
            answer = send(port, query)
            assert answer is not None
            yield query, answer
            message = dns.message.from_wire(answer)
        glue = [rdata.to_text() for rrset in message.additional if rrset.rdtype == dns.rdatatype.A for rdata in rrset]
        if message.answer or not glue:
            return
        server = glue[0]


@pytest.mark.parametrize("profile", ["internet-2022", "small"])
def test_two_processes_answer_with_the_same_octets(tmp_path: Path, profile: str) -> None:
    internet = _core.Internet(
        profile, seed=int(SEED), signed_at_s=int(SIGNED_AT), domains=DOMAINS, loopback=True, distances=False
    )
    hints = dns.zonefile.read_rrsets(internet.root_hints, rdclass=None, origin=dns.name.root, relativize=False)
    root = next(rdata.to_text() for rrset in hints if rrset.rdtype == dns.rdatatype.A for rdata in rrset)
    questions = [(name, rtype) for name, rtype in map(str.split, internet.questions(QUESTIONS, 3, 0.3).splitlines())]
    with ExitStack() as stack:
        first, second = (stack.enter_context(serving(tmp_path / name, profile)) for name in ("first", "second"))
        seen = {}
        for number, question in enumerate(questions):
            payload = (None, 512, 1232, 4096)[number % 4]
            seen.update(way_down(first, root, question, payload))
        # Another order for the other one: no zone, key or signature may depend on what was asked before. It is waited
        # for, as the first one has answered all of these.
        order = list(seen)
        random.Random(1).shuffle(order)
        again = {query: send(second, query) for query in order}
    assert len(seen) > 2 * QUESTIONS
    assert sum(query.tcp for query in seen) > 0
    differing = [query for query in order if again[query] != seen[query]]
    assert not differing

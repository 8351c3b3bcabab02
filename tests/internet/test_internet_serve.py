"""The simulated Internet on the loopback device: the command line, and what servers answer by UDP and TCP."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rcode
import dns.rdatatype
import dns.rrset
import dns.zonefile
import jsonschema
import pytest
from dnsrig import _core
from dnsrig.cli import internet_serve
from dnsrig.errors import EnvironmentLacksError
from dnsrig.internet import bind_keys, resolver_addresses, totals, write_accounts
from dnsrig.studies.resolving.place import answering_tasks

ANSWER_S = 10.0
STOP_S = 20.0
FAR_S = 0.06
EARLY_S = 0.002
"""Answers leave at beats of a millisecond."""
NICER = 5
SIGNED_AT_S = 1_669_900_000
LIMIT_OF_COM = '[[rate_limit]]\noperator = ".com"\nqps = {}\n\n'


@dataclass(frozen=True)
class Served:
    internet: _core.Internet
    server: _core.InternetServer
    root: str

    def ask(self, where: str, name: str, rtype: str, *, tcp: bool = False, payload: int = 1232) -> dns.message.Message:
        query = dns.message.make_query(name, rtype, want_dnssec=True, payload=payload)
        send = dns.query.tcp if tcp else dns.query.udp
        return send(query, where, timeout=ANSWER_S, port=self.server.port)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    internet = _core.Internet("small", seed=1, signed_at_s=SIGNED_AT_S, loopback=True, distances=False)
    server = _core.InternetServer(internet, port=0, threads=1, loopback=True)
    yield Served(internet, server, root_addresses(internet)[0])
    server.stop()


@pytest.mark.parametrize("gives_way", [True, False])
def test_who_gives_way_has_a_lower_priority(gives_way: bool) -> None:
    internet = _core.Internet("small", seed=1, signed_at_s=SIGNED_AT_S, loopback=True, distances=False)
    others = {task.name for task in answering_tasks()}
    own = os.getpriority(os.PRIO_PROCESS, 0)
    wanted = [min(own + NICER, 19) if gives_way else own] * 3
    server = _core.InternetServer(internet, port=0, threads=2, loopback=True, gives_way=gives_way)
    served = Served(internet, server, root_addresses(internet)[0])
    try:
        # Who has answered has its niceness: a thread for UDP, and that for TCP. The other one may be beginning.
        for tcp in (False, True):
            served.ask(served.root, "www.example.com", "A", tcp=tcp)
        ends_s = time.monotonic() + STOP_S
        niceness: list[int] = []
        while niceness != wanted and time.monotonic() < ends_s:
            began = [int(task.name) for task in answering_tasks() if task.name not in others]
            niceness = [os.getpriority(os.PRIO_PROCESS, thread) for thread in began]
    finally:
        server.stop()
    assert niceness == wanted


def root_addresses(internet: _core.Internet) -> list[str]:
    rrsets = dns.zonefile.read_rrsets(internet.root_hints, rdclass=None, origin=dns.name.root, relativize=False)
    return [rdata.to_text() for rrset in rrsets if rrset.rdtype == dns.rdatatype.A for rdata in rrset]


def addresses(response: dns.message.Message) -> list[str]:
    of_type_a = (rrset for rrset in response.additional if rrset.rdtype == dns.rdatatype.A)
    return [rdata.to_text() for rrset in of_type_a for rdata in rrset]


def test_the_way_down_begins_with_a_signed_referral(served: Served) -> None:
    response = served.ask(served.root, "www.example.com", "A")
    types = [(rrset.rdtype, rrset.covers) for rrset in response.authority]
    assert (dns.rdatatype.NS, dns.rdatatype.NONE) in types
    assert (dns.rdatatype.DS, dns.rdatatype.NONE) in types
    assert (dns.rdatatype.RRSIG, dns.rdatatype.DS) in types
    assert not response.flags & dns.flags.AA
    below = served.ask(addresses(response)[0], "www.example.com", "A")
    assert below.rcode() == dns.rcode.NXDOMAIN
    assert below.flags & dns.flags.AA


def test_small_answers_are_truncated_and_come_whole_by_tcp(served: Served) -> None:
    com = addresses(served.ask(served.root, "com", "NS"))[0]
    short = served.ask(com, "nothing-here.com", "A", payload=512)
    whole = served.ask(com, "nothing-here.com", "A", payload=512, tcp=True)
    assert short.flags & dns.flags.TC
    assert not whole.flags & dns.flags.TC
    assert len(whole.to_wire()) > 512
    assert dns.rdatatype.NSEC3 in [rrset.rdtype for rrset in whole.authority]


def test_the_root_gives_its_servers_addresses_to_whom_primes(served: Served) -> None:
    assert sorted(addresses(served.ask(served.root, ".", "NS"))) == sorted(root_addresses(served.internet))


def test_several_queries_on_one_connection(served: Served) -> None:
    query = dns.message.make_query(".", "SOA")
    with dns.query.make_socket(2, 1) as connection:
        connection.settimeout(ANSWER_S)
        connection.setblocking(True)
        connection.connect((served.root, served.server.port))
        for _ in range(3):
            dns.query.send_tcp(connection, query)
        for _ in range(3):
            response, _ = dns.query.receive_tcp(connection)
            assert response.rcode() == dns.rcode.NOERROR


def test_a_connection_to_a_far_server_takes_the_way_there_and_back_to_be_made(tmp_path: Path) -> None:
    profile = tmp_path / "far.toml"
    text, _, _ = _core.Internet.profile_text("small").partition("[latency.near]")
    profile.write_text(f"{text}[latency.near]\nmedian_ms = {1000 * FAR_S}\nsigma = 0.0\njitter_ms = 0.0\n")
    internet = _core.Internet(str(profile), seed=1, signed_at_s=SIGNED_AT_S, loopback=True, domains=100)
    server = _core.InternetServer(internet, port=0, threads=1, loopback=True)
    try:
        taken = [took(root_addresses(internet)[0], server.port) for _ in range(5)]
    finally:
        server.stop()
    # Other work makes answers late, not early.
    for place, least_s in enumerate((2 * FAR_S, FAR_S, FAR_S)):
        fastest_s = min(times[place] for times in taken)
        assert least_s - EARLY_S <= fastest_s < least_s + FAR_S / 2


def took(address: str, port: int) -> list[float]:
    """Ask one server three times on one connection, one after the other; give how long each answer took."""
    query = dns.message.make_query(".", "SOA")
    times = []
    with dns.query.make_socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(ANSWER_S)
        # The time that the first one takes counts from here, as the server sees the connection before the client does.
        began = time.monotonic()
        connection.connect((address, port))
        for _ in range(3):
            dns.query.send_tcp(connection, query)
            dns.query.receive_tcp(connection)
            times.append(time.monotonic() - began)
            began = time.monotonic()
    return times


def test_accounts_say_what_was_asked(served: Served) -> None:
    def queries() -> int:
        rows = served.server.accounts()
        mine = [row for row in rows if (row["operator"], row["type"], row["transport"]) == (".", "CAA", "udp")]
        return sum(row["queries"] for row in mine)

    before = queries()
    for _ in range(5):
        served.ask(served.root, ".", "CAA")
    # Threads hand their accounts on every 50 ms, when they have something to do or nothing.
    while queries() < before + 5:
        served.ask(served.root, ".", "SOA")
    assert queries() == before + 5
    assert sum(row[2] for row in totals(served.server.accounts())) >= before + 5


def test_the_file_of_accounts_keeps_its_schema(served: Served, tmp_path: Path) -> None:
    served.ask(served.root, ".", "DNSKEY", tcp=True)
    while not any(row["transport"] == "tcp" for row in served.server.accounts()):
        served.ask(served.root, ".", "DNSKEY")
    accounts = served.server.accounts()
    write_accounts(tmp_path / "upstream.json", accounts, served.server.state())
    written = json.loads((tmp_path / "upstream.json").read_text())
    jsonschema.validate(written, json.loads(resources.files("dnsrig.schemas").joinpath("accounts.json").read_text()))
    assert written["accounts"] == accounts


def test_the_same_seed_gives_the_same_hints_and_another_seed_other_keys() -> None:
    first, second, other = (
        _core.Internet("small", seed=seed, signed_at_s=SIGNED_AT_S, domains=1000) for seed in (3, 3, 4)
    )
    assert first.trust_anchor == second.trust_anchor != other.trust_anchor
    assert first.root_hints == second.root_hints
    assert first.questions(50, 1, 0.1) == second.questions(50, 1, 0.1) != other.questions(50, 1, 0.1)


def test_bind_gets_the_trust_anchor_as_it_wants_it() -> None:
    internet = _core.Internet("small", seed=1, signed_at_s=SIGNED_AT_S)
    fields = internet.trust_anchor.split()
    assert bind_keys(internet.trust_anchor) == (
        f'trust-anchors {{\n    "." static-ds {" ".join(fields[-4:-1])} "{fields[-1]}";\n}};\n'
    )
    assert bind_keys("") == ""


def test_resolvers_send_from_the_first_address_of_each_prefix() -> None:
    assert resolver_addresses(("198.18.0.0/15", "2001:2::/48")) == ("198.18.0.1", "2001:2::1")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("share = 0.4\n", "share = 0.9\n"), "the shares of all tld are 1.3"),
        (("signed_share = 0.5", "signed_share = 1.5"), "a share is from 0 to 1"),
        (('latency = "near"', 'latency = "far"'), "there is no latency far"),
        (("ED25519", "RSAMD5"), "RSAMD5"),
        (("198.18.0.0", "198.18.1.0"), "has bits beyond its 15 bits of prefix"),
        (("mx_share", "mx_shares"), "mx_shares"),
        (("name = ", "name := "), "line"),
        (
            ("[latency.near]", f"{LIMIT_OF_COM.format(5)}{LIMIT_OF_COM.format(7)}[latency.near]"),
            "rate_limit of .com is given twice; leave one of them out",
        ),
        (('type = "MX"', 'type = "ANY"'), "clients.types: ANY is no type of records; give a mnemonic such as A"),
        (('type = "MX"', 'type = "OPT"'), "clients.types: OPT is no type of records"),
        (('type = "MX"', 'type = "NONE"'), "clients.types: NONE is no type of records"),
        (('type = "A", weight = 0.62', 'type = "A", weight = -1'), "clients.types: weight is -1"),
        (('host = "mail"', 'host = "mail."'), "clients.hosts: 'mail.' precedes no domain; give 1 to 4 labels"),
        (('host = "mail"', 'host = "E-Mail"'), "clients.hosts: 'E-Mail' precedes no domain"),
        (("zipf = 1.0\n", "zipf = -0.5\n"), "zipf is -0.5; choose a number from 0 to 4"),
        (('name = "large-dns"', 'name = "nic"'), "hosting.operator nic: the Internet has nic for a domain of its own"),
        (('name = "large-dns"', 'name = "dns-h3"'), "hosting.operator dns-h3: the Internet has dns-h3"),
        (('label = "pp"', 'label = "content-2"'), "tld se: second_level content-2: the Internet has content-2"),
        (
            ("198.18.0.0", "224.0.0.0"),
            "addresses.ipv4 224.0.0.0/15 has addresses of 224.0.0.0/4, which are for multicast",
        ),
        (("2001:2::", "fe80::"), "addresses.ipv6 fe80::/48 has addresses of fe80::/10, which are for single links"),
    ],
)
def test_profiles_that_cannot_be(
    dnsrig: Callable[..., Any], tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    path = tmp_path / "mine.toml"
    text = _core.Internet.profile_text("small")
    assert change[0] in text
    path.write_text(text.replace(*change))
    done = dnsrig("internet", "questions", "-", "--profile", path, "--internet-seed", 1, "-n", 1)
    assert done.code == 2
    assert said in done.err
    assert str(path) in done.err


def test_what_a_query_file_asks_for_is_signed_beforehand(served: Served, tmp_path: Path) -> None:
    internet = _core.Internet("small", seed=1, signed_at_s=SIGNED_AT_S, loopback=True, distances=False)
    internet.prepare()
    path = tmp_path / "queries.txt"
    path.write_text(internet.questions(30, 2, 0.2))
    server = _core.InternetServer(internet, port=0, threads=1, loopback=True)
    try:
        before = server.state()["signatures"]
        internet.presign_for(_core.QueryLog.read(path).to_stream(), 2)
        made = server.state()["signatures"]
        assert made > before
        served_here = Served(internet, server, served.root)
        for line in path.read_text().splitlines():
            name, rtype = line.split()
            below = addresses(served_here.ask(served.root, name, rtype))
            assert below
            served_here.ask(below[0], name, rtype)
        assert server.state()["signatures"] == made
    finally:
        server.stop()


def test_clients_ask_as_the_profile_says(dnsrig: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = _core.Internet.profile_text("small")
    start, end = text.index("[clients]"), text.index("[latency.near]")
    others = '[clients]\ntypes = [{ type = "TYPE65", weight = 1 }]\nhosts = [{ host = "a._b", weight = 1 }]\n\n'
    asked = {}
    for name, clients in (("as shipped", text[start:end]), ("silent", ""), ("others", others)):
        path.write_text(text[:start] + clients + text[end:])
        done = dnsrig("internet", "questions", "-", "--profile", path, "--internet-seed", 1, "-n", 200, "--seed", 3)
        assert done.code == 0, done.err
        asked[name] = done.out
    # What a profile says nothing of is as it was before it could.
    assert asked["silent"] == asked["as shipped"]
    types = {line.split()[1] for line in asked["others"].splitlines()}
    assert types <= {"HTTPS", "TYPE65", "PTR"} and len(types) == 2
    assert sum(line.startswith("a._b.") for line in asked["others"].splitlines()) > 100


def test_memory_is_told_by_what_it_holds() -> None:
    internet = _core.Internet("small", seed=1, signed_at_s=SIGNED_AT_S)
    internet.prepare()
    before = internet.memory()
    internet.presign(20, 1)
    after = internet.memory()
    assert set(after) == {"zones", "keys", "to_sign", "signatures", "answers", "chains"}
    assert after["chains"] == before["chains"] > 10_000
    # Nobody was answered.
    assert after["answers"] == 0
    assert all(after[kind] > before[kind] for kind in after if kind not in {"answers", "chains"})


GROWTH = """
import sys
from pathlib import Path
from dnsrig import _core

def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])

internet = _core.Internet("small", seed=1, signed_at_s=1_669_900_000, memory_octets=int(sys.argv[1]))
internet.prepare()
before = pages()
internet.presign(2000, 1)
print(pages() - before)
"""


def test_no_more_memory_is_used_than_allowed() -> None:
    def growth(memory_octets: int) -> int:
        command = [sys.executable, "-c", GROWTH, str(memory_octets)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120, check=True)
        return int(done.stdout) * resource.getpagesize()

    bound = 16 << 20
    assert growth(1 << 30) > 2 * bound
    assert growth(bound) < bound


def test_unknown_profile(dnsrig: Callable[..., Any]) -> None:
    done = dnsrig("internet", "profile", "huge")
    assert done.code == 2
    assert "internet-2022, small" in done.err


def test_accounts_are_kept_when_serving_broke_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class BrokenOff:
        port, running = 5300, False

        def stop(self) -> None:
            raise EnvironmentLacksError("a socket is gone")

        def accounts(self) -> list[dict[str, Any]]:
            return []

        def state(self) -> dict[str, Any]:
            return {"signatures": 3, "memory_octets": 0, "dropped": 0}

    internet = _core.Internet("small", seed=1, signed_at_s=SIGNED_AT_S, loopback=True, distances=False)
    monkeypatch.setattr(internet_serve._core, "InternetServer", lambda *_, **__: BrokenOff())
    plan = internet_serve.Plan(internet, "small", internet.summary(), 1, 5300, 1, loopback=True)
    accounts = tmp_path / "upstream.json"
    with pytest.raises(EnvironmentLacksError, match="a socket is gone"):
        internet_serve._serve(plan, tmp_path / "out", accounts, as_json=True)
    assert json.loads(accounts.read_text())["signatures"] == 3
    assert not list(tmp_path.glob("*.partial"))


def test_accounts_that_cannot_be_written_are_refused_before_serving(dnsrig: Callable[..., Any], tmp_path: Path) -> None:
    accounts = tmp_path / "missing" / "upstream.json"
    done = dnsrig("internet", "serve", "--loopback", "--port", 0, "-o", tmp_path / "out", "--accounts", accounts)
    assert done.code == 2
    assert "is missing: make it" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("has_profile", [True, False])
def test_without_namespaces_loopback_is_named_where_it_helps(
    monkeypatch: pytest.MonkeyPatch, has_profile: bool
) -> None:
    def lacks() -> None:
        raise EnvironmentLacksError("no network namespace can be made")

    monkeypatch.setattr(internet_serve, "enter_user_namespace", lacks)
    with pytest.raises(EnvironmentLacksError, match="no network namespace can be made") as raised:
        internet_serve._enter_namespace(has_profile=has_profile)
    assert ("--loopback --port 5300" in str(raised.value)) is has_profile


def test_serve_from_the_command_line(tmp_path: Path) -> None:
    accounts = tmp_path / "upstream.json"
    command = [sys.executable, "-m", "dnsrig", "internet", "serve", "--profile", "small", "--seed", "1", "--json"]
    command += ["--loopback", "--port", "0", "-o", str(tmp_path / "out"), "--accounts", str(accounts)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line == "}\n":
                break
        facts = json.loads("".join(lines))
        hints = Path(facts["root_hints"]).read_text()
        root = hints.splitlines()[1].split("\t")[-1]
        response = dns.query.udp(dns.message.make_query(".", "NS"), root, timeout=ANSWER_S, port=facts["port"])
        process.send_signal(signal.SIGINT)
        assert process.wait(STOP_S) == 0
    assert response.rcode() == dns.rcode.NOERROR
    assert "static-ds" in Path(facts["bind_keys"]).read_text()
    told = json.loads(accounts.read_text())
    assert [row["type"] for row in told["accounts"]] == ["NS"]


def test_threads_share_the_queries(tmp_path: Path) -> None:
    internet = _core.Internet("small", seed=1, signed_at_s=SIGNED_AT_S, loopback=True, distances=False, domains=500)
    queries = tmp_path / "queries"
    queries.write_text(internet.questions(2000, 1, 0.1))
    others = set(answering())
    server = _core.InternetServer(internet, port=0, threads=2, loopback=True)
    try:
        deadline = time.monotonic() + ANSWER_S
        # A thread names itself when it begins to run.
        while len(threads := sorted(set(answering()) - others)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        before = [cpu_ns(task) for task in threads]
        command = [sys.executable, "-m", "dnsrig", "load", "-s", root_addresses(internet)[0], "-p", str(server.port)]
        command += ["-d", str(queries), "-c", "64", "-n", "20", "-q", "64", "--json"]
        load = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        used = [cpu_ns(task) - earlier for task, earlier in zip(threads, before, strict=True)]
    finally:
        server.stop()
    assert load["answered"] == 40_000
    assert len(used) == 2
    # Which thread a client's queries come to is drawn by the kernel, for each of the 64.
    assert min(used) > 0.15 * sum(used)


def answering() -> list[Path]:
    """List the threads of this process that answer over UDP."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            if (task / "comm").read_text().strip() == "internet-udp":
                found.append(task)
    return found


def cpu_ns(task: Path) -> int:
    return int((task / "schedstat").read_text().split()[0])

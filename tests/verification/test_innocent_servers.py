"""Servers, networks and zones that are right, and that a hasty item would accuse."""

import itertools
import random
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rrset
import pytest
from behind_relay import served, subject_at
from dns.rdatatype import RdataType
from dnsrig.items.authoritative import (
    a85_edns,
    a_edns_truncated,
    a_nxdomain,
    a_pipelining,
    a_proof_nxdomain,
    a_same,
    a_untimely,
    a_wildcard,
)
from dnsrig.items.authoritative._peers import judge_agreement
from dnsrig.items.authoritative._sizes import largest_known
from dnsrig.items.catalogue import chosen, items
from dnsrig.verification.asker import Asker, name_below
from dnsrig.verification.discovery import discover
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.changes import changing, replace_rdatas
from dnsrig.verification.faults.fault import Fault, Passage, unchanged_if_unreadable, wire_of
from dnsrig.verification.faults.relay import NO_FAULT
from dnsrig.verification.habits import Habits
from dnsrig.verification.item import KnownItem
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.queries import Query
from dnsrig.verification.runner import run_item, run_items
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Verdict, passed
from dnsrig.verification.zones.making import VARIANTS, make_zone

SOA_HEAD = "$TTL 3600\n@ SOA ns1 hostmaster 1 7200 900 1209600 300\n@ NS ns1\nns1 A 192.0.2.1\n"
FEW = f"{SOA_HEAD}www A 192.0.2.2\n"
"""Of a zone in which nothing is larger than the denial of a name."""


class SlowByTcp(Asker):
    """A server that answers one query by TCP, late, and none of several in time."""

    def tcp_pipelined(self, queries: Sequence[Query]) -> list[Exchange]:
        if len(queries) > 1:
            return [Exchange(self.server, "tcp", one, one.wire(1), None, 2, 0.0, "none in 5 s") for one in queries]
        (query,) = queries
        response = dns.message.make_response(dns.message.from_wire(query.wire(1))).to_wire()
        return [Exchange(self.server, "tcp", query, query.wire(1), response, 1, 2 * a_pipelining.SLOW_MS)]


def test_a_server_that_is_slow_by_tcp_is_not_accused_of_queries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(a_pipelining, "PAUSES_S", (0.0, 0.0))
    subject = AuthoritativeSubject(SlowByTcp(Endpoint("192.0.2.1")), Landmarks(dns.name.from_text("example.")))
    outcome = a_pipelining.check(subject)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.reason.startswith("The server is slow by TCP: ")
    assert outcome.reason.endswith(" alone is answered after 1.0 s.")


def losing(pattern: Callable[[int], bool]) -> Fault:
    """Lose queries by UDP, by their numbers."""
    numbers = itertools.count()

    def lose(passage: Passage) -> bytes | None:
        return None if passage.transport == "udp" and pattern(next(numbers)) else passage.query

    return Fault(name="loses", does="loses queries", roles=("authoritative",), on_query=lose)


def limiting(per_second: int) -> Fault:
    """Set TC in responses by UDP beyond so many a second to the same question (RRL with a slip of 1)."""
    given: dict[bytes, list[float]] = {}

    def limit(passage: Passage) -> bytes:
        if passage.transport != "udp":
            return passage.response
        now = time.monotonic()
        message = passage.answer
        key = message.question[0].to_text().lower().encode() if message.question else b""
        recent = given[key] = [at for at in given.get(key, []) if at > now - 1.0]
        recent.append(now)
        if len(recent) <= per_second:
            return passage.response
        for section in (message.answer, message.authority, message.additional):
            section.clear()
        message.flags |= dns.flags.TC
        return wire_of(message)

    def limit_readable(passage: Passage) -> bytes:
        try:
            return limit(passage)
        except (dns.exception.DNSException, ValueError):
            return passage.response

    return Fault(name="limits", does="limits its rate", roles=("authoritative",), on_response=limit_readable)


def rotating() -> Fault:
    """Give another address each time."""
    numbers = itertools.count(1)

    def rotate(message: dns.message.Message) -> None:
        for place, rrset in enumerate(message.answer):
            if rrset.rdtype == RdataType.A:
                address = f"198.51.100.{next(numbers) % 250}"
                message.answer[place] = dns.rrset.from_text(rrset.name, rrset.ttl, "IN", "A", address)

    return Fault(name="rotates", does="rotates addresses", roles=("authoritative",), on_response=changing(rotate))


def moving(every_s: float) -> Fault:
    """Change the zone all the time: the serial goes up, and a host gets another address with it."""
    began = time.monotonic()

    def move(passage: Passage) -> bytes:
        steps = int((time.monotonic() - began) / every_s)
        if not steps:
            return passage.response
        message = passage.answer
        for section in (message.answer, message.authority, message.additional):
            for rrset in section:
                if rrset.rdtype == RdataType.SOA:
                    replace_rdatas(rrset, [record.replace(serial=record.serial + steps) for record in rrset])
                elif rrset.rdtype == RdataType.A:
                    address = f"198.51.{steps // 250 % 250}.{steps % 250}"
                    replace_rdatas(rrset, [dns.rdata.from_text("IN", "A", address)])
        return wire_of(message)

    return Fault(
        name="moves",
        does="changes its zone",
        roles=("authoritative",),
        changes_transfers=True,
        on_response=unchanged_if_unreadable(move),
    )


@pytest.mark.parametrize("every_s", [0.02, 0.1, 1.0])
@pytest.mark.parametrize("is_known", [True, False])
def test_zones_that_are_changed_meanwhile_accuse_nobody(every_s: float, is_known: bool, tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS["unsigned"])
    with served(tmp_path, zone, moving(every_s)) as relay:
        subject = subject_at(relay, zone.landmarks if is_known else Landmarks(zone.origin))
        results = run_items(items("authoritative"), subject)
    failed = {result.item.id: result.outcome.reason for result in results if result.outcome.verdict is Verdict.FAIL}
    failed.pop("A-axfr", None)  # The embedded server transfers to anyone.
    assert failed == {}


@pytest.mark.parametrize("fault", [losing(lambda number: number % 3 == 0), limiting(3)], ids=["loses", "limits"])
def test_lossy_networks_and_limits_of_rate_are_no_faults_of_the_server(fault: Fault, tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS["unsigned"])
    with served(tmp_path, zone, fault) as relay:
        results = run_items(items("authoritative"), subject_at(relay, zone.landmarks))
    failed = {result.item.id: result.outcome.reason for result in results if result.outcome.verdict is Verdict.FAIL}
    failed.pop("A-axfr", None)  # The embedded server transfers to anyone.
    assert failed == {}


def losing_by_chance(share: float) -> Fault:
    """Lose a share of all messages by UDP, queries and responses."""
    chance = random.Random(2181)

    def is_lost(passage: Passage) -> bool:
        return passage.transport == "udp" and chance.random() < share

    return Fault(
        name="loses-by-chance",
        does="loses messages",
        roles=("authoritative",),
        on_query=lambda passage: None if is_lost(passage) else passage.query,
        on_response=lambda passage: None if is_lost(passage) else passage.response,
    )


@pytest.mark.parametrize("is_known", [True, False])
def test_verdicts_stay_where_a_tenth_of_the_messages_is_lost(is_known: bool, tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS["nsec"])
    found = []
    for fault in (NO_FAULT, losing_by_chance(0.1)):
        folder = tmp_path / fault.name
        folder.mkdir()
        with served(folder, zone, fault) as relay:
            known = zone.landmarks if is_known else discover(Asker(relay.endpoint), zone.origin)
            results = run_items(items("authoritative"), subject_at(relay, known))
        found.append({result.item.id: result.outcome for result in results})
    without, lossy = found
    accused = {one: lossy[one].reason for one in lossy if lossy[one].verdict is Verdict.FAIL != without[one].verdict}
    assert accused == {}
    # Nor is a failure forgotten: the embedded server transfers to anyone.
    assert lossy["A-axfr"].verdict is Verdict.FAIL
    undecided = [one for one in lossy if lossy[one].verdict is Verdict.INCONCLUSIVE != without[one].verdict]
    assert len(undecided) <= len(lossy) // 10, {one: lossy[one].reason for one in undecided}


@pytest.mark.parametrize(("answered", "verdict"), [(set(), Verdict.FAIL), ({7}, Verdict.INCONCLUSIVE)])
def test_silence_is_a_failure_only_where_no_try_is_answered(
    answered: set[int], verdict: Verdict, tmp_path: Path
) -> None:
    zone = make_zone(tmp_path, VARIANTS["unsigned"])
    numbers = itertools.count()

    def drop_ns(passage: Passage) -> bytes | None:
        is_ns = passage.transport == "udp" and passage.asked.question[0].rdtype == RdataType.NS
        return None if is_ns and next(numbers) not in answered else passage.query

    fault = Fault(name="drops-ns", does="drops queries for NS", roles=("authoritative",), on_query=drop_ns)
    with served(tmp_path, zone, fault) as relay:
        subject = subject_at(relay, zone.landmarks)
        exchange = subject.asker.udp(Query(name=zone.origin, rtype=RdataType.NS, payload=None))
        assert exchange.response is None
        assert subject.unanswered(exchange).verdict is verdict


def test_two_answers_by_turns_are_not_taken_for_one_way_or_another(tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS["unsigned"])
    numbers = itertools.count()

    def alternate(message: dns.message.Message) -> None:
        for rrset in message.answer:
            if rrset.rdtype == RdataType.A:
                replace_rdatas(rrset, [dns.rdata.from_text("IN", "A", f"198.51.100.{next(numbers) % 2}")])

    fault = Fault(name="alternates", does="alternates", roles=("authoritative",), on_response=changing(alternate))
    with served(tmp_path, zone, fault) as relay:
        assert a_same.check(subject_at(relay, zone.landmarks)).verdict is Verdict.PASS


def test_wildcards_with_other_addresses_each_time(tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS["unsigned"])
    with served(tmp_path, zone, rotating()) as relay:
        assert a_wildcard.check(subject_at(relay, zone.landmarks)).verdict is Verdict.PASS


@pytest.mark.parametrize("variant", ["unsigned", "nsec", "nsec3"])
def test_wildcards_without_address_are_no_missing_denials(variant: str, tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS[variant], records=f"{SOA_HEAD}* TXT everything\nhost A 192.0.2.2\n")
    unknown = Landmarks(zone.origin)
    with served(tmp_path, zone) as relay:
        checks = [a_nxdomain.check] + ([a_proof_nxdomain.check] if variant != "unsigned" else [])
        assert {check(subject_at(relay, unknown)).verdict for check in checks} == {Verdict.NOT_APPLICABLE}


def test_noerror_for_names_that_do_not_exist_is_seen_in_zones_of_any_name(tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS["nsec"], "compact.test")
    with served(tmp_path, zone, fault_named("noerror-for-nxdomain")) as relay:
        for check in (a_nxdomain.check, a_proof_nxdomain.check):
            assert check(subject_at(relay, zone.landmarks)).verdict is Verdict.FAIL


def limit_of(octets: int) -> Fault:
    """Truncate responses by UDP beyond so many octets, whatever the client takes."""

    def limit(passage: Passage) -> bytes:
        if passage.transport != "udp" or len(passage.response) <= octets:
            return passage.response
        message = passage.answer
        for section in (message.answer, message.authority, message.additional):
            section.clear()
        message.flags |= dns.flags.TC
        return wire_of(message)

    return Fault(name="limit", does="truncates", roles=("authoritative",), on_response=limit)


@pytest.mark.parametrize(
    ("limit", "keys", "verdict"),
    [
        (1232, 1, Verdict.PASS),
        (1232, 3, Verdict.PASS_BY_TCP),
        (1220, 3, Verdict.PASS_BY_TCP),
        (512, 3, Verdict.FAIL),
        (512, 1, Verdict.FAIL),
    ],
)
def test_servers_may_have_a_limit_of_their_own_but_no_low_one(
    limit: int, keys: int, verdict: Verdict, tmp_path: Path
) -> None:
    variant = replace(VARIANTS["nsec"], algorithms=("RSASHA256",), keys_of_each=keys)
    zone = make_zone(tmp_path, variant)
    with served(tmp_path, zone, limit_of(limit)) as relay:
        outcome = a85_edns.check(subject_at(relay, zone.landmarks))
    assert outcome.verdict is verdict, outcome.reason


def giving_where_cut(rcode: dns.rcode.Rcode, *, times: int, keeps_tc: bool) -> Fault:
    """Give what is truncated, for so many times, with no records and another code."""
    left = [times]

    def give(passage: Passage) -> bytes:
        message = passage.answer
        if not message.flags & dns.flags.TC or not left[0]:
            return passage.response
        left[0] -= 1
        for section in (message.answer, message.authority, message.additional):
            section.clear()
        message.set_rcode(rcode)
        if not keeps_tc:
            message.flags &= ~dns.flags.TC
        return wire_of(message)

    change = unchanged_if_unreadable(give)
    return Fault(name="gives", does="gives another code", roles=("authoritative",), on_response=change)


@pytest.mark.parametrize(
    ("fault", "verdict", "said"),
    [
        (NO_FAULT, Verdict.PASS, "has TC and OPT"),
        (
            giving_where_cut(dns.rcode.NOERROR, times=1, keeps_tc=True),
            Verdict.INCONCLUSIVE,
            "another code when asked again: the server limits its responses",
        ),
        (
            giving_where_cut(dns.rcode.SERVFAIL, times=1, keeps_tc=False),
            Verdict.INCONCLUSIVE,
            "is SERVFAIL where 512 octets are offered; asked again it is not",
        ),
        (
            giving_where_cut(dns.rcode.SERVFAIL, times=100, keeps_tc=False),
            Verdict.FAIL,
            "is SERVFAIL where 512 octets are offered, and has ",
        ),
        (
            giving_where_cut(dns.rcode.NOERROR, times=100, keeps_tc=True),
            Verdict.FAIL,
            "is NOERROR, not NXDOMAIN",
        ),
    ],
    ids=["right", "limits once", "fails once", "fails", "noerror"],
)
def test_denials_that_are_too_large_are_judged_by_what_comes_each_time(
    fault: Fault, verdict: Verdict, said: str, tmp_path: Path
) -> None:
    zone = make_zone(tmp_path, VARIANTS["nsec3"], "small.test", records=FEW)
    with served(tmp_path, zone) as relay:
        largest = largest_known(subject_at(relay, Landmarks(zone.landmarks.origin)))
        assert largest is not None and largest.rcode == dns.rcode.NXDOMAIN and largest.octets > 512
    with served(tmp_path / "again", zone, fault) as relay:
        subject = subject_at(relay, Landmarks(zone.landmarks.origin))
        # It is known before: the fault is for the item's own queries.
        subject.once("largest response, with DO", lambda: largest)
        outcome = a_edns_truncated.check(subject)
    assert outcome.verdict is verdict and said in outcome.reason, outcome.reason


def test_keys_of_two_generations_have_no_untimely_signatures(tmp_path: Path) -> None:
    zone = make_zone(tmp_path, replace(VARIANTS["nsec"], keys_of_each=2))
    with served(tmp_path, zone) as relay:
        assert a_untimely.check(subject_at(relay, zone.landmarks)).verdict is Verdict.PASS


def test_peers_that_are_silent_leave_it_open_and_those_that_differ_fail() -> None:
    def exchange(answer: str) -> Exchange:
        query = Query(name=dns.name.from_text("example."), rtype=RdataType.TXT, payload=None)
        message = dns.message.make_response(dns.message.from_wire(query.wire(1)))
        message.answer.append(dns.rrset.from_text("example.", 60, "IN", "TXT", answer or "none"))
        return Exchange(Endpoint("192.0.2.1"), "udp", query, query.wire(1), message.to_wire() if answer else None, 1, 0)

    def judged(*answers: str) -> Verdict:
        exchanges = [exchange(answer) for answer in answers]
        return judge_agreement(exchanges, lambda one: str(one.message and one.message.answer), lambda _: "data").verdict

    assert judged("a", "a", "a") is Verdict.PASS
    assert judged("a", "", "a") is Verdict.INCONCLUSIVE
    assert judged("a", "", "b") is Verdict.FAIL
    assert judged("", "", "") is Verdict.INCONCLUSIVE


def test_an_error_in_an_item_is_its_own(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError("nothing to divide by")

    item = chosen("authoritative", ["A-plain"])[0].item
    zone = make_zone(tmp_path, VARIANTS["unsigned"])
    with served(tmp_path, zone) as relay:
        subject = subject_at(relay, zone.landmarks)
        broken, right = KnownItem(item, fail, "x"), KnownItem(item, lambda _: passed("It holds."), "y")
        result = run_item(broken, subject)
        assert run_item(right, subject).outcome.verdict is Verdict.PASS
    assert result.outcome.verdict is Verdict.INCONCLUSIVE
    assert "ZeroDivisionError: nothing to divide by" in result.outcome.reason
    assert "report" in result.outcome.reason
    assert "Traceback" in result.outcome.evidence[0].text


def test_labels_are_shortened_where_there_is_no_room() -> None:
    origin = dns.name.from_text(".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 48]))
    assert len(name_below(origin, b"dnsrig-0123456789ab").to_wire()) == 255
    short = dns.name.from_text("example.")
    assert name_below(short, b"dnsrig-0123456789ab").labels[0] == b"dnsrig-0123456789ab"


DELEGATIONS = f"""{SOA_HEAD}a A 192.0.2.2
child NS ns.child
ns.child A 192.0.2.3
child2 NS ns1
child2 DS 1 13 2 {"01" * 32}
m DNAME target
zz CNAME a
*.wild TXT wildcard
"""


@pytest.mark.parametrize("fault", ["", "drops-edns"])
def test_discovery_goes_on_behind_delegations(fault: str, tmp_path: Path) -> None:
    zone = make_zone(tmp_path, VARIANTS["nsec"], records=DELEGATIONS)
    with served(tmp_path, zone, fault_named(fault) if fault else NO_FAULT) as relay:
        began = time.monotonic()
        found = discover(Asker(relay.endpoint), zone.origin)
    assert time.monotonic() - began < 10
    assert found.host is not None
    if fault:
        # Without EDNS there is no denial to go on from.
        return
    known = zone.landmarks
    assert (found.delegation, found.secure_delegation, found.glue) == (
        known.delegation,
        known.secure_delegation,
        known.glue,
    )
    assert (found.alias, found.dname, found.wildcard) == (known.alias, known.dname, known.wildcard)


def test_discovery_of_a_dead_server_is_soon_over() -> None:
    origin = dns.name.from_text("example.")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        asker = Asker(Endpoint(*silent.getsockname()))
        began = time.monotonic()
        assert discover(asker, origin) == Landmarks(origin)
    # A minute, if each question were waited for in full.
    assert time.monotonic() - began < 10


def test_what_is_never_answered_is_waited_for_in_full_once_only() -> None:
    def note(habits: Habits, query: Query, response: bytes | None) -> None:
        habits.note(Exchange(Endpoint("192.0.2.1"), "udp", query, query.wire(1), response, 1, 0.0))

    habits = Habits()
    plain = Query(name=dns.name.root, rtype=RdataType.SOA, payload=None)
    with_edns = Query(name=dns.name.root, rtype=RdataType.SOA)
    assert not habits.expects_silence("udp", with_edns)
    note(habits, with_edns, None)
    assert habits.expects_silence("udp", with_edns)
    assert not habits.expects_silence("udp", plain)
    assert not habits.expects_silence("tcp", with_edns)
    note(habits, with_edns, b"")
    assert not habits.expects_silence("udp", with_edns)

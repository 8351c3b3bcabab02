"""Items about the zone's data, on data that servers refuse to load, and on what they must not accuse."""

from types import ModuleType

import dns.dnssec
import dns.message
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset
import dns.zone
import pytest
from dnsrig.items.authoritative import (
    a_alias_target,
    a_caa,
    a_cname_alone,
    a_csync,
    a_ds_at_cut,
    a_ds_usable,
    a_null_mx,
    a_one_policy,
    a_soa_times,
    a_svcb,
    a_target_name,
    a_ttl_zero,
    a_wildcard_types,
    a_zonemd,
)
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint
from dnsrig.verification.landmarks import Landmarks, find_landmarks
from dnsrig.verification.malformed import malformed_records
from dnsrig.verification.signatures import signature_trouble
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.transfer import Transfer
from dnsrig.verification.verdicts import Verdict

ORIGIN = dns.name.from_text("example.")
SOA = "@ SOA ns hostmaster 1 7200 900 1209600 300"
DS = f"13 2 {'01' * 32}"


def subject_with(*lines: str) -> AuthoritativeSubject:
    """Make a subject whose zone was transferred, of lines of owner, type and data; nothing can be asked for.

    A line may have a TTL behind the owner; the SOA record is that of the lines, if there is one.
    """
    rrsets = []
    soa = next((line for line in lines if " SOA " in line), SOA)
    for line in (soa, *(line for line in lines if line != soa), soa):
        owner, kind, text = line.split(maxsplit=2)
        ttl_s = 3600
        if kind.isdecimal():
            ttl_s, (kind, text) = int(kind), text.split(maxsplit=1)
        record = dns.rdata.from_text("IN", kind, text, origin=ORIGIN, relativize=False)
        rrsets.append(dns.rrset.from_rdata(dns.name.from_text(owner, ORIGIN), ttl_s, record))
    subject = AuthoritativeSubject(Asker(Endpoint("192.0.2.1")), Landmarks(ORIGIN))
    vars(subject)["transfer"] = Transfer(rrsets=tuple(rrsets), zone=dns.zone.Zone(ORIGIN, relativize=False))
    return subject


@pytest.mark.parametrize(
    ("item", "lines"),
    [
        (a_cname_alone, ["a CNAME b", "a TXT beside"]),
        (a_cname_alone, ["a CNAME b", "a CNAME c"]),
        (a_cname_alone, ["a CNAME b", "a DNAME c"]),
        (a_cname_alone, ["a DNAME b", "a DNAME c"]),
        (a_wildcard_types, ["* NS ns.elsewhere.test."]),
        (a_ds_at_cut, [f"host DS 1 {DS}"]),
        (a_ds_at_cut, [f"@ DS 1 {DS}"]),
        (a_ds_usable, ["cut NS ns", f"cut DS 1 200 2 {'01' * 32}"]),
        (a_target_name, ["@ MX 10 192.0.2.1"]),
        (a_target_name, ["@ MX 10 192.0.2.1."]),
        (a_target_name, ["_s._tcp SRV 0 0 1 192.0.2.1."]),
        (a_null_mx, ["@ MX 0 .", "@ MX 10 host"]),
        (a_null_mx, ["@ MX 10 ."]),
        (a_one_policy, ['@ TXT "v=spf1 -all"', '@ TXT "v=SPF1 mx -all"']),
        (a_one_policy, ['_dmarc TXT "v=DMARC1; p=none"', '_dmarc TXT "v=DMARC1;p=reject"']),
        (a_alias_target, ["a DNAME b", "b DNAME a"]),
        (a_alias_target, ["a DNAME b.a"]),
        (a_alias_target, ["a DNAME a"]),
        (a_alias_target, ["a DNAME target", "target DNAME elsewhere", "elsewhere DNAME a"]),
        (a_csync, ["@ CSYNC 1 3 NS", "@ CSYNC 1 1 NS"]),
        (a_csync, ["@ CSYNC 1 3 NS TXT"]),
        (a_caa, ['@ CAA 0 issue "https://ca.test"']),
        (a_caa, ['@ CAA 0 issue "ca.test,other.test"']),
        (a_caa, ['@ CAA 1 issue "ca.test"']),
        (a_caa, ['@ CAA 128 unknown "x"']),
        (a_caa, ['@ CAA 0 iodef "security@example.test"']),
        (a_svcb, ["@ HTTPS 0 host", "@ HTTPS 1 . alpn=h2"]),
        (a_svcb, ["a HTTPS 0 a"]),
        (a_ttl_zero, ["@ 0 NS ns"]),
        (a_ttl_zero, ["cut NS ns.cut", "ns.cut 0 AAAA 2001:db8::1"]),
        (a_ttl_zero, ["@ SOA ns hostmaster 1 7200 900 1209600 0"]),
        (a_ttl_zero, ["@ 0 SOA ns hostmaster 1 7200 900 1209600 300"]),
    ],
    ids=lambda value: value.ITEM.id if isinstance(value, ModuleType) else "; ".join(value),
)
def test_what_is_wrong_is_found(item: ModuleType, lines: list[str]) -> None:
    outcome = item.check(subject_with(*lines))
    assert outcome.verdict is Verdict.FAIL, outcome.reason


@pytest.mark.parametrize(
    ("item", "lines"),
    [
        (a_cname_alone, ["a CNAME b", "b TXT beside", "*.a CNAME b"]),
        (a_cname_alone, ["@ DNAME b.test."]),
        (a_wildcard_types, ["* CNAME host", "*.a MX 10 host", "cut NS ns"]),
        (a_ds_at_cut, ["cut NS ns", f"cut DS 1 {DS}"]),
        (a_ds_usable, ["cut NS ns", f"cut DS 1 200 2 {'01' * 32}", f"cut DS 2 {DS}"]),
        (a_target_name, ["@ MX 10 1.2.3.host", "@ MX 10 192.0.2.1.in-addr.arpa."]),
        (a_null_mx, ["@ MX 0 .", "a MX 0 b"]),
        (a_one_policy, ['@ TXT "v=spf1 -all"', '@ TXT "v=spf10"', '@ TXT "spf"', 'a TXT "v=spf1 -all"']),
        (a_alias_target, ["a DNAME b", "b DNAME c", "d DNAME a", "e DNAME other.test."]),
        (a_csync, ["@ CSYNC 66 3 A NS AAAA"]),
        (a_caa, ['@ CAA 0 issue ";"', '@ CAA 0 issuewild "ca.test; account=1; policy=ev"', '@ CAA 0 issue ""']),
        (a_caa, ['@ CAA 128 issue "ca.test"', '@ CAA 0 tbs "x"', '@ CAA 0 iodef "mailto:a@b.test"']),
        (a_caa, ['@ CAA 0 issue "ca.test; validationmethods=dns-01,http-01;"', '@ CAA 0 issue " ca.test "']),
        (
            a_svcb,
            [
                "@ HTTPS 1 . alpn=h2",
                "@ HTTPS 2 host alpn=h3",
                "_s SVCB 0 host",
                "a HTTPS 0 .",
                "b SVCB 0 host",
                "b SVCB 0 other",
            ],
        ),
        (a_ttl_zero, ["@ NS ns", "ns A 192.0.2.1", "host 0 A 192.0.2.2"]),
    ],
    ids=lambda value: value.ITEM.id if isinstance(value, ModuleType) else "; ".join(value),
)
def test_what_is_right_is_not_accused(item: ModuleType, lines: list[str]) -> None:
    outcome = item.check(subject_with(*lines))
    assert outcome.verdict is Verdict.PASS, outcome.reason


@pytest.mark.parametrize(
    ("rtype", "data"),
    [
        ("AAAA", b"\x20\x01"),
        ("DS", b"\x00\x01\x0d\x02" + bytes(20)),
        ("CAA", b"\x00\x05iss-eca.test"),
        ("CAA", b"\x00\x09issue"),
        # Alias mode with parameters; keys out of order; a mandatory key that is not there.
        ("HTTPS", b"\x00\x00\x00\x00\x03\x00\x03\x01\xbb"),
        ("HTTPS", b"\x00\x01\x00\x00\x03\x00\x02\x01\xbb\x00\x01\x00\x03\x02h2"),
        ("HTTPS", b"\x00\x01\x00\x00\x00\x00\x02\x00\x03"),
    ],
)
def test_records_that_are_malformed_are_told(rtype: str, data: bytes) -> None:
    message = dns.message.make_response(dns.message.make_query("a.example.", rtype))
    record = dns.rdata.GenericRdata(dns.rdataclass.IN, dns.rdatatype.from_text(rtype), data)
    right = dns.rrset.from_text("b.example.", 60, "IN", "A", "192.0.2.1")
    message.answer += [dns.rrset.from_rdata("a.example.", 60, record), right]
    (found,) = malformed_records(message.to_wire())
    assert (str(found.name), found.rtype.name, found.octets) == ("a.example.", rtype, data)
    assert found.why
    message.answer.pop(0)
    assert malformed_records(message.to_wire()) == []
    # That a message as such cannot be read is another matter.
    assert malformed_records(message.to_wire()[:-1]) == []


def test_names_below_a_dname_record_are_no_landmarks() -> None:
    """Queries for them get that record: what else the zone has of them is A-occluded's to tell."""
    lines = ("old DNAME new", "a.old A 192.0.2.1", "b.old CNAME c", "*.old A 192.0.2.2", "z A 192.0.2.3", "y CNAME z")
    text = "\n".join((f"@ 60 {SOA.removeprefix('@ ')}", *(line.replace(" ", " 60 ", 1) for line in lines)))
    zone = dns.zone.from_text(text, ORIGIN, relativize=False, check_origin=False)
    found = find_landmarks(
        ORIGIN, ((name, one.rdtype, one) for name, node in zone.nodes.items() for one in node.rdatasets)
    )
    assert found.host is not None
    assert found.host.name == dns.name.from_text("z", ORIGIN)
    assert found.alias == dns.name.from_text("y", ORIGIN)
    assert found.wildcard is None
    assert {place.name.to_text() for place in found.occluded} == {"a.old.example.", "b.old.example.", "*.old.example."}


@pytest.mark.parametrize(
    ("times", "wrong"),
    [
        ("7200 900 1209600 300", False),
        ("86400 7200 3600000 86400", False),
        ("7200 900 604800 0", False),
        ("7200 7201 1209600 300", True),
        ("7200 900 8100 300", True),
        ("0 0 1209600 300", True),
        ("7200 900 4294967295 300", True),
        ("7200 900 1209600 86401", True),
    ],
)
def test_times_of_the_soa_record(times: str, wrong: bool) -> None:
    record = dns.rrset.from_text("example.", 60, "IN", "SOA", f"ns.example. hostmaster.example. 1 {times}")[0]
    assert bool(a_soa_times._trouble(record)) is wrong


@pytest.mark.parametrize(
    ("records", "verdict", "said"),
    [
        ([f"1 9 1 {'00' * 48}"], Verdict.INCONCLUSIVE, "cannot be computed"),
        ([f"1 1 1 {'00' * 48}"], Verdict.FAIL, "is another"),
        ([f"1 1 1 {'00' * 48}", f"1 1 1 {'01' * 48}"], Verdict.FAIL, "each is to have another pair"),
    ],
    ids=["unknown scheme", "wrong digest", "two of a kind"],
)
def test_digests_of_the_zone(records: list[str], verdict: Verdict, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = subject_with()
    zone = dns.zone.Zone(ORIGIN, relativize=False)
    for text, rtype in [(SOA.split(maxsplit=2)[2], "SOA"), *((one, "ZONEMD") for one in records)]:
        record = dns.rdata.from_text("IN", rtype, text, origin=ORIGIN, relativize=False)
        zone.find_rdataset(ORIGIN, record.rdtype, create=True).add(record, 3600)
    monkeypatch.setitem(vars(subject), "transfer", Transfer(zone=zone))
    outcome = a_zonemd.check.__wrapped__(subject)
    assert outcome.verdict is verdict and said in outcome.reason


@pytest.mark.parametrize(
    ("flags", "protocol", "said"),
    [
        (0, 3, "the key is without the Zone Key flag"),
        (256, 2, "the key has protocol 2"),
        (384, 3, "the key is revoked"),
        (256, 3, "it has 3 octets, where algorithm 13 has 64"),
    ],
)
def test_why_a_signature_is_not_valid(flags: int, protocol: int, said: str) -> None:
    key = dns.rdata.from_text("IN", "DNSKEY", f"{flags} {protocol} 13 {'A' * 86}==")
    text = f"A 13 2 3600 20300101000000 20200101000000 {dns.dnssec.key_id(key)} example. AAAA"
    rrset = dns.rrset.from_text("host.example.", 3600, "IN", "A", "192.0.2.1")
    assert signature_trouble(rrset, dns.rdata.from_text("IN", "RRSIG", text), [key]) == said

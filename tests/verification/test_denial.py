"""Denials of existence: the responses in the appendices of RFC 4035 and RFC 5155, and what is wrong without a part."""

import dns.name
import dns.rdataclass
import dns.rrset
import pytest
from dns.rdatatype import RdataType
from dnsrig.verification.denial import (
    Nsec3Records,
    NsecRecords,
    Proof,
    denial_records,
    hash_of_owner,
    is_between,
    next_closer,
    nsec3_hash,
)

ORIGIN = dns.name.from_text("example.")
SALT = bytes.fromhex("aabbccdd")

RFC_4035_CHAIN = """\
example. NSEC a.example. NS SOA MX RRSIG NSEC DNSKEY
a.example. NSEC ai.example. NS DS RRSIG NSEC
ai.example. NSEC b.example. A HINFO AAAA RRSIG NSEC
b.example. NSEC ns1.example. NS RRSIG NSEC
ns1.example. NSEC ns2.example. A RRSIG NSEC
ns2.example. NSEC *.w.example. A RRSIG NSEC
*.w.example. NSEC x.w.example. MX RRSIG NSEC
x.w.example. NSEC x.y.w.example. MX RRSIG NSEC
x.y.w.example. NSEC xx.example. MX RRSIG NSEC
xx.example. NSEC example. A HINFO AAAA RRSIG NSEC
"""
"""The zone of RFC 4035 appendix A."""

RFC_5155_CHAIN = """\
0p9mhaveqvm6t7vbl5lop2u3t2rp3tom NSEC3 1 1 12 aabbccdd 2t7b4g4vsa5smi47k61mv5bv1a22bojr NS SOA MX RRSIG DNSKEY TYPE51
2t7b4g4vsa5smi47k61mv5bv1a22bojr NSEC3 1 1 12 aabbccdd 2vptu5timamqttgl4luu9kg21e0aor3s A RRSIG
2vptu5timamqttgl4luu9kg21e0aor3s NSEC3 1 1 12 aabbccdd 35mthgpgcu1qg68fab165klnsnk3dpvl MX RRSIG
35mthgpgcu1qg68fab165klnsnk3dpvl NSEC3 1 1 12 aabbccdd b4um86eghhds6nea196smvmlo4ors995 NS DS RRSIG
b4um86eghhds6nea196smvmlo4ors995 NSEC3 1 1 12 aabbccdd gjeqe526plbf1g8mklp59enfd789njgi MX RRSIG
gjeqe526plbf1g8mklp59enfd789njgi NSEC3 1 1 12 aabbccdd ji6neoaepv8b5o6k4ev33abha8ht9fgc HINFO A AAAA RRSIG
ji6neoaepv8b5o6k4ev33abha8ht9fgc NSEC3 1 1 12 aabbccdd k8udemvp1j2f7eg6jebps17vp3n8i58h
k8udemvp1j2f7eg6jebps17vp3n8i58h NSEC3 1 1 12 aabbccdd kohar7mbb8dc2ce8a9qvl8hon4k53uhi
kohar7mbb8dc2ce8a9qvl8hon4k53uhi NSEC3 1 1 12 aabbccdd q04jkcevqvmu85r014c7dkba38o0ji5r A RRSIG
q04jkcevqvmu85r014c7dkba38o0ji5r NSEC3 1 1 12 aabbccdd r53bq7cc2uvmubfu5ocmm6pers9tk9en A RRSIG
r53bq7cc2uvmubfu5ocmm6pers9tk9en NSEC3 1 1 12 aabbccdd t644ebqk9bibcna874givr6joj62mlhv MX RRSIG
t644ebqk9bibcna874givr6joj62mlhv NSEC3 1 1 12 aabbccdd 0p9mhaveqvm6t7vbl5lop2u3t2rp3tom HINFO A AAAA RRSIG
"""
"""The zone of RFC 5155 appendix A."""


def named(text: str) -> dns.name.Name:
    return dns.name.from_text(text, ORIGIN)


def chain(text: str, *owners: str) -> list[dns.rrset.RRset]:
    """Take some records of a chain, all unless owners are given."""
    found = []
    for line in text.splitlines():
        owner, rtype, data = line.split(None, 2)
        if not owners or owner in owners:
            found.append(dns.rrset.from_text(named(owner), 3600, dns.rdataclass.IN, rtype, data))
    return found


def nsec(*owners: str) -> NsecRecords:
    found = denial_records(chain(RFC_4035_CHAIN, *owners), ORIGIN)
    assert isinstance(found, NsecRecords)
    return found


def nsec3(*owners: str) -> Nsec3Records:
    found = denial_records(chain(RFC_5155_CHAIN, *owners), ORIGIN)
    assert isinstance(found, Nsec3Records)
    return found


def assert_refuted(proof: Proof, *words: str) -> None:
    assert not proof
    assert all(word in proof.problem for word in words), proof.problem


def test_rfc_4035_b2_name_error() -> None:
    assert nsec("b.example.", "example.").no_name(named("ml"))
    assert_refuted(nsec("b.example.").no_name(named("ml")), "wildcard", "*.example.")
    assert_refuted(nsec("example.").no_name(named("ml")), "ml.example.", "no NSEC record covers it")


def test_rfc_4035_b3_no_data() -> None:
    records = nsec("ns1.example.")
    assert records.no_data(named("ns1"), RdataType.MX)
    assert_refuted(records.no_data(named("ns1"), RdataType.A), "says that there is A")
    assert_refuted(records.no_data(named("ns2"), RdataType.MX), "no NSEC record matches ns2.example.")


def test_rfc_4035_b5_referral_to_an_unsigned_zone() -> None:
    assert nsec("b.example.").no_ds(named("b"))
    assert_refuted(nsec("a.example.").no_ds(named("a")), "says that there is DS")
    assert_refuted(nsec("ns1.example.").no_ds(named("ns1")), "does not say that there is a delegation")
    assert_refuted(nsec("example.").no_ds(ORIGIN), "child zone's apex")


def test_rfc_4035_b6_wildcard_expansion() -> None:
    records = nsec("x.y.w.example.")
    assert records.wildcard_answer(named("a.z.w"), named("w"))
    assert_refuted(nsec("ns1.example.").wildcard_answer(named("a.z.w"), named("w")), "covers")
    # Below x.y.w nothing may come from *.w: a closer name exists.
    assert_refuted(records.wildcard_answer(named("a.x.y.w"), named("w")), "exists")


def test_rfc_4035_b7_wildcard_no_data() -> None:
    records = nsec("x.y.w.example.", "*.w.example.")
    assert records.wildcard_no_data(named("a.z.w"), RdataType.AAAA)
    assert_refuted(records.wildcard_no_data(named("a.z.w"), RdataType.MX), "says that there is MX")
    assert_refuted(nsec("x.y.w.example.").wildcard_no_data(named("a.z.w"), RdataType.AAAA), "*.w.example.")


def test_empty_non_terminal_exists_by_nsec() -> None:
    records = nsec("ns2.example.", "example.")
    assert records.no_data(named("w"), RdataType.A)
    assert_refuted(records.no_name(named("w")), "names below it")


@pytest.mark.parametrize("owner", ["a.example.", "b.example."])
def test_nsec_of_a_delegation_says_nothing_of_names_below(owner: str) -> None:
    below = named(f"host.{owner}")
    assert_refuted(nsec(owner, "example.").no_name(below), "covers it")
    assert_refuted(nsec(owner).no_data(dns.name.from_text(owner), RdataType.A), "parent side")


def test_nsec_of_a_dname_says_nothing_of_names_below() -> None:
    rrset = dns.rrset.from_text("d.example.", 1, "IN", "NSEC", "e.example. DNAME RRSIG NSEC")
    records = denial_records([rrset, *chain(RFC_4035_CHAIN, "example.")], ORIGIN)
    assert records is not None
    assert not records.no_name(named("x.d"))
    assert records.no_name(named("dd"))


def test_cname_bit_refutes_no_data() -> None:
    rrset = dns.rrset.from_text("c.example.", 1, "IN", "NSEC", "d.example. CNAME RRSIG NSEC")
    records = denial_records([rrset], ORIGIN)
    assert records is not None
    assert_refuted(records.no_data(named("c"), RdataType.A), "CNAME")


def test_compact_denial() -> None:
    rrset = dns.rrset.from_text("ml.example.", 1, "IN", "NSEC", r"\000.ml.example. RRSIG NSEC TYPE128")
    records = denial_records([rrset], ORIGIN)
    assert records is not None
    proof = records.no_name(named("ml"))
    assert proof and proof.is_compact


def test_single_nsec_covers_all_but_itself() -> None:
    rrset = dns.rrset.from_text("example.", 1, "IN", "NSEC", "example. SOA NS RRSIG NSEC DNSKEY")
    records = denial_records([rrset], ORIGIN)
    assert records is not None
    assert records.no_name(named("anything"))
    assert not records.no_name(ORIGIN)


def test_hashes_of_rfc_5155() -> None:
    for name, label in (
        ("example.", b"0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"),
        ("a.example.", b"35mthgpgcu1qg68fab165klnsnk3dpvl"),
    ):
        assert nsec3_hash(named(name), SALT, 12) == hash_of_owner(dns.name.Name((label, *ORIGIN.labels)))
    assert hash_of_owner(named("not-base32hex")) is None


def test_rfc_5155_b1_name_error() -> None:
    closest, closer, wildcard = (
        "b4um86eghhds6nea196smvmlo4ors995",
        "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom",
        "35mthgpgcu1qg68fab165klnsnk3dpvl",
    )
    name = named("a.c.x.w")
    assert nsec3(closest, closer, wildcard).no_name(name)
    assert_refuted(nsec3(closest, wildcard).no_name(name), "next closer name")
    # The record of the apex matches an ancestor too, but the next closer name below that exists.
    assert_refuted(nsec3(closer, wildcard).no_name(name), "w.example., the next closer name")
    assert_refuted(nsec3(closer, closest).no_name(name), "wildcard")


def test_rfc_5155_b2_no_data() -> None:
    records = nsec3("2t7b4g4vsa5smi47k61mv5bv1a22bojr")
    assert records.no_data(named("ns1"), RdataType.MX)
    assert_refuted(records.no_data(named("ns1"), RdataType.A), "says that there is A")


def test_rfc_5155_b2_1_no_data_at_an_empty_non_terminal() -> None:
    assert nsec3("ji6neoaepv8b5o6k4ev33abha8ht9fgc").no_data(named("y.w"), RdataType.A)
    assert_refuted(nsec3("k8udemvp1j2f7eg6jebps17vp3n8i58h").no_data(named("y.w"), RdataType.A))


def test_rfc_5155_b3_referral_with_opt_out() -> None:
    records = nsec3("35mthgpgcu1qg68fab165klnsnk3dpvl", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom")
    proof = records.no_ds(named("c"))
    assert proof and proof.opts_out
    assert_refuted(nsec3("0p9mhaveqvm6t7vbl5lop2u3t2rp3tom").no_ds(named("c")), "next closer name")


def test_opt_out_is_needed_where_nothing_matches() -> None:
    text = RFC_5155_CHAIN.replace("NSEC3 1 1 12", "NSEC3 1 0 12")
    records = denial_records(
        chain(text, "35mthgpgcu1qg68fab165klnsnk3dpvl", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"), ORIGIN
    )
    assert records is not None
    assert_refuted(records.no_ds(named("c")), "Opt-Out")


def test_rfc_5155_b4_wildcard_expansion() -> None:
    assert nsec3("q04jkcevqvmu85r014c7dkba38o0ji5r").wildcard_answer(named("a.z.w"), named("w"))
    assert not nsec3("0p9mhaveqvm6t7vbl5lop2u3t2rp3tom").wildcard_answer(named("a.z.w"), named("w"))


def test_rfc_5155_b5_wildcard_no_data() -> None:
    closest, closer, wildcard = (
        "k8udemvp1j2f7eg6jebps17vp3n8i58h",
        "q04jkcevqvmu85r014c7dkba38o0ji5r",
        "r53bq7cc2uvmubfu5ocmm6pers9tk9en",
    )
    name = named("a.z.w")
    assert nsec3(closest, closer, wildcard).wildcard_no_data(name, RdataType.AAAA)
    assert_refuted(nsec3(closest, closer).wildcard_no_data(name, RdataType.AAAA), "wildcard")
    assert_refuted(nsec3(closest, closer, wildcard).wildcard_no_data(name, RdataType.MX), "MX")


def test_rfc_5155_b6_ds_of_the_apex_at_the_child() -> None:
    records = nsec3("0p9mhaveqvm6t7vbl5lop2u3t2rp3tom")
    assert_refuted(records.no_data(ORIGIN, RdataType.DS), "child zone's apex")


def test_nsec3_of_a_delegation_is_no_closest_encloser() -> None:
    records = nsec3()
    assert_refuted(records.no_name(named("host.a")), "delegation")


def test_nsec3_records_of_two_chains_prove_nothing() -> None:
    other = chain(RFC_5155_CHAIN.replace("aabbccdd", "aabbccde"), "2t7b4g4vsa5smi47k61mv5bv1a22bojr")
    records = denial_records([*chain(RFC_5155_CHAIN, "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom"), *other], ORIGIN)
    assert records is not None
    for proof in (
        records.no_name(named("x")),
        records.no_data(named("ns1"), RdataType.MX),
        records.no_ds(named("c")),
        records.wildcard_answer(named("a.z.w"), named("w")),
        records.wildcard_no_data(named("a.z.w"), RdataType.AAAA),
    ):
        assert_refuted(proof, "2 different sets of parameters")


def test_records_of_other_zones_do_not_count() -> None:
    rrset = dns.rrset.from_text("b.test.", 1, "IN", "NSEC", "z.test. A RRSIG NSEC")
    assert denial_records([rrset], ORIGIN) is None
    assert denial_records([], ORIGIN) is None


def test_places_between() -> None:
    assert is_between(b"\x01", b"\x05", b"\x03")
    assert not is_between(b"\x01", b"\x05", b"\x05")
    assert is_between(b"\x05", b"\x01", b"\x07")
    assert is_between(b"\x05", b"\x01", b"\x00")
    assert not is_between(b"\x05", b"\x01", b"\x03")
    assert not is_between(b"\x05", b"\x05", b"\x05")
    assert next_closer(named("a.b.c"), named("c")) == named("b.c")

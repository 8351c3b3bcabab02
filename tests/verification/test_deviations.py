"""Deviations apply to the versions that they name."""

import pytest
from dnsrig.verification.deviations import (
    Deviation,
    Known,
    deviating_items,
    known_deviations,
    unsteady_items,
    why_known,
)


def test_versions_match_by_whole_numbers() -> None:
    known = Deviation("A-x", "authoritative", "bind", ("9.1", "9.20.4"), "A reason.")
    assert known.applies_to("bind", "9.1.7")
    assert known.applies_to("bind", "9.20.4-S1") is False
    assert known.applies_to("bind", "9.20.4")
    assert not known.applies_to("bind", "9.18.1")
    assert not known.applies_to("nsd", "9.1.7")


def test_ranges_are_open_until_they_end() -> None:
    open_range = Deviation("A-x", "authoritative", "bind", (">=9.18",), "A reason.")
    assert [open_range.applies_to("bind", version) for version in ("9.18", "9.18.49-S1", "9.20.4", "10.0")] == [
        True
    ] * 4
    assert not open_range.applies_to("bind", "9.16.50")
    ended = Deviation("A-x", "authoritative", "bind", (">=9.18,<9.20.4",), "A reason.")
    assert ended.applies_to("bind", "9.20.3-1~deb13u1-Debian")
    assert not ended.applies_to("bind", "9.20.4-S1")


def test_current_versions_are_known_as_those_that_were_seen() -> None:
    for role, server, version, later in (
        ("authoritative", "powerdns", "4.7.3", "5.0.1"),
        ("proxy", "dnsmasq", "2.90", "2.91"),
        ("proxy", "dnsdist", "1.7.3", "2.0.0"),
        ("resolver", "unbound", "1.17.1", "1.24.0"),
        ("resolver", "bind", "9.18.49", "9.20.15"),
    ):
        assert deviating_items(role, server, later) == deviating_items(role, server, version) != {}


def test_zones_matter_where_both_sides_name_them() -> None:
    known = Deviation("A-x", "authoritative", "bind", (), "A reason.", ("nsec3",))
    assert known.applies_to("bind", "9.18")
    assert known.applies_to("bind", "9.18", "nsec3")
    assert not known.applies_to("bind", "9.18", "nsec")
    assert Deviation("A-x", "authoritative", "bind", (), "A reason.").applies_to("bind", "9.18", "nsec")


def test_without_versions_all_deviate() -> None:
    assert Deviation("A-x", "authoritative", "bind", (), "A reason.").applies_to("bind", "9.99")


def test_a_server_deviates_in_its_role_only() -> None:
    assert "F-retries" in deviating_items("resolver", "bind", "9.18.49")
    assert deviating_items("authoritative", "bind", "9.18.49") == {}


def test_another_failure_of_an_item_is_not_known() -> None:
    known = {"A-x": [Known("It is old.", "from another port"), Known("It is odd.", "^No response")]}
    assert why_known(known, "A-x", "The response comes from another port.") == "It is old."
    assert why_known(known, "A-x", "No response to example. SOA.") == "It is odd."
    assert why_known(known, "A-x", "The response is malformed.") is None
    assert why_known(known, "A-y", "No response to example. SOA.") is None


def test_what_powerdns_does_with_unknown_opcodes_is_known_and_other_codes_are_not() -> None:
    known = known_deviations("authoritative", "powerdns", "4.7.3")
    assert why_known(known, "A-unknown-opcode", "Zone a.: No response to a. SOA by UDP: none in 1 s.") is not None
    assert why_known(known, "A-unknown-opcode", "The response code is FORMERR, not NOTIMP.") is None


def test_what_does_not_show_each_time_is_known_as_the_rest_is() -> None:
    unsteady = unsteady_items("resolver", "knot-resolver", "5.6.0")
    assert "F-missing-proof-name" in unsteady
    assert unsteady < deviating_items("resolver", "knot-resolver", "5.6.0").keys()
    assert unsteady_items("resolver", "bind", "9.18.49") != unsteady


def test_one_denial_of_knot_resolver_is_known_and_two_are_not() -> None:
    known = known_deviations("resolver", "knot-resolver", "5.6.0")
    one = (
        "absent.unsigned-proofs.nsec. A (a missing name, NSEC records without signatures) is answered with AD as secure"
    )
    assert why_known(known, "F-missing-proof-name", f"Of 6 questions, 1: {one}.") is not None
    assert why_known(known, "F-missing-proof-name", f"Of 6 questions, 2: {one}; another.") is None


SERVERS_FAIL = "Of 3 zones with a server that is right, "


@pytest.mark.parametrize(
    ("item", "server", "known", "other"),
    [
        (
            "F-special-names",
            "bind",
            "Names below onion. are asked for at servers.",
            "Names below onion., localhost. are asked for at servers.",
        ),
        (
            "F-special-names",
            "bind",
            "Names below localhost., invalid., onion. are asked for at servers.",
            "Names below localhost., 10.in-addr.arpa. are asked for at servers.",
        ),
        (
            "F-special-names",
            "powerdns-recursor",
            "Names below onion. are asked for at servers.",
            "Names below 10.in-addr.arpa. are asked for at servers.",
        ),
        (
            "F-cd-denial",
            "bind",
            "A denial with NSEC3 records of the parent zone, fetched with CD, is then given without CD.",
            "A denial without proof, fetched with CD, is then given without CD.",
        ),
        (
            "F-bogus-server",
            "knot-resolver",
            f"{SERVERS_FAIL}1 fail: any1.strips-signatures.nsec. is answered with SERVFAIL.",
            f"{SERVERS_FAIL}2 fail: a.stale.nsec. is answered with SERVFAIL; b.strips-signatures.nsec. is answered "
            "with SERVFAIL.",
        ),
        (
            "F-bogus-server",
            "powerdns-recursor",
            f"{SERVERS_FAIL}2 fail: a.stale.nsec. is answered with SERVFAIL; b.strips-proofs.nsec. is answered with "
            "SERVFAIL.",
            f"{SERVERS_FAIL}1 fail: a.stale.nsec. is answered without the records.",
        ),
    ],
)
def test_failures_of_resolvers_are_known_by_what_the_item_says(item: str, server: str, known: str, other: str) -> None:
    version = {"bind": "9.18.49", "knot-resolver": "5.6.0", "powerdns-recursor": "4.8.8"}[server]
    listed = known_deviations("resolver", server, version)
    assert why_known(listed, item, known) is not None
    assert why_known(listed, item, other) is None


@pytest.mark.parametrize(
    ("item", "server", "known", "other"),
    [
        (
            "P-1",
            "bind",
            "In the query, CD is set; in the response, CD is cleared.",
            "In the response, OPT is removed.",
        ),
        (
            "P-authority",
            "bind",
            "In the response, rig.example. NS ns.rig.example. is missing in the authority section.",
            "In the response, rig.example. SOA ns.rig.example. is missing in the authority section.",
        ),
        (
            "P-known-options",
            "powerdns-recursor",
            "With an option of 700 octets: No response to x.plain.rig.example. A by UDP: none in 1 s.",
            "With COOKIE: No response to x.plain.rig.example. A by UDP: none in 1 s.",
        ),
        (
            "P-ad",
            "dnsmasq",
            "Asked for a second time, the response has another AD.",
            "In the response, AD is set.",
        ),
    ],
)
def test_what_resolvers_do_as_forwarders_is_known_of_those_that_the_rig_did_not_start(
    item: str, server: str, known: str, other: str
) -> None:
    version = {"bind": "9.18.49", "powerdns-recursor": "4.8.8", "dnsmasq": "2.90"}[server]
    listed = known_deviations("proxy", server, version, is_of_rig=False)
    assert why_known(listed, item, known) is not None
    assert why_known(listed, item, other) is None
    assert why_known(known_deviations("proxy", server, version), item, known) is None

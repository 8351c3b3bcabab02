"""How clients ask resolvers: transports and their shares, as cases and in a run on Unbound."""

import pytest
from dnsrig.errors import EnvironmentLacksError, InputError
from dnsrig.studies.registry import study
from dnsrig.studies.resolving.transports import IDLE_S, read_mix
from resolver_runs import by_case, run_study, settings, skip_without

NAME = "validation-cost"


def test_one_transport_has_all_clients():
    mix = read_mix("dot")
    assert (mix.name, mix.label, mix.encrypted_ports, mix.has_sessions) == ("dot", "DoT", {"dot": 853}, True)
    (route,) = mix.routes("192.0.2.1", 53, 50)
    assert (route.transport, route.port, route.clients, route.idle_s) == ("dot", 853, 50, IDLE_S)
    assert not read_mix("udp").has_sessions


def test_shares_are_routes_by_weight():
    mix = read_mix("udp=80+dot=15+doh=5")
    assert (mix.name, mix.label) == ("udp80+dot15+doh5", "UDP 80 %, DoT 15 %, DoH 5 %")
    assert mix.encrypted_ports == {"dot": 853, "doh": 443}
    routes = mix.routes("192.0.2.1", 5300, None)
    assert [(route.transport, route.port, route.weight) for route in routes] == [
        ("udp", 5300, 80),
        ("dot", 853, 15),
        ("doh", 443, 5),
    ]
    assert routes[0].idle_s is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("doq", "'doq' is none of udp, tcp, dot, doh"),
        ("", "'' is none of"),
        ("udp=80", "as one transport, or with a share for each"),
        ("udp+dot", "as one transport, or with a share for each"),
        ("udp=80+dot=10", "make 90 %, not 100"),
        ("udp=50+udp=50", "comes twice"),
        ("udp=100+dot=0", "has no share"),
        ("udp=1000", "none of"),
    ],
)
def test_shares_that_cannot_be(text, said):
    with pytest.raises(InputError, match=said):
        read_mix(text)


def test_shares_have_cases_and_columns_of_their_own():
    chosen = settings(NAME, transports=("udp", "udp=80+dot=20"), rates=(300,), periods=1)
    blocks = study(NAME).blocks(chosen)
    assert [block.cases[0].name for block in blocks[::2]] == [
        "off-300-profile-udp-part1",
        "off-300-profile-udp80+dot20-part1",
    ]
    text = study(NAME).text(chosen)
    assert any(label.endswith("UDP 80 %, DoT 20 %") for label in text.columns.labels.values())
    assert {question.of["traffic"] for question in text.questions} == {"300-profile-udp-1"}
    assert any("keeps one connection" in sentence for sentence in text.method)


def test_a_resolver_without_a_transport_is_refused_before_anything_runs():
    skip_without("powerdns-recursor")
    with pytest.raises(EnvironmentLacksError, match=r"DoT: PowerDNS .* leave powerdns-recursor out of --server"):
        study(NAME).check(settings(NAME, ("powerdns-recursor",), transports=("dot",)))


@pytest.mark.parametrize("server", ["unbound", "bind", "knot-resolver"])
def test_clients_ask_over_tls_and_https(tmp_path, server):
    run, summary = run_study(
        NAME, tmp_path, (server,), load_s=1.0, periods=1, rates=(200,), transports=("udp=40+dot=30+doh=30",)
    )
    assert summary["status"] == "complete", run.manifest()["failures"]
    found = by_case(run)
    assert set(found) == {f"{server}-{state}-200-profile-udp40+dot30+doh30-part1" for state in ("off", "on")}
    for item in found.values():
        assert item["load"]["answered"] > 0.98 * item["load"]["sent"]
        sent = {entry["transport"]: entry["sent"] for entry in item["load"]["transports"]}
        assert min(sent[transport] for transport in ("udp", "dot", "doh")) > 0.1 * item["load"]["sent"]
        assert max(item["by_second"]["tcp_sockets"]) > 0

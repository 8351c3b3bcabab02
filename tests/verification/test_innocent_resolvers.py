"""Resolvers that are set up as few are, and that a hasty item would accuse, or have no verdict about."""

from dataclasses import dataclass, field

import dns.edns
import dns.message
import dns.rcode
import pytest
from dnsrig.items.catalogue import chosen
from dnsrig.verification.exchange import Endpoint, Exchange, Transport
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.seen import SeenQueries
from dnsrig.verification.verdicts import Verdict

RESOLVER = Endpoint("198.18.55.53")
SERVER = "198.18.54.1"
OWN_COOKIE = b"of-the-resolver."
COOKIE = dns.edns.OptionType.COOKIE


@dataclass
class Model:
    """Asks the tree for each query once, and answers all with nothing."""

    upstream: Transport = "udp"
    wants_cookie: bool = False
    """Whether it answers those alone that have its cookie, as BIND with `require-server-cookie`."""
    passes_options: bool = False
    seen: SeenQueries = field(default_factory=SeenQueries)

    def ask(self, query: Query) -> Exchange:
        wire = query.wire(len(self.seen) + 1)
        asked = dns.message.from_wire(wire)
        response = dns.message.make_response(asked)
        cookies = [one.to_wire() or b"" for one in asked.options if one.otype == COOKIE]
        if self.wants_cookie and cookies and not cookies[0].endswith(OWN_COOKIE):
            response.use_edns(0, options=[dns.edns.GenericOption(COOKIE, cookies[0] + OWN_COOKIE)])
            response.set_rcode(dns.rcode.BADCOOKIE)
        else:
            own = dns.message.make_query(query.name, query.rtype, use_edns=0)
            if self.passes_options:
                own.use_edns(0, options=asked.options)
            self.seen.add(own, own.to_wire(), self.upstream, SERVER, (RESOLVER.address, 5353))
        return Exchange(RESOLVER, "udp", query, wire, response.to_wire(), 1, 1.0)


def verdict_of(item_id: str, model: Model) -> Verdict:
    (known,) = chosen("resolver", [item_id])
    subject = ResolverSubject(model, seen=model.seen)  # type: ignore[arg-type]
    return known.check(subject).verdict


@pytest.mark.parametrize("wants_cookie", [False, True])
def test_options_are_judged_where_the_resolver_wants_its_cookie(wants_cookie: bool) -> None:
    assert verdict_of("F-own-options", Model(wants_cookie=wants_cookie)) == Verdict.PASS
    assert verdict_of("F-own-options", Model(wants_cookie=wants_cookie, passes_options=True)) == Verdict.FAIL


@pytest.mark.parametrize("item_id", ["F-id", "F-port", "F-query-case"])
def test_what_asks_by_tcp_alone_has_no_datagrams_to_judge(item_id: str) -> None:
    assert verdict_of(item_id, Model(upstream="tcp")) == Verdict.NOT_APPLICABLE

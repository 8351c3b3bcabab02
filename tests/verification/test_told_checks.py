"""What is refused before any item is run, with a resolver without sockets."""

from collections.abc import Callable
from dataclasses import dataclass

import dns.flags
import dns.message
import dns.name
import dns.rrset
import pytest
from dns.rcode import NOERROR, NXDOMAIN, SERVFAIL, Rcode
from dns.rdatatype import RdataType
from dnsrig.errors import SubjectFailedError
from dnsrig.items.resolver import f_do, f_negative, f_steady, f_validates
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.known_names import KnownNames, Question
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.told_checks import refuse_unresolved, refuse_wrong_names
from dnsrig.verification.verdicts import Verdict

RESOLVER = Endpoint("192.0.2.53")
ZONE = dns.name.from_text("firm.test.")
APEX = Question(ZONE, RdataType.SOA)
DENIED = Question(dns.name.from_text("absent.firm.test."), RdataType.A)
SIGNATURE = "SOA 13 2 300 20300101000000 20200101000000 1 firm.test. AAAA"
SOA = "ns.firm.test. hostmaster.firm.test. 1 1 1 1 1"


@dataclass
class Resolver:
    """Gives response codes as told, and AD with the trust anchor's zone and what `has_ad` names."""

    rcode: Callable[[Query], Rcode] = lambda _: NOERROR
    has_ad: Callable[[Query], bool] = lambda query: query.name == ZONE
    server: Endpoint = RESOLVER

    def ask(self, query: Query) -> Exchange:
        asked = dns.message.from_wire(query.wire(1))
        response = dns.message.make_response(asked, recursion_available=True, our_payload=1232)
        response.set_rcode(self.rcode(query))
        if self.has_ad(query):
            response.flags |= dns.flags.AD
        if query.name == ZONE and query.rtype == RdataType.SOA and response.rcode() == NOERROR:
            response.answer.append(dns.rrset.from_text(ZONE, 300, "IN", "SOA", SOA))
            if query.do:
                response.answer.append(dns.rrset.from_text(ZONE, 300, "IN", "RRSIG", SIGNATURE))
        return Exchange(self.server, "udp", query, query.wire(1), response.to_wire(), 1, 1.0)

    udp = tcp = ask


def subject_of(resolver: Resolver) -> ResolverSubject:
    names = KnownNames(secure=APEX, denied=(DENIED,), typed=(), zone=ZONE)
    return ResolverSubject(resolver, told=names)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rcode", "said"),
    [
        (lambda _: SERVFAIL, "with SERVFAIL, with CD too: the resolver does not resolve this zone"),
        (lambda query: NOERROR if query.cd else SERVFAIL, "the resolver finds this zone bogus"),
    ],
)
def test_a_zone_of_the_trust_anchor_that_fails_is_said_first(rcode: Callable[[Query], Rcode], said: str) -> None:
    with pytest.raises(SubjectFailedError, match=rf"192\.0\.2\.53#53: firm\.test\. DNSKEY, .*{said}"):
        refuse_unresolved(Resolver(rcode), ZONE)  # type: ignore[arg-type]


def test_a_zone_that_fails_once_is_not_refused() -> None:
    codes = iter([SERVFAIL, NOERROR])
    refuse_unresolved(Resolver(lambda _: next(codes)), ZONE)  # type: ignore[arg-type]
    assert next(codes, None) is None


def test_a_denial_without_ad_where_others_have_it_is_for_the_items() -> None:
    """So a resolver that believes forged denials is found out."""
    resolver = Resolver(lambda query: NXDOMAIN if query.name == DENIED.name else NOERROR)
    refuse_wrong_names(resolver, [ZONE], [("--bogus", [DENIED])])  # type: ignore[arg-type]


def test_the_apex_of_the_trust_anchor_is_what_must_be_steady() -> None:
    resolver = Resolver(lambda query: NOERROR if query.name == ZONE else SERVFAIL)
    outcome = f_steady.check(subject_of(resolver))
    assert outcome.verdict == Verdict.PASS, outcome.reason


@pytest.mark.parametrize(
    ("rcode", "verdict", "said"),
    [
        (lambda _: SERVFAIL, Verdict.INCONCLUSIVE, "firm.test. SOA is answered with SERVFAIL, also without DO."),
        (
            lambda query: SERVFAIL if query.do else NOERROR,
            Verdict.FAIL,
            "firm.test. SOA is answered with SERVFAIL where the query has DO.",
        ),
    ],
)
def test_servfail_is_not_called_a_lack_of_signatures(
    rcode: Callable[[Query], Rcode], verdict: Verdict, said: str
) -> None:
    outcome = f_do.check(subject_of(Resolver(rcode)))
    assert (outcome.verdict, outcome.reason) == (verdict, said)
    lacking = subject_of(Resolver(rcode)).lacks("validates")
    assert lacking == "The resolver answers firm.test. SOA, which is to be secure, with SERVFAIL (see F-do)."


def test_responses_of_another_kind_are_counted() -> None:
    outcome = f_negative.check(subject_of(Resolver(lambda _: SERVFAIL)))
    assert outcome.verdict == Verdict.INCONCLUSIVE
    assert outcome.reason.startswith("Of 12 responses none is of the kind that this is about: 12 with SERVFAIL")


def test_what_does_not_validate_may_lack_the_trust_anchor() -> None:
    outcome = f_validates.check(subject_of(Resolver(has_ad=lambda _: False)))
    assert outcome.verdict == Verdict.FAIL and "has not this trust anchor" in outcome.reason, outcome.reason

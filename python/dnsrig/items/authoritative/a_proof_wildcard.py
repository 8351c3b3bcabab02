"""A-proof-wildcard: answers made from a wildcard."""

import dns.name

from dnsrig.items.authoritative._answers import expanded_name
from dnsrig.items.authoritative._deep import deep_expanded_names
from dnsrig.items.authoritative._denials import judge, unusable
from dnsrig.verification.item import Item
from dnsrig.verification.landmarks import Place
from dnsrig.verification.signatures import expanded_from, signed_rrsets
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, inconclusive, not_applicable

ITEM = Item(
    id="A-proof-wildcard",
    role="authoritative",
    group="DNSSEC: denial of existence",
    requirement="An answer made from a wildcard comes with the proof that the name itself does not exist.",
    references=("RFC 4035 section 3.1.3.3", "RFC 5155 section 7.2.6", "RFC 4035 section 5.3.4"),
    severity=Severity.ERROR,
    consequence="Validators reject the answer: none of the names that stand on the wildcard resolves for their users.",
    procedure=(
        "Names to which the zone's wildcard is expanded, one, two and three labels below its parent, are asked for "
        "with DO. The Labels field of the signature tells the closest encloser; an NSEC record covers the name, or an "
        "NSEC3 record the next closer name."
    ),
    dig=(
        "dig @{server} -p {port} absent.{wildcard_parent} {type} +norec +dnssec",
        "dig @{server} -p {port} deep.absent.{wildcard_parent} {type} +norec +dnssec",
    ),
    needs=("signatures", "wildcard"),
    faults=(
        "strips-denial",
        "strips-wildcard-denial",
        "strips-deep-wildcard-denial",
        "nsec3param-of-no-chain",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Ask for names that the wildcard stands for and judge the proofs."""
    name, place = expanded_name(subject), subject.place("wildcard")
    if name is None:
        return not_applicable("The zone has no wildcard.")
    outcome = _judged(subject, name, place)
    if outcome.verdict is not Verdict.PASS:
        return outcome
    for deeper in deep_expanded_names(subject):
        # Whether the wildcard stands for such names at all is A-wildcard's to tell.
        further = _judged(subject, deeper, place)
        if further.verdict is Verdict.FAIL:
            return further
    return outcome


def _judged(subject: AuthoritativeSubject, name: dns.name.Name, place: Place) -> Outcome:
    exchange = subject.answers.get(name, place.rtype)
    outcome = unusable(subject, exchange)
    if outcome is not None or exchange.message is None:
        return outcome or inconclusive("There is no response.", exchange)
    answered = (one for one in signed_rrsets(exchange.message, ("answer",)) if one.rrset.name == name)
    one = next(answered, None)
    if one is None:
        return inconclusive(f"There is no answer for {name}, though {place.name} is in the zone.", exchange)
    encloser = expanded_from(one)
    if encloser is None:
        reason = (
            f"The answer for {name} is not signed as one made from a wildcard: it may be signed as it is asked for."
        )
        return not_applicable(reason, exchange)
    what = f"that {name} itself does not exist"
    return judge(subject, exchange, lambda records: records.wildcard_answer(name, encloser), what)

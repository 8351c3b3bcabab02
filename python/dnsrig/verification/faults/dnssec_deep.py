"""Faults of DNSSEC at some names only: two and more labels deep, and at delegations that are not the first."""

from collections.abc import Callable

import dns.message
import dns.name
import dns.rcode
from dns.rdatatype import RdataType

from dnsrig.verification.faults.changes import changing, is_referral, of_type
from dnsrig.verification.faults.dnssec import AUTHORITATIVE, has_do, without_signatures_of
from dnsrig.verification.faults.dnssec_delegations import strip_referral
from dnsrig.verification.faults.dnssec_denials import drop_encloser, drop_wildcard_cover, origin_of, without_denial
from dnsrig.verification.faults.fault import Fault
from dnsrig.verification.signatures import expanded_from, signed_rrsets

LATE = b"z"
"""Begins the names of delegations that are not the first of a zone."""


def _if_deep(change: Callable[[dns.message.Message], None]) -> Callable[[dns.message.Message], None]:
    """Change responses that a name does not exist which is two or more labels below the apex."""

    def changed(answer: dns.message.Message) -> None:
        is_denied = answer.rcode() == dns.rcode.NXDOMAIN and bool(of_type(answer.authority, RdataType.SOA))
        if is_denied and len(answer.question[0].name) > len(origin_of(answer)) + 1:
            change(answer)

    return changed


def _strip_deep_expansion(answer: dns.message.Message) -> None:
    """Leave the proof out of answers from a wildcard that stands for more than one label."""
    enclosers = [(one.rrset.name, expanded_from(one)) for one in signed_rrsets(answer, ("answer",))]
    if any(encloser is not None and len(name) > len(encloser) + 1 for name, encloser in enclosers):
        without_denial(answer)


def _is_late(answer: dns.message.Message) -> bool:
    cuts: list[dns.name.Name] = [rrset.name for rrset in of_type(answer.authority, RdataType.NS)]
    return is_referral(answer) and any(cut.labels[0].startswith(LATE) for cut in cuts)


def _strip_late(answer: dns.message.Message) -> None:
    if _is_late(answer):
        strip_referral(answer)


def _strip_signatures_late(answer: dns.message.Message) -> None:
    if _is_late(answer):
        answer.authority[:] = without_signatures_of(answer.authority, RdataType.DS)


def _fault(name: str, does: str, change: Callable[[dns.message.Message], None], *needs: str) -> Fault:
    on_response = changing(change, has_do)
    return Fault(name=name, does=does, roles=AUTHORITATIVE, needs=needs or ("signed",), on_response=on_response)


FAULTS = (
    _fault(
        "strips-deep-denial",
        "does not prove that names do not exist which are two or more labels below the apex",
        _if_deep(without_denial),
    ),
    _fault(
        "lacks-deep-wildcard-denial",
        "leaves out the record that covers the wildcard, two or more labels below the apex",
        _if_deep(drop_wildcard_cover),
    ),
    _fault(
        "lacks-deep-encloser",
        "leaves out the NSEC3 record that matches the closest encloser, two or more labels below the apex",
        _if_deep(drop_encloser),
        "nsec3",
    ),
    _fault(
        "strips-deep-wildcard-denial",
        "does not prove that a name does not exist for which it uses a wildcard two or more labels above",
        _strip_deep_expansion,
    ),
    _fault(
        "some-referrals-without-ds",
        "leaves DS records, or the proof that there are none, out of referrals to some delegations",
        _strip_late,
        "signatures",
    ),
    _fault(
        "some-referrals-without-ds-signature",
        "leaves the signatures of DS records out of referrals to some delegations",
        _strip_signatures_late,
        "signatures",
    ),
)

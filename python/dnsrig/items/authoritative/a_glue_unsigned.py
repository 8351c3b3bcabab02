"""A-glue-unsigned: delegations and glue have no signatures."""

from dns.rdatatype import RdataType
from dns.rdtypes.ANY.RRSIG import RRSIG

from dnsrig.items.authoritative._answers import child_of
from dnsrig.items.authoritative._contents import contents
from dnsrig.items.authoritative._denials import unusable
from dnsrig.verification.item import Item
from dnsrig.verification.signatures import signed_rrsets
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, not_applicable, passed

GLUE = (RdataType.NS, RdataType.A, RdataType.AAAA)
ITEM = Item(
    id="A-glue-unsigned",
    role="authoritative",
    group="DNSSEC: delegations",
    requirement="The NS records of a delegation and its glue are not signed by the parent zone.",
    references=("RFC 4035 section 2.2",),
    severity=Severity.WARNING,
    consequence="Validators may take the parent zone's copy for the child zone's own data, or reject it.",
    procedure=(
        "Names below an insecure and a secure delegation are asked for with DO, and where the zone is transferred, the "
        "signatures at and below all delegations are looked at: referrals need not show them."
    ),
    dig=("dig @{server} -p {port} absent.{delegation} A +norec +dnssec",),
    needs=("signatures",),
    faults=("signed-delegation", "signs-glue"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look for signatures over NS records and addresses."""
    cuts = [cut for cut in (subject.landmarks.delegation, subject.landmarks.secure_delegation) if cut is not None]
    asked = []
    for cut in cuts:
        exchange = subject.answers.get(child_of(cut, subject.denied_label), RdataType.A)
        outcome = unusable(subject, exchange)
        if outcome is not None:
            return outcome
        if exchange.message is None or exchange.message.answer:
            continue
        asked.append(exchange)
        for one in signed_rrsets(exchange.message, ("authority", "additional")):
            is_below = one.rrset.name.is_subdomain(cut) and one.rrset.rdtype in GLUE
            if is_below and any(signature.signer == subject.origin for signature in one.signatures):
                return failed(f"{one.title}, below the delegation of {cut}, is signed.", exchange)
    signed = _signed_in_transfer(subject)
    if signed is not None:
        return signed
    if not asked:
        return not_applicable(subject.unknown("delegation that the server refers to"))
    return passed(f"{len(asked)} referrals are without such signatures.", *asked)


def _signed_in_transfer(subject: AuthoritativeSubject) -> Outcome | None:
    """Look at the zone as transferred; None where it has no such signatures, or is not transferred."""
    known = contents(subject)
    for rrset in subject.transfer.rrsets if known.is_whole else ():
        if rrset.rdtype != RdataType.RRSIG or rrset.covers not in GLUE:
            continue
        cut = known.delegated(rrset.name)
        if cut is not None and any(isinstance(one, RRSIG) and one.signer == subject.origin for one in rrset):
            what = f"{rrset.name} {RdataType.make(rrset.covers).name}"
            shown = Evidence(f"The signatures of {what} in the transfer", "\n".join(str(one) for one in rrset))
            return failed(f"{what}, at or below the delegation of {cut}, is signed in the transfer.", shown)
    return None

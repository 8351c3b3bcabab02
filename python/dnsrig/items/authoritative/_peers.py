"""What the items about several servers of a zone share."""

from dns.rdatatype import RdataType

from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, passed


def check_agreement(subject: AuthoritativeSubject, rtype: RdataType) -> Outcome:
    """Compare an RRset at the apex between this server and the zone's others; TTLs may differ."""
    own = subject.answers.get(subject.origin, rtype)
    if own.message is None:
        return inconclusive(f"There is {own.trouble}.", own)
    here = {*(rrset_of(own, "answer", subject.origin, rtype) or ())}
    compared = []
    for answers in subject.peer_answers:
        other = answers.get(subject.origin, rtype)
        if other.message is None:
            continue
        compared.append(other)
        there = {*(rrset_of(other, "answer", subject.origin, rtype) or ())}
        if here != there:
            lone = len(here - there), len(there - here)
            reason = f"Of {rtype.name} records {lone[0]} are only here, {lone[1]} only at {other.server}."
            return failed(reason, own, other)
    if not compared:
        return inconclusive("None of the zone's other servers gave a response.", own)
    return passed(f"{len(compared)} other servers have the same {len(here)} records.", own)

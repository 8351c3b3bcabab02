"""What follows where all of a zone's data are known: what is answered besides is not the zone's."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import zone_soa
from dnsrig.verification.denial import ancestors, wildcard_of
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.landmarks import Landmarks
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, failed


def whole_data(subject: AuthoritativeSubject) -> Landmarks | None:
    """Give the zone's data where each RRset is known, of the version that is served; else None."""
    known, soa = subject.known_data, zone_soa(subject)
    is_all = known.is_whole and known.places_in_all <= len(known.places)
    return known if is_all and soa is not None and soa[0].serial == known.serial else None


def encloser_without_wildcard(subject: AuthoritativeSubject, exchange: Exchange) -> dns.name.Name | None:
    """Give the closest encloser of a name that is not there and has an answer, if no wildcard makes one.

    Wildcards do not go beyond a name that exists (RFC 4592 section 3.3.1). None where the name may have an answer: by
    such a wildcard, a DNAME record or another zone, or as not all of the zone's data are known.
    """
    known = whole_data(subject)
    if known is None or exchange.message is None or not exchange.message.answer:
        return None
    name = exchange.query.name
    above = ancestors(name, subject.origin)
    owners = {place.name for place in known.places} | known.cuts
    there = owners | {one for owner in owners for one in ancestors(owner, subject.origin)}
    redirected = {place.name for place in known.places if place.rtype == RdataType.DNAME}
    if name in there or known.cuts.intersection(above) or redirected.intersection(above):
        return None
    encloser = next((one for one in above if one in there), subject.origin)
    return None if wildcard_of(encloser) in there else encloser


def wrong_expansion(subject: AuthoritativeSubject, exchange: Exchange) -> Outcome | None:
    """Judge an answer for a name that was thought up; None if a wildcard or the like may have made it."""
    encloser = encloser_without_wildcard(subject, exchange)
    if encloser is None:
        return None
    reason = (
        f"{exchange.query.name} does not exist, yet it has an answer: there is no wildcard {wildcard_of(encloser)}."
    )
    return failed(reason, exchange)

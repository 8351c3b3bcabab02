"""A-data: the answers are the zone's data."""

from collections.abc import Mapping, Sequence

import dns.flags
import dns.name
import dns.rdata
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import USUAL_TYPES, nothing_seen, zone_soa
from dnsrig.items.authoritative._contents import referrals
from dnsrig.items.authoritative._probes import rcode_text, type_text
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.items.authoritative._whole import whole_data
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, not_applicable, passed

OF_THE_SERVER = {
    RdataType.SOA,
    RdataType.DNSKEY,
    RdataType.CDS,
    RdataType.CDNSKEY,
    RdataType.NSEC3PARAM,
    RdataType.ZONEMD,
}
"""Types that a server which signs makes itself."""
PLAIN_MAX = 30
ITEM = Item(
    id="A-data",
    role="authoritative",
    group="Answers",
    requirement=(
        "Answers have the records that the zone's data have, and no others, and referrals the NS records and the glue."
    ),
    references=("RFC 1034 section 4.3.2", "RFC 2181 section 5", "RFC 9471 section 3", "RFC 4592 section 2.2.1"),
    severity=Severity.CRITICAL,
    consequence="Clients reach other hosts than the zone's owner means, or none.",
    procedure=(
        "Where the zone's data are known by --zone-file, or by a zone transfer, and have the serial that the server "
        "serves, all RRsets of it are asked for with DO, or 500 of them, and 30 without EDNS; the answers have the same"
        " records. What differs by UDP is asked for by TCP. Where all RRsets are known, a host has no answer for "
        "types in use that it has not in the data. A name with glue is asked for: the addresses in the referral are"
        " those of the data, as are those in the additional section of answers."
    ),
    dig=("dig @{server} -p {port} {host} {type} +norec +noedns   # and all others; compare with the zone file",),
    needs=("zone",),
    faults=(
        "cuts-huge-by-tcp",
        "two-cnames",
        "other-address",
        "other-glue",
        "changes-data",
        "servfail-to-mx",
        "other-ns",
        "no-ns",
        "ns-alias",
        "no-ns-address",
        "hides-cname",
        "no-dname",
        "keeps-first-string",
        "joins-strings-without-do",
        "cuts-tcp",
        "refers-ds-queries",
        "ds-from-child",
        "wildcard-adds-types",
        "referrals-lack-server",
        "other-address-beside",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the answers with the zone's data, then a referral's addresses."""
    known, soa = subject.known_data, zone_soa(subject)
    if not known.is_whole:
        return not_applicable("The zone's data are not known; --zone-file gives them.")
    if soa is None or soa[0].serial != known.serial:
        served = "a serial that is not told" if soa is None else f"serial {soa[0].serial}"
        return inconclusive(f"The server serves {served}, the data that are known have {known.serial}.", subject.soa)
    places = {
        (place.name, place.rtype): place.data
        for place in known.places
        if place.data and place.rtype not in OF_THE_SERVER
    }
    exchanges = [exchange for question, exchange in subject.survey.asked.items() if question in places]
    exchanges += [subject.answers.get(name, rtype, do=False) for name, rtype in list(places)[:PLAIN_MAX]]
    for exchange in exchanges:
        data = places[exchange.query.name, exchange.query.rtype]
        if exchange.message is None or _has(exchange, data):
            continue
        if exchange.transport == "udp" and _has(subject.asker.tcp(exchange.query), data):
            # That UDP leaves records out is the matter of items on size.
            continue
        return _wrong(exchange, data)
    of = f", of {known.places_in_all} RRsets" if known.places_in_all > len(known.places) else ""
    held = f"{len(exchanges)} answers have the zone's data{of}."
    return (
        _wrong_referral(subject)
        or _wrong_glue(subject)
        or _wrong_beside(subject, exchanges, places)
        or _added(subject)
        or (passed(held, *exchanges[:1]) if exchanges else nothing_seen("data"))
    )


def _added(subject: AuthoritativeSubject) -> Outcome | None:
    """Look for types in use that a host has not in the zone's data, and the server answers, as from a wildcard."""
    known, host = whole_data(subject), subject.landmarks.host
    if known is None or host is None:
        return None
    there = {place.rtype for place in known.places if place.name == host.name}
    for rtype in (RdataType.A, *USUAL_TYPES) if there else ():
        exchange = subject.answers.get(host.name, rtype, do=False)
        if rtype not in there and rrset_of(exchange, "answer", host.name, rtype) is not None:
            return failed(f"There is an answer to {exchange.title}, which the zone's data have not.", exchange)
    return None


def _wrong_beside(
    subject: AuthoritativeSubject,
    exchanges: Sequence[Exchange],
    places: Mapping[tuple[dns.name.Name, RdataType], frozenset[dns.rdata.Rdata]],
) -> Outcome | None:
    """Compare addresses that come with answers, such as those of mail servers; None if they agree or there are none."""
    for exchange in exchanges:
        for rrset in [] if exchange.message is None or exchange.is_truncated else exchange.message.additional:
            data = places.get((rrset.name, RdataType.make(rrset.rdtype)), frozenset())
            # Fewer of them may come, as there may be no room.
            if data and rrset.rdtype in {RdataType.A, RdataType.AAAA} and set(rrset) - data:
                title = f"{rrset.name} {type_text(RdataType.make(rrset.rdtype))}"
                what = f"The response to {exchange.title} has {title} {next(iter(set(rrset) - data))} beside"
                return failed(f"{what}, which the zone has not.", exchange)
    return None


def _has(exchange: Exchange, data: frozenset[dns.rdata.Rdata]) -> bool:
    found = rrset_of(exchange, "answer", exchange.query.name, exchange.query.rtype)
    return found is not None and set(found) == data


def _wrong(exchange: Exchange, data: frozenset[dns.rdata.Rdata]) -> Outcome:
    found = rrset_of(exchange, "answer", exchange.query.name, exchange.query.rtype)
    if found is None:
        return failed(f"The response to {exchange.title} is {rcode_text(exchange)} without the records.", exchange)
    added, lacking = set(found) - data, data - set(found)
    what = f"has {next(iter(added))}, which the zone has not" if added else f"lacks {next(iter(lacking))}"
    return failed(f"The answer to {exchange.title} {what}.", exchange)


def _wrong_referral(subject: AuthoritativeSubject) -> Outcome | None:
    """Compare the NS records of referrals with the zone's data; None if they agree."""
    given = dict(referrals(subject))
    for place in subject.known_data.delegations:
        exchange = given.get(place.name)
        # What is no referral is A-referral's and A-types's.
        if exchange is None or exchange.is_truncated or not place.data:
            continue
        found = rrset_of(exchange, "authority", place.name, RdataType.NS)
        if found is not None and set(found) != place.data:
            added, lacking = set(found) - place.data, place.data - set(found)
            what = f"has {next(iter(added))}, which the zone has not" if added else f"lacks {next(iter(lacking))}"
            return failed(f"Among the NS records of {place.name} the referral {what}.", exchange)
    return None


def _wrong_glue(subject: AuthoritativeSubject) -> Outcome | None:
    """Compare the addresses in a referral with the glue in the zone's data; None if they agree or there are none."""
    glue = {(place.name, place.rtype): place.data for place in subject.known_data.glue_places}
    name = subject.known_data.glue
    if name is None:
        return None
    exchange = subject.asker.ask(Query(name=name, rtype=RdataType.A, payload=None))
    if exchange.message is None or exchange.has_flag(dns.flags.AA) or exchange.message.answer:
        return None
    for rrset in exchange.message.additional:
        data = glue.get((rrset.name, rrset.rdtype))
        if data is not None and set(rrset) - data:
            title = f"{rrset.name} {type_text(RdataType.make(rrset.rdtype))}"
            return failed(f"The referral has another address as {title} than the zone's data.", exchange)
    return None

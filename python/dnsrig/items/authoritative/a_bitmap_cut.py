"""A-bitmap-cut: bitmaps of delegations."""

from collections.abc import Iterator

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._chain import Link, links, links_beside, links_by_name
from dnsrig.items.authoritative._contents import contents
from dnsrig.items.authoritative._unchanged import unless_changed
from dnsrig.verification.denial import types_of
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject, rrset_of
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

MOST_BESIDE = 20
OWN_TYPES = {RdataType.RRSIG, RdataType.NSEC}
ITEM = Item(
    id="A-bitmap-cut",
    role="authoritative",
    group="DNSSEC: chain",
    requirement=(
        "The NSEC or NSEC3 record of a delegation lists NS, DS where there is DS, and no other types but DNSSEC's own."
    ),
    references=("RFC 4035 section 2.3", "RFC 5155 section 7.1", "RFC 6840 section 4.1"),
    severity=Severity.ERROR,
    consequence="Validators cannot tell that the name is a delegation: names below do not resolve, or can be forged.",
    procedure=(
        "DS records of the delegations that are known, or of many, are asked for with DO, among them those that"
        " --delegation names and those whose bitmap lists other types in the zone's data than are there. For some of"
        " them names are asked for whose denial has their record. The bitmaps of the records that match these names"
        " are looked at."
    ),
    dig=("dig @{server} -p {port} {delegation} DS +norec +dnssec",),
    needs=("signatures",),
    faults=(
        "cut-bitmap-lists-glue",
        "cut-bitmap-without-ns",
        "cut-bitmap-lists-ds",
        "cut-bitmap-without-ds",
        "nsec3-cut-bitmap-without-ds",
        "ds-lost",
    ),
)


@unless_changed
def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the bitmaps."""
    judged: list[Link] = []
    for link, has_ds in _links_of_cuts(subject):
        types = types_of(link.record)
        others = sorted(types - OWN_TYPES - {RdataType.NS, RdataType.DS})
        if RdataType.NS not in types:
            return failed(f"{link.title}, of a delegation, does not list NS.", link.exchange)
        if others:
            listed = RdataType.make(others[0]).name
            return failed(
                f"{link.title}, of a delegation, lists {listed}, of which the child zone has the say.", link.exchange
            )
        if has_ds is not None and has_ds != (RdataType.DS in types):
            said = "does not list DS, which it has" if has_ds else "lists DS, which it has not"
            return failed(f"{link.title}, of a delegation, {said}.", link.exchange)
        judged.append(link)
    if not judged:
        return not_applicable(subject.unknown("delegation whose NSEC or NSEC3 record was seen"))
    every = len(subject.survey.cuts)
    count = f"all {every}" if len(judged) == every else f"{len(judged)} of {every}"
    return passed(f"The bitmaps of {count} delegations are right.", judged[0].exchange)


def _links_of_cuts(subject: AuthoritativeSubject) -> Iterator[tuple[Link, bool | None]]:
    """Give the records of delegations, and whether these have DS records; None if that cannot be told."""
    marks, known = subject.known_data, contents(subject)
    secure = [place.name for place in subject.survey.places if place.rtype == RdataType.DS and place.data]
    # A response with DS records has not the bitmap.
    beside = list(dict.fromkeys([*marks.told_cuts, *marks.doubtful_cuts, *secure[:MOST_BESIDE]]))
    link_of = links_by_name([*links(subject), *links_beside(subject, beside, beside)])
    for cut in sorted(subject.survey.cuts):
        link = link_of(cut)
        exchange = subject.survey.asked.get((cut, RdataType.DS))
        if link is None or exchange is None or exchange.is_truncated:
            continue
        if exchange.message is None or rrset_of(exchange, "authority", cut, RdataType.SOA) is not None:
            # The server has the child zone too, and answers from it.
            continue
        has_ds = rrset_of(exchange, "answer", cut, RdataType.DS) is not None
        is_known = known.get(cut, RdataType.DS) is not None
        is_told = has_ds or rrset_of(exchange, "authority", subject.origin, RdataType.SOA) is not None
        yield link, has_ds if is_told and has_ds == is_known else None

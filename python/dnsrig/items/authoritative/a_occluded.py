"""A-occluded: data that nobody can ask for."""

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Evidence, Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-occluded",
    role="authoritative",
    group="Zone data",
    requirement="The zone has no data below a DNAME record, and at and below a delegation none but its own and glue.",
    references=("RFC 6672 section 2.4", "RFC 2136 section 7.18", "RFC 1034 section 4.2.1"),
    severity=Severity.WARNING,
    consequence="The data are never answered with: what somebody put there, and believes to work, does not exist.",
    procedure=(
        "The zone's data, from its file or as transferred, are looked at: below a DNAME record there is nothing, at a"
        " delegation nothing but NS, DS and addresses, below it nothing but addresses."
    ),
    dig=("dig @{server} -p {port} {zone} AXFR",),
    needs=("zone",),
    faults=("data-below-dname", "data-below-delegation", "data-at-delegation"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at what is occluded."""
    known = subject.known_data
    if not known.is_whole:
        return not_applicable("Not all of the zone's data are known; --zone-file with its data may show some.")
    if known.occluded:
        first, others = known.occluded[0], len(known.occluded) - 1
        more = f", and {others} more RRset{'s are' if others > 1 else ' is'}" if others else ""
        shown = Evidence("Occluded data", "\n".join(f"{place.name} {place.rtype.name}" for place in known.occluded))
        return failed(
            f"{first.name} {first.rtype.name} is occluded by the delegation or DNAME record above{more}.", shown
        )
    if not known.cuts and known.dname is None:
        return not_applicable("The zone has neither delegations nor DNAME records.")
    return passed("No data are occluded by delegations or DNAME records.")

"""A-50: each algorithm of the DS records signs the DNSKEY RRset."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._ds import apex_rrset, ds_evidence
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-50",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="The apex DNSKEY RRset is signed by each algorithm that the parent zone's DS records have.",
    references=("RFC 4035 section 2.2", "RFC 6840 section 5.11", "JPRS-2010 A-50"),
    severity=Severity.ERROR,
    consequence=(
        "Validators that know only the algorithm that is missing, or insist on all of them, reject the zone: its "
        "names do not resolve for their users."
    ),
    procedure=(
        "The algorithms of the DS records that --ds gives are compared with"
        " those of the signatures of the DNSKEY RRset."
    ),
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec +dnssec", "dig @{resolver} {zone} DS"),
    needs=("signatures", "ds"),
    faults=("ds-of-another-algorithm",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the algorithms."""
    dnskey = apex_rrset(subject, subject.dnskey, RdataType.DNSKEY)
    if dnskey is None:
        return inconclusive("The DNSKEY RRset was there a moment ago.", subject.dnskey)
    promised = {int(record.algorithm) for record in subject.ds}
    missing = promised - {int(signature.algorithm) for signature in dnskey.signatures}
    shown = (ds_evidence(subject), subject.dnskey)
    if missing:
        return failed(
            f"There are DS records of algorithm {min(missing)}, which does not sign the DNSKEY RRset.", *shown
        )
    return passed(f"Algorithm {' and '.join(map(str, sorted(promised)))} signs the DNSKEY RRset.", *shown)

"""A-soa-names: the names of the SOA record."""

import dns.name
from dns.rdatatype import RdataType

from dnsrig.items.authoritative._answers import zone_soa
from dnsrig.items.authoritative._contents import contents
from dnsrig.items.authoritative._places import names_of_servers
from dnsrig.items.authoritative._targets import Targets
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-soa-names",
    role="authoritative",
    group="Zone data",
    requirement="The SOA record's MNAME, where it is within the zone, has an address, and its RNAME is a mail address.",
    references=("RFC 1035 section 3.3.13", "RFC 1912 section 2.2", "RFC 2142 section 7"),
    severity=Severity.NOTICE,
    consequence="Updates do not find the primary, and whoever sees that the zone is broken can tell nobody.",
    procedure=(
        "The SOA record is asked for. Its MNAME, if within the zone, not below a delegation and in no NS record of"
        " the zone, is asked for A and AAAA; it is no alias. There is no @ in the RNAME."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns",),
    needs=("zone",),
    faults=("mname-without-address", "rname-with-at"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at both names."""
    found = zone_soa(subject)
    if found is None:
        return inconclusive("There is no SOA record; A-soa is about that.", subject.soa)
    soa = found[0]
    if any(b"@" in label for label in soa.rname.labels):
        return failed(f"The RNAME is {soa.rname}; a dot stands for the @.", subject.soa)
    elsewhere = {subject.origin, dns.name.root, *names_of_servers(subject)}
    if soa.mname.is_subdomain(subject.origin) and soa.mname not in elsewhere:
        known = contents(subject)
        if known.delegated(soa.mname) is None and Targets(subject).has_address(soa.mname) is False:
            return failed(f"The MNAME {soa.mname} has neither A nor AAAA records.", subject.soa)
        alias = known.get(soa.mname, RdataType.CNAME)
        if alias is not None:
            return failed(f"The MNAME {soa.mname} is an alias.", subject.soa)
    return passed("Nothing speaks against the names.", subject.soa)

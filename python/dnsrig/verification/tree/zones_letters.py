"""A zone that is right, in whose data names are written with capitals: what is signed is their canonical form.

Names in data of the types of RFC 4034 section 6.2 are signed in lower case; those in data of later types, and the next
name of NSEC records, as they are written (RFC 6840 section 5.1).
"""

from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import Case, Deviation, Status, ZonePlan
from dnsrig.verification.tree.edits import ZoneEdit

ZONE = "letters.nsec."
NEXT = {"before": "Between", "between": "BeYoND"}
"""By the name of an NSEC record, its next name: names that are denied lie after both."""
LOWERED = Deviation(
    server="powerdns-recursor",
    versions=r"4\.",
    gives=Status.BOGUS,
    reason="names in data of all types but NSEC are written in lower case before their signatures are verified",
)


def _write_next_names(edit: ZoneEdit) -> None:
    """Write the next names of some NSEC records with capitals, and sign these as they are."""
    for owner, following in NEXT.items():
        name = edit.name(owner)
        ttl = edit.rrset(name, RdataType.NSEC).ttl
        edit.put(name, RdataType.NSEC, [f"{following}.{ZONE} {edit.nsec_types(name)}"], ttl)
        edit.sign(name, RdataType.NSEC)


PLANS = (
    ZonePlan(
        name=ZONE,
        what="right, with capitals in names that its data have",
        records=(
            "www IN A 198.18.2.80",
            "alias IN CNAME WwW.LeTTeRs.NSEC.",
            # Not the owner: names that are in a message before are compressed, and their capitals lost.
            "mail IN MX 10 WwW.LeTTeRs.NSEC.",
            "_dns._udp IN SRV 1 2 53 WwW.LeTTeRs.NSEC.",
            "pointer IN PTR WwW.LeTTeRs.NSEC.",
            "service IN HTTPS 1 WwW.LeTTeRs.NSEC. alpn=h2",
            *(f"{name} IN A 198.18.2.82" for name in ("before", "between", "beyond")),
        ),
        edit=_write_next_names,
        cases=(
            Case(name="alias", what="an alias whose target has capitals", item="F-secure-data"),
            Case(name="mail", rtype=RdataType.MX, what="an MX record with capitals", item="F-secure-data"),
            Case(name="_dns._udp", rtype=RdataType.SRV, what="an SRV record with capitals", item="F-secure-data"),
            Case(name="pointer", rtype=RdataType.PTR, what="a PTR record with capitals", item="F-secure-data"),
            Case(
                name="service",
                rtype=RdataType.HTTPS,
                what="an HTTPS record with capitals, which are signed as they are (RFC 3597 section 7)",
                item="F-secure-data",
                known=(LOWERED,),
            ),
            Case(
                name="before-it",
                denied="name",
                what="a missing name, by an NSEC record whose next name has capitals",
                item="F-secure-nsec",
            ),
            Case(
                name="between",
                rtype=RdataType.MX,
                denied="type",
                what="a missing type, by an NSEC record whose next name has capitals",
                item="F-secure-nsec",
            ),
        ),
    ),
)

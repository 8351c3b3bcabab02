"""Root, TLDs, and zones that are right."""

from collections.abc import Iterable

from dns.rdatatype import RdataType

from dnsrig.verification.tree.cases import INSECURE, Case, ZonePlan

FRESH_HOSTS = 400
"""Hosts `h0` and so on, for items that need a name that the resolver has not in its cache."""
HOST = "198.18.2.80"
USUAL = (
    f"www IN A {HOST}",
    "www IN AAAA 2001:2::80",
    '@ IN TXT "a zone of dnsrig\'s private tree"',
    "*.wild IN A 198.18.2.81",
    "*.wildalias IN CNAME www",
    "leaf.empty IN A 198.18.2.82",
    "alias IN CNAME www",
)
"""What most zones have."""
TXT_OCTETS = 200
STRINGS = " ".join(["x" * 195] * 4)
"""Of a TXT record of some 800 octets."""


def large_text(owner: str, octets: int) -> Iterable[str]:
    """Give TXT records of so many octets in all."""
    for number in range(octets // TXT_OCTETS + 1):
        text = f"{number:03d} " + "x" * (TXT_OCTETS - 5)
        yield f'{owner} IN TXT "{text}"'


def _negatives(nsec: str) -> tuple[Case, ...]:
    item = f"F-secure-{nsec}"
    return (
        Case(name="www", what="an address", item="F-secure-data"),
        Case(name="www", rtype=RdataType.AAAA, what="an IPv6 address", item="F-secure-data"),
        Case(name="@", rtype=RdataType.DNSKEY, what="the keys", item="F-secure-data"),
        Case(name="@", rtype=RdataType.DS, what="the DS records, which its parent zone has", item="F-secure-data"),
        Case(name="@", rtype=RdataType.NS, what="the NS records, unsigned in its parent zone", item="F-secure-data"),
        Case(name="ns1", what="a name server's address, unsigned glue in its parent zone", item="F-secure-data"),
        Case(name="absent", what="a name that does not exist", denied="name", item=item),
        Case(name="zzz", what="a name after all others, which takes a second proof", denied="name", item=item),
        Case(name="a.b.absent", what="a name three labels below what exists", denied="name", item=item),
        Case(name="www", rtype=RdataType.MX, what="a type that is not there", denied="type", item=item),
        Case(name="empty", what="an empty non-terminal", denied="type", item=item),
        Case(name="any.wild", what="a name made from a wildcard", item=item),
        Case(name="a.b.wild", what="a name made from a wildcard, two labels below it", item=item),
        Case(name="any.wild", rtype=RdataType.MX, what="a type that the wildcard has not", denied="type", item=item),
        Case(name="any.wildalias", what="an alias made from a wildcard", item=item),
        Case(name="alias", what="an alias within the zone", item="F-secure-data"),
    )


INFRASTRUCTURE = (
    ZonePlan(
        name=".",
        what="the root",
        servers=(0,),
        cases=(Case(name="@", rtype=RdataType.DS, denied="type", what="DS records of the root", item="F-secure-nsec"),),
    ),
    ZonePlan(name="nsec.", what="a TLD signed with NSEC", servers=(1,)),
    ZonePlan(name="nsec3.", what="a TLD signed with NSEC3", chain="nsec3", servers=(1,)),
    ZonePlan(
        name="opt-out.",
        what="a TLD signed with NSEC3 and opt-out",
        chain="opt-out",
        servers=(1,),
        cases=(
            Case(
                name="absent",
                right=INSECURE,
                denied="name",
                what="a name that does not exist, in an opt-out span (RFC 5155 section 9.2: no AD)",
                item="F-opt-out",
            ),
        ),
    ),
    ZonePlan(name="unsigned.", what="a TLD that is not signed", chain="", servers=(1,)),
)

PLANS = (
    *INFRASTRUCTURE,
    ZonePlan(
        name="secure.nsec.",
        what="right, signed with NSEC",
        records=(
            *USUAL,
            *large_text("large1220", 1000),
            # With DO responses of about 800 octets, and of some more than 4000 and less than 4096.
            *large_text("large700", 400),
            *large_text("large4000", 3400),
            f'large4000 IN TXT "{"x" * 67}"',
            # BIND keeps no more than 100 records of a type (max-records-per-type).
            *(f"large40000 IN TXT {number:02d} {STRINGS}" for number in range(50)),
            "tree IN DNAME secure.nsec3.",
            *(f"h{number} IN A 198.18.2.{number % 250}" for number in range(FRESH_HOSTS)),
        ),
        cases=(
            *_negatives("nsec"),
            Case(name="large1220", rtype=RdataType.TXT, what="a response beyond 1220 octets", item="F-secure-large"),
            Case(name="large4000", rtype=RdataType.TXT, what="a response of about 4000 octets", item="F-secure-large"),
            Case(name="large40000", rtype=RdataType.TXT, what="a response of some 40000 octets", item="F-secure-large"),
            Case(
                name="www.tree", what="a name below a DNAME record that leads to a secure zone", item="F-secure-dname"
            ),
        ),
    ),
    ZonePlan(
        name="secure.nsec3.",
        what="right, signed with NSEC3",
        chain="nsec3",
        records=USUAL,
        cases=(
            *_negatives("nsec3"),
            Case(name="@", rtype=RdataType.NSEC3PARAM, what="the parameters of the chain", item="F-229"),
        ),
    ),
    ZonePlan(
        name="secure.opt-out.",
        what="right, below a TLD with opt-out",
        records=USUAL,
        cases=(Case(name="www", what="an address in a signed zone below opt-out", item="F-opt-out"),),
    ),
    ZonePlan(
        name="zone-opt-out.nsec.",
        what="right, itself signed with NSEC3 and opt-out",
        chain="opt-out",
        records=USUAL,
        cases=(
            Case(name="www", what="an address in a zone with opt-out", item="F-opt-out"),
            Case(
                name="www",
                rtype=RdataType.MX,
                denied="type",
                what="a type that is not there, by a matching NSEC3 record with the Opt-Out flag",
                item="F-opt-out",
            ),
        ),
    ),
    *(
        ZonePlan(
            name=f"plain.{parent}.",
            what=f"not signed, an insecure delegation from {parent}.",
            chain="",
            records=USUAL,
            cases=(
                Case(name="www", right=INSECURE, what="an address", item="F-insecure-delegation"),
                Case(name="absent", right=INSECURE, denied="name", what="a missing name", item="F-insecure-delegation"),
            ),
        )
        for parent in ("nsec", "nsec3", "opt-out", "unsigned")
    ),
)

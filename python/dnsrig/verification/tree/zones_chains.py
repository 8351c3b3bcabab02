"""Chains of delegations and of aliases across secure, insecure and bogus zones."""

from collections.abc import Sequence

import dns.name
from dns.rdatatype import RdataType

from dnsrig.dates import DAY_S
from dnsrig.verification.tree.cases import BOGUS, INSECURE, Case, ZonePlan
from dnsrig.verification.tree.edits import ZoneEdit
from dnsrig.verification.tree.keys import ZoneKeys
from dnsrig.verification.tree.zones_good import USUAL

SECURE_HOST = "www.secure.nsec3."
INSECURE_HOST = "www.plain.nsec3."
BOGUS_HOST = "www.bad-signature.nsec."
ITEM = "F-mixed-chains"


def _no_ds(_: ZoneKeys, __: dns.name.Name) -> Sequence[str]:
    return ()


def _unsign_alias(edit: ZoneEdit) -> None:
    edit.remove_signatures(edit.name("alias"), RdataType.CNAME)


def _unsign_dname(edit: ZoneEdit) -> None:
    edit.remove_signatures(edit.name("tree"), RdataType.DNAME)


def _aliases() -> tuple[str, ...]:
    return (
        f"to-secure IN CNAME {SECURE_HOST}",
        f"to-insecure IN CNAME {INSECURE_HOST}",
        f"to-bogus IN CNAME {BOGUS_HOST}",
        "to-absent IN CNAME absent.secure.nsec3.",
        "secure-tree IN DNAME secure.nsec3.",
        "insecure-tree IN DNAME plain.nsec3.",
        "bogus-tree IN DNAME bad-signature.nsec.",
    )


PLANS = (
    ZonePlan(
        name="no-ds.nsec.",
        what="signed, without DS records in its parent zone, which proves that",
        records=USUAL,
        ds=_no_ds,
        cases=(
            Case(name="www", right=INSECURE, what="a signed zone without DS records", item="F-insecure-delegation"),
        ),
    ),
    ZonePlan(
        name="signed.unsigned.",
        what="signed, below an unsigned zone",
        records=USUAL,
        cases=(Case(name="www", right=INSECURE, what="signed below unsigned", item=ITEM),),
    ),
    ZonePlan(
        name="island.plain.nsec.",
        what="signed, below an unsigned zone that is below a signed one",
        records=USUAL,
        servers=(3,),
        cases=(Case(name="www", right=INSECURE, what="signed below unsigned below signed", item=ITEM),),
    ),
    ZonePlan(
        name="broken-island.plain.nsec.",
        what="signed and expired, below an unsigned zone: nobody may look at its signatures",
        records=USUAL,
        servers=(3,),
        validity_s=(-9 * DAY_S, -2 * DAY_S),
        cases=(Case(name="www", right=INSECURE, what="expired signatures below an unsigned zone", item=ITEM),),
    ),
    ZonePlan(
        name="third.secure.nsec3.",
        what="signed, below two signed zones",
        records=USUAL,
        servers=(3,),
        cases=(Case(name="www", what="signed below signed below signed", item=ITEM),),
    ),
    ZonePlan(
        name="aliases.nsec.",
        what="aliases in a signed zone",
        records=_aliases(),
        cases=(
            Case(name="to-secure", what="an alias from a secure to a secure zone", item="F-aliases"),
            Case(name="to-insecure", right=INSECURE, what="an alias from secure to insecure", item="F-aliases"),
            Case(name="to-bogus", right=BOGUS, what="an alias from secure to bogus", item="F-aliases-bogus"),
            Case(name="to-absent", denied="name", what="an alias to a name that does not exist", item="F-aliases"),
            Case(name="www.secure-tree", what="DNAME from secure to secure", item="F-aliases"),
            Case(name="www.insecure-tree", right=INSECURE, what="DNAME from secure to insecure", item="F-aliases"),
            Case(name="www.bogus-tree", right=BOGUS, what="DNAME from secure to bogus", item="F-aliases-bogus"),
        ),
    ),
    ZonePlan(
        name="aliases.unsigned.",
        what="aliases in an unsigned zone",
        chain="",
        records=_aliases(),
        cases=(
            Case(name="to-secure", right=INSECURE, what="an alias from insecure to secure", item="F-aliases"),
            Case(name="to-bogus", right=BOGUS, what="an alias from insecure to bogus", item="F-aliases-bogus"),
            Case(name="www.secure-tree", right=INSECURE, what="DNAME from insecure to secure", item="F-aliases"),
            Case(name="www.bogus-tree", right=BOGUS, what="DNAME from insecure to bogus", item="F-aliases-bogus"),
        ),
    ),
    ZonePlan(
        name="alias-unsigned.nsec.",
        what="an alias without signature",
        records=USUAL,
        edit=_unsign_alias,
        cases=(Case(name="alias", right=BOGUS, what="a CNAME record without signature", item="F-aliases-bogus"),),
    ),
    ZonePlan(
        name="dname-unsigned.nsec.",
        what="a DNAME record without signature",
        records=(*USUAL, "tree IN DNAME secure.nsec3."),
        edit=_unsign_dname,
        cases=(Case(name="www.tree", right=BOGUS, what="a DNAME record without signature", item="F-aliases-bogus"),),
    ),
)

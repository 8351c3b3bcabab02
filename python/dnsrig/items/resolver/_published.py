"""What the rig's tree publishes: what resolvers' answers are compared with."""

from collections.abc import Mapping

import dns.message
import dns.name
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.tree.answering import answer
from dnsrig.verification.tree.loaded import LoadedZone
from dnsrig.verification.tree.making import Tree
from dnsrig.verification.tree.serve import ZoneFiles


def published(
    subject: ResolverSubject, name: dns.name.Name, rtype: RdataType, covers: RdataType = RdataType.NONE
) -> dns.rrset.RRset | None:
    """Give an RRset as a server that is right gives it, signatures by what they cover; None if there is none.

    Raises:
        ValueError: the resolver does not resolve from the rig's tree.

    """
    tree = subject.tree
    if tree is None:
        raise ValueError("what is published is known of the rig's tree alone")
    zones = subject.once("zones", lambda: _zones_of(tree))
    asked = covers if rtype == RdataType.RRSIG else rtype
    response = answer(dns.message.make_query(name, asked, want_dnssec=True), zones)
    return next(
        (one for one in response.answer if (one.name, one.rdtype, one.covers) == (name, rtype, covers)),
        None,
    )


def _zones_of(tree: Tree) -> Mapping[dns.name.Name, LoadedZone]:
    return ZoneFiles({zone.plan.origin: zone.path for zone in tree.zones}, tree.loaded)

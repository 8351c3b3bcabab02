"""What is wrong with another server of a zone, while the one that is verified is right."""

from dataclasses import dataclass, replace

import dns.flags

from dnsrig.verification.faults.catalogue import fault_named
from dnsrig.verification.faults.changes import changing
from dnsrig.verification.faults.fault import Fault

BEHIND_RELAYS = (
    replace(fault_named("lame"), name="lame-secondary"),
    Fault(
        name="deaf-secondary",
        does="answers nothing by UDP",
        roles=("authoritative",),
        on_query=lambda passage: None if passage.transport == "udp" else passage.query,
    ),
    Fault(
        name="secondary-without-aa",
        does="clears AA",
        roles=("authoritative",),
        on_response=changing(lambda answer: setattr(answer, "flags", answer.flags & ~dns.flags.AA)),
    ),
    Fault(name="secondary-without-tcp", does="does not listen on TCP", roles=("authoritative",), refuses_tcp=True),
)
"""Those that a relay before it makes."""


@dataclass(frozen=True, slots=True)
class SecondaryFault:
    """One of them in words."""

    name: str
    does: str
    """What it does, in words that go on after "Another server of the zone"."""


SECONDARY_FAULTS = (
    *(SecondaryFault(fault.name, fault.does) for fault in BEHIND_RELAYS),
    SecondaryFault("dead-secondary", "is not there"),
    SecondaryFault("stale-secondary", "has the zone as it was before its keys and its chain of NSEC3 records changed"),
)
"""All of them."""

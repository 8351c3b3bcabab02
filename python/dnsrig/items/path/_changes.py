"""What a path changed in a message, in words."""

import dns.message
import dns.name
import dns.opcode
from dns.rdatatype import RdataType

from dnsrig.verification.transparency import (
    HEADER_FLAGS,
    SECTIONS,
    edns_differences,
    flag_differences,
    option_differences,
    question_differences,
    rcode_differences,
    section_differences,
    spelling,
)

SHOWN = 2
"""So many of the differences are told."""
FORM = "its form, not what it says (compression, order of records or options, length)"


def changes(went_in: dns.message.Message, came_out: dns.message.Message) -> str:
    """Say, as clauses, what is another in a message that is not the same octet by octet."""
    found = [
        *_header_differences(went_in, came_out),
        *question_differences(went_in, came_out),
        *_spelling_differences(went_in, came_out),
        *edns_differences(went_in, came_out),
        *_option_differences(went_in, came_out),
        *(one for section in SECTIONS for one in section_differences(went_in, came_out, section)),
        *_ttl_differences(went_in, came_out),
    ]
    if not found:
        return FORM
    return "; ".join(found[:SHOWN]) + (f"; {len(found) - SHOWN} more" if len(found) > SHOWN else "")


def _header_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    found = [] if went_in.id == came_out.id else [f"ID {went_in.id} becomes {came_out.id}"]
    before, after = went_in.opcode(), came_out.opcode()
    if before != after:
        found.append(f"opcode {dns.opcode.to_text(before)} becomes {dns.opcode.to_text(after)}")
    return [*found, *rcode_differences(went_in, came_out), *flag_differences(went_in, came_out, HEADER_FLAGS)]


def _spelling_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say that the letters of names are another in case, where their names are the same."""
    before, after = _names(went_in), _names(came_out)
    if spelling(before) == spelling(after) or set(before) != set(after):
        return []
    return ["letters of names are upper or lower case that were not"]


def _names(message: dns.message.Message) -> list[dns.name.Name]:
    sections = (message.question, *(getattr(message, section) for section in SECTIONS))
    return [rrset.name for section in sections for rrset in section]


def _option_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say which options are lost, changed or added, and what payload size, where there is OPT at both ends."""
    if went_in.edns < 0 or came_out.edns < 0:
        return []
    found = option_differences(went_in, came_out)
    there = {int(option.otype) for option in went_in.options}
    added = [int(option.otype) for option in came_out.options if int(option.otype) not in there]
    found += [f"the EDNS option {code} is added" for code in added]
    if went_in.payload != came_out.payload:
        found.append(f"the payload size {went_in.payload} becomes {came_out.payload}")
    return found


def _ttl_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    found = []
    for section in SECTIONS:
        sent = {(rrset.name, rrset.rdtype, rrset.covers): rrset.ttl for rrset in getattr(went_in, section)}
        for rrset in getattr(came_out, section):
            ttl_s = sent.get((rrset.name, rrset.rdtype, rrset.covers), rrset.ttl)
            if rrset.ttl != ttl_s:
                title = f"{rrset.name} {RdataType.to_text(rrset.rdtype)}"
                found.append(f"the TTL of {title} in the {section} section is {rrset.ttl} s, not {ttl_s} s")
    return found

"""What differs between a message that went into a proxy or router and the one that came out of it (RFC 5625 section 3).

Order of records, but that of aliases, compression and TTLs that are lower do not count as differences.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from dns.rdataclass import RdataClass
from dns.rdatatype import RdataType

from dnsrig.verification.queries import Z_BIT

HEADER_FLAGS = {
    "QR": int(dns.flags.QR),
    "AA": int(dns.flags.AA),
    "TC": int(dns.flags.TC),
    "RD": int(dns.flags.RD),
    "RA": int(dns.flags.RA),
    "Z": Z_BIT,
    "AD": int(dns.flags.AD),
    "CD": int(dns.flags.CD),
}
SECTIONS = ("answer", "authority", "additional")
FOR_DO = {RdataType.RRSIG, RdataType.NSEC, RdataType.NSEC3}
Record = tuple[dns.name.Name, RdataClass, RdataType, dns.rdata.Rdata]


def flag_differences(went_in: dns.message.Message, came_out: dns.message.Message, flags: Iterable[str]) -> list[str]:
    """Say which of the header's flags differ."""
    return [
        f"{flag} is {'cleared' if went_in.flags & HEADER_FLAGS[flag] else 'set'}"
        for flag in flags
        if (went_in.flags ^ came_out.flags) & HEADER_FLAGS[flag]
    ]


def edns_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say how OPT differs in presence, version and flags; not in options and payload size."""
    if (went_in.edns < 0) != (came_out.edns < 0):
        return ["OPT is removed" if came_out.edns < 0 else "OPT is added"]
    if went_in.edns < 0:
        return []
    found = []
    if went_in.edns != came_out.edns:
        found.append(f"EDNS version {went_in.edns} becomes {came_out.edns}")
    before, after = went_in.ednsflags & 0xFFFF, came_out.ednsflags & 0xFFFF
    do = int(dns.flags.DO)
    if (before ^ after) & do:
        found.append(f"DO is {'cleared' if before & do else 'set'}")
    if (before ^ after) & ~do:
        found.append(f"the other EDNS flags {before & ~do:#06x} become {after & ~do:#06x}")
    return found


def option_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say which EDNS options are lost, or changed; additional ones do no harm."""
    there = Counter((int(option.otype), option.to_wire() or b"") for option in came_out.options)
    wanted = Counter((int(option.otype), option.to_wire() or b"") for option in went_in.options)
    codes = {code for code, _ in there}
    return [f"the EDNS option {code} is {'changed' if code in codes else 'removed'}" for code, _ in wanted - there]


def question_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say that the question is another; its spelling does not matter here."""
    before, after = _questions(went_in), _questions(came_out)
    if before == after:
        return []
    return [f"the question {' and '.join(before) or 'that was missing'} becomes {' and '.join(after) or 'none'}"]


def owner_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say which names the answer section has records of that it had none of: the response belongs to another query."""
    added = {rrset.name for rrset in came_out.answer} - {rrset.name for rrset in went_in.answer}
    return [f"there are records of {name} in the answer section, which was not asked for" for name in sorted(added)]


def section_differences(went_in: dns.message.Message, came_out: dns.message.Message, section: str) -> list[str]:
    """Say which records of a section are lost or added."""
    before, after = records(getattr(went_in, section)), records(getattr(came_out, section))
    lost, added = before - after, after - before
    found = [f"{_shown(record)} is missing in the {section} section" for record in lost]
    return found + [f"{_shown(record)} is added to the {section} section" for record in added]


def alias_behind(answer: Sequence[dns.rrset.RRset]) -> dns.name.Name | None:
    """Give an alias that stands behind records of the name that it leads to; None if there is none.

    Aliases preface what they lead to (RFC 1034 section 4.3.1): stubs that read an answer once, from its beginning, find
    nothing else.
    """
    before: set[dns.name.Name] = set()
    for rrset in answer:
        if rrset.rdtype == RdataType.CNAME and rrset[0].target in before - {rrset.name}:
            return rrset.name
        before.add(rrset.name)
    return None


def order_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say that an alias was moved behind what it leads to; in all else the order is free."""
    alias = alias_behind(came_out.answer)
    if alias is None or alias_behind(went_in.answer) is not None:
        return []
    return [f"the alias {alias} stands behind the records that it leads to"]


def rcode_differences(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say that the response code differs."""
    before, after = went_in.rcode(), came_out.rcode()
    return [] if before == after else [f"{dns.rcode.to_text(before)} becomes {dns.rcode.to_text(after)}"]


def raised_ttls(went_in: dns.message.Message, came_out: dns.message.Message) -> list[str]:
    """Say which records live longer than they should."""
    found = []
    for section in SECTIONS:
        lives = {(rrset.name, rrset.rdtype, rrset.covers): rrset.ttl for rrset in getattr(went_in, section)}
        for rrset in getattr(came_out, section):
            ttl_s = lives.get((rrset.name, rrset.rdtype, rrset.covers))
            if ttl_s is not None and rrset.ttl > ttl_s:
                found.append(f"the TTL of {rrset.name} {rrset.rdtype.name} rises from {ttl_s} to {rrset.ttl}")
    return found


def without_dnssec(response: dns.message.Message) -> dns.message.Message:
    """Take out what a client without DO does not get, though its proxy may ask with DO (RFC 4035 section 3.2.1)."""
    asked = {rrset.rdtype for rrset in response.question}
    for section in SECTIONS:
        kept = [rrset for rrset in getattr(response, section) if rrset.rdtype not in FOR_DO or rrset.rdtype in asked]
        setattr(response, section, kept)
    return response


def records(rrsets: Iterable[dns.rrset.RRset]) -> Counter[Record]:
    """Count the records of a section."""
    return Counter((rrset.name, rrset.rdclass, rrset.rdtype, rdata) for rrset in rrsets for rdata in rrset)


def spelling(names: Iterable[dns.name.Name]) -> set[tuple[bytes, ...]]:
    """Give names as they are spelt: two that differ in case alone are equal otherwise (RFC 4343)."""
    return {name.labels for name in names}


def _questions(message: dns.message.Message) -> list[str]:
    """Give the questions, in an order of their own."""
    return sorted(
        f"{one.name.canonicalize()} {dns.rdataclass.to_text(one.rdclass)} {dns.rdatatype.to_text(one.rdtype)}"
        for one in message.question
    )


def _shown(record: Record) -> str:
    name, _, rtype, rdata = record
    text = rdata.to_text()
    return f"{name} {RdataType.to_text(rtype)} {text[:40]}{'...' if len(text) > 40 else ''}"

"""A-options: EDNS options that nobody asked for, and their form."""

from collections import Counter

import dns.edns

from dnsrig.items.authoritative._looked_at import check_responses
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

KEEPALIVE, KEEPALIVE_OCTETS = 11, 2
ON_REQUEST = {1: "LLQ", 2: "UL", 5: "DAU", 6: "DHU", 7: "N3U", 8: "ECS", 9: "EXPIRE", 13: "CHAIN", 14: "KEY-TAG"}
ON_REQUEST |= {19: "ZONEVERSION"}
"""Options that come only where the query has them; A-cookie and A-nsid are about theirs. Extended errors and report
channels may come to anyone who uses EDNS, and so may padding (RFC 7830 section 4), but only where it is encrypted."""
PADDING = 12
ITEM = Item(
    id="A-options",
    role="authoritative",
    group="Extensions",
    requirement=(
        "Responses have each EDNS option once at most (but extended errors), none that only a query could ask for, "
        "TCP keepalive by TCP only, and padding only where they are encrypted."
    ),
    references=(
        "RFC 7871 section 7.2.1",
        "RFC 7828 section 3.3.2",
        "RFC 7314 section 2",
        "RFC 9660 section 3",
        "RFC 7830 section 6",
    ),
    severity=Severity.WARNING,
    consequence=(
        "Clients drop the response or ask again without EDNS; caches keep answers apart by networks that nobody named; "
        "padding that hides nothing makes floods of forged queries' answers larger."
    ),
    procedure="No query has options; the options of responses to a sample of all names with DO are looked at.",
    dig=("dig @{server} -p {port} {zone} SOA +norec +dnssec +nocookie",),
    needs=("zone", "edns"),
    faults=("ecs-unasked", "keepalive-by-udp", "padding-unasked"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the options of the sample's responses."""
    return check_responses(subject, _wrong_options, "The options of {count} responses are as they should be.")


def _wrong_options(exchange: Exchange) -> str:
    options: tuple[dns.edns.Option, ...] = () if exchange.message is None else tuple(exchange.message.options)
    kinds = Counter(int(option.otype) for option in options)
    for kind, count in kinds.items():
        if count > 1 and kind != dns.edns.OptionType.EDE:
            return f"has the EDNS option {kind} {count} times"
        if kind in ON_REQUEST:
            return f"has the EDNS option {ON_REQUEST[kind]}, which the query has not"
    if PADDING in kinds:
        # All is asked for by UDP or TCP without TLS.
        return "has the EDNS option for padding, and is not encrypted"
    if KEEPALIVE in kinds and exchange.transport == "udp":
        return "has the EDNS option for TCP keepalive, by UDP"
    for option in options:
        if option.otype == KEEPALIVE and len(option.to_wire() or b"") != KEEPALIVE_OCTETS:
            return "has an EDNS option for TCP keepalive without a time"
    return ""

"""A-loop: messages that are responses."""

import dataclasses

from dnsrig.items.authoritative._probes import soa_query
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

ITEM = Item(
    id="A-loop",
    role="authoritative",
    group="Robustness",
    requirement="A message that is a response, with QR, is not answered.",
    references=("RFC 1035 section 7.3", "CVE-2024-2169"),
    severity=Severity.CRITICAL,
    consequence=(
        "With a forged sender two such servers answer each other without end, and each is down for everybody else."
    ),
    procedure=(
        "What is a query for the SOA record but for its QR flag is sent twice; nothing comes back, while queries "
        "are answered."
    ),
    dig=("# dig sends no responses",),
    faults=("answers-responses", "formerr-to-responses"),
    is_of_server=True,
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Send a response, and wait a little."""
    asker = dataclasses.replace(subject.asker, udp_waits_s=subject.asker.udp_waits_s[:2])
    exchange = asker.udp(soa_query(subject, qr=True))
    if exchange.response is not None or exchange.strays:
        return failed("The server answers a message that is a response.", exchange)
    silence = subject.silence()
    if silence:
        return inconclusive(f"The server does not answer queries either: {silence}.", exchange)
    return passed("Nothing comes back, while queries are answered.", exchange)

"""F-unknown-flags: flags that have no meaning yet."""

from dnsrig.items.resolver._probes import has_flag, plain_query, wrong_answer
from dnsrig.verification.item import Item
from dnsrig.verification.queries import USUAL_PAYLOAD, Z_BIT
from dnsrig.verification.subjects.resolver import ResolverSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

EDNS_FLAG = 0x0040
"""One of those that RFC 6891 section 6.1.4 reserves."""
ITEM = Item(
    id="F-unknown-flags",
    role="resolver",
    group="Robustness",
    requirement="Reserved flags of the header and of EDNS change no answer, and are not given back.",
    references=("RFC 8906 section 8.1.3.3", "RFC 8906 section 8.2.4", "RFC 6891 section 6.1.4"),
    severity=Severity.WARNING,
    consequence="New flags cannot be put to use, as AD, CD and DO once were: clients that try get no answer.",
    procedure=(
        "A name is asked for with the header's bit Z, and with an EDNS flag that has no meaning: the records come, "
        "and the flag does not."
    ),
    dig=(
        "dig @{server} -p {port} www.control.unsigned. A +noedns +zflag",
        "dig @{server} -p {port} www.control.unsigned. A +ednsflags=0x40",
    ),
    needs=("names",),
    faults=("drops-z", "formerr-to-z", "copies-z", "drops-edns-flags", "echoes-edns-flags"),
)


def check(subject: ResolverSubject) -> Outcome:
    """Ask with each flag."""
    with_z = subject.asker.ask(plain_query(subject, z=True))
    if wrong := wrong_answer(subject, with_z, "A query with Z"):
        return wrong
    if has_flag(with_z, Z_BIT):
        return failed("The response has the reserved bit Z.", with_z)
    if subject.control.message is None or subject.control.message.edns < 0:
        return not_applicable("The resolver has no EDNS (see F-do), whose flags are the rest of this.", with_z)
    exchange = subject.asker.ask(plain_query(subject, payload=USUAL_PAYLOAD, edns_flags=EDNS_FLAG))
    if wrong := wrong_answer(subject, exchange, f"A query with EDNS flag {EDNS_FLAG:#06x}"):
        return wrong
    if exchange.message is not None and exchange.message.edns >= 0 and exchange.message.ednsflags & EDNS_FLAG:
        return failed(f"The response has the reserved EDNS flag {EDNS_FLAG:#06x}.", exchange)
    return passed("Reserved flags change nothing.", with_z, exchange)

"""A-form: the form of messages."""

from dnsrig.items.authoritative._looked_at import check_responses
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity
from dnsrig.verification.wire import read_wire

ITEM = Item(
    id="A-form",
    role="authoritative",
    group="Header",
    requirement=(
        "A response ends with its last record, its names go on at places before them only, and it has one OPT record "
        "at most."
    ),
    references=("RFC 1035 section 4.1.4", "RFC 1035 section 4.1.1", "RFC 6891 section 6.1.1"),
    severity=Severity.ERROR,
    consequence="Strict clients and firewalls drop the response as malformed, or give FORMERR to those they ask for.",
    procedure=(
        "Answers, denials and referrals are asked for without EDNS, and with DO a sample of all names that are known;"
        " their octets are read."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns   # dig warns of extra bytes and of malformed messages",),
    needs=("zone",),
    faults=(
        "half-addresses",
        "trailing-octets",
        "forward-pointer",
        "two-opts",
        "compresses-signer",
    ),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Read them octet by octet."""

    def trouble(exchange: Exchange) -> str:
        said = read_wire(exchange.response or b"").trouble
        return said or (f"cannot be parsed: {exchange.malformed}" if exchange.malformed else "")

    return check_responses(subject, trouble, "The octets of {count} responses are as they should be.")

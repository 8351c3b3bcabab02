"""A-form: the form of messages."""

from dns.rdatatype import RdataType

from dnsrig.items.authoritative._looked_at import check_responses, of_usual_types
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity
from dnsrig.verification.wire import WireMessage, read_wire

LONGEST_TTL_S = 2**31 - 1
ITEM = Item(
    id="A-form",
    role="authoritative",
    group="Header",
    requirement=(
        "A response ends with its last record, its names go on at places before them only, its TTLs are below 2^31, "
        "and it has one OPT record at most."
    ),
    references=("RFC 1035 section 4.1.4", "RFC 1035 section 4.1.1", "RFC 2181 section 8", "RFC 6891 section 6.1.1"),
    severity=Severity.ERROR,
    consequence="Strict clients and firewalls drop the response as malformed, or give FORMERR to those they ask for.",
    procedure=(
        "Answers, denials and referrals are asked for without EDNS, and with DO a sample of all names that are known;"
        " the types in use are asked for at a host in both ways. The octets of what comes are read."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns   # dig warns of extra bytes and of malformed messages",),
    needs=("zone",),
    faults=(
        "half-addresses",
        "trailing-octets",
        "forward-pointer",
        "two-opts",
        "compresses-signer",
        "ttl-of-32-bits",
    ),
)


def _long_ttl(wire: WireMessage) -> str:
    """Say which record has a TTL of more than 31 bits; the TTL of OPT is none."""
    found = next((one for one in wire.records if one.ttl_s > LONGEST_TTL_S and one.rtype != RdataType.OPT), None)
    return "" if found is None else f"has {found.title} with the TTL {found.ttl_s}, which is not below 2^31"


def check(subject: AuthoritativeSubject) -> Outcome:
    """Read them octet by octet."""

    def trouble(exchange: Exchange) -> str:
        wire = read_wire(exchange.response or b"")
        said = wire.trouble or _long_ttl(wire)
        return said or (f"cannot be parsed: {exchange.malformed}" if exchange.malformed else "")

    held = "The octets of {count} responses are as they should be."
    return check_responses(subject, trouble, held, of_usual_types(subject))

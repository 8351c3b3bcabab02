"""What was sent to a server and what came back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import dns.exception
import dns.flags
import dns.message
import dns.rcode

from dnsrig.servers.interruption import raise_interruption
from dnsrig.verification import alias_mode  # noqa: F401 (has dnspython read such records)
from dnsrig.verification.queries import Query

Transport = Literal["udp", "tcp"]
HEADER_OCTETS = 12


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address and a port to ask."""

    address: str
    port: int = 53

    def __str__(self) -> str:
        return f"{self.address}#{self.port}"


@dataclass(frozen=True)
class Exchange:
    """A query with its response, or with why there was none.

    A server's silence is told from a lost message by asking several times; `tries` says how often.
    """

    server: Endpoint
    transport: Transport
    query: Query
    sent: bytes
    """The query's message, that of the try that was answered."""
    response: bytes | None
    """The first message with the query's ID and the QR bit set."""
    tries: int
    elapsed_ms: float
    """From sending the try that was answered to its response."""
    silence: str = ""
    """Why there is no response: timeout, refusal, a connection that was closed."""
    strays: tuple[bytes, ...] = ()
    """What came besides that is no response to the query."""
    message: dns.message.Message | None = field(init=False, compare=False)
    """The response, if it can be parsed."""
    malformed: str = field(init=False, compare=False)
    """Why it cannot."""

    def __post_init__(self) -> None:
        message, malformed = None, ""
        if self.response is not None:
            try:
                message = dns.message.from_wire(self.response, one_rr_per_rrset=False)
            except (dns.exception.DNSException, ValueError) as error:
                raise_interruption(error)
                malformed = f"{error or type(error).__name__}"
        object.__setattr__(self, "message", message)
        object.__setattr__(self, "malformed", malformed)

    @property
    def title(self) -> str:
        """The question and the transport in words."""
        words = " ".join(self.query.dig_words()[1::2])
        return f"{words} by {self.transport.upper()} from {self.server}"

    @property
    def asked(self) -> dns.message.Message:
        """What was sent, parsed, its TSIG unchecked."""
        return dns.message.from_wire(self.sent, keyring=False, continue_on_error=True)

    @property
    def octets(self) -> int:
        """Length of the response; 0 without."""
        return len(self.response or b"")

    @property
    def is_truncated(self) -> bool:
        """Whether the response has TC set, also where no more than its header can be parsed."""
        response = self.response or b""
        return len(response) >= HEADER_OCTETS and bool(response[2] & 0x02)

    @property
    def rcode(self) -> dns.rcode.Rcode | None:
        """The response code, with the bits of EDNS."""
        return None if self.message is None else self.message.rcode()

    def has_flag(self, flag: dns.flags.Flag) -> bool:
        """Say whether the response has a flag of the header."""
        return self.message is not None and bool(self.message.flags & flag)

    @property
    def timed_out(self) -> bool:
        """Whether nothing came, rather than a refusal or the end of the connection."""
        return self.response is None and self.silence.startswith("none in")

    @property
    def trouble(self) -> str:
        """Say, as a clause, why there is no message to look at; "" if there is one."""
        if self.response is None:
            return f"no response to {self.title}: {self.silence}"
        if self.malformed:
            return f"the response to {self.title} cannot be parsed: {self.malformed}"
        return ""


def first_trouble(exchanges: Sequence[Exchange]) -> str:
    """Say what is wrong with the first exchange that has no message to look at."""
    return next((exchange.trouble for exchange in exchanges if exchange.trouble), "")

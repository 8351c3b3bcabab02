"""Messages as dig shows them, with the dig command that asks the same."""

import shlex
from collections.abc import Iterable, Sequence

import dns.edns
import dns.flags
import dns.message
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from dnsrig.characters import plain
from dnsrig.verification.exchange import Endpoint, Exchange, Transport
from dnsrig.verification.queries import Z_BIT, Query

HEX_OCTETS = 512
"""Of a message that cannot be parsed so many octets are shown."""
FLAGS = (
    (dns.flags.QR, "qr"),
    (dns.flags.AA, "aa"),
    (dns.flags.TC, "tc"),
    (dns.flags.RD, "rd"),
    (dns.flags.RA, "ra"),
    (Z_BIT, "z"),
    (dns.flags.AD, "ad"),
    (dns.flags.CD, "cd"),
)


def dig_command(server: Endpoint, transport: Transport, query: Query) -> str:
    """Give the dig command that asks `server` the same."""
    port = [] if server.port == 53 else ["-p", str(server.port)]
    by = ["+tcp"] if transport == "tcp" else ["+notcp", "+ignore"]
    words = ["dig", f"@{server.address}", *port, *query.dig_words(), *by, *query.dig_options()]
    return shlex.join(words)


def transcript(exchange: Exchange, most: int | None = None) -> str:
    """Show an exchange: the dig command, and the response, `most` records of each section, or why there was none."""
    lines = [f"$ {dig_command(exchange.server, exchange.transport, exchange.query)}"]
    if exchange.response is None:
        times = "once" if exchange.tries == 1 else f"{exchange.tries} times"
        return "\n".join([*lines, f";; no response, asked {times}: {exchange.silence}"])
    if exchange.message is None:
        lines.append(f";; the response cannot be parsed: {exchange.malformed}")
        lines += _hexadecimal(exchange.response)
    else:
        lines += message_lines(exchange.message, most)
    lines.append(f";; {exchange.octets} octets in {exchange.elapsed_ms:.1f} ms, try {exchange.tries}")
    if exchange.strays:
        lines.append(f";; messages besides that are no response to it: {len(exchange.strays)}")
        lines += _hexadecimal(exchange.strays[0])
    return "\n".join(lines)


def message_lines(message: dns.message.Message, most: int | None = None) -> list[str]:
    """Show a message, with no more than `most` records of a section."""
    flags = " ".join(word for flag, word in FLAGS if message.flags & flag)
    counts = ", ".join(
        f"{name}: {sum(map(len, section)) if name != 'QUESTION' else len(section)}"
        for name, section in zip(("QUESTION", "ANSWER", "AUTHORITY", "ADDITIONAL"), message.sections, strict=True)
    )
    opcode, rcode = dns.opcode.to_text(message.opcode()), dns.rcode.to_text(message.rcode())
    lines = [f";; opcode: {opcode}, status: {rcode}, id: {message.id}", f";; flags: {flags}; {counts}"]
    if message.edns >= 0:
        lines += _edns_lines(message)
    for name, section in zip(("QUESTION", "ANSWER", "AUTHORITY", "ADDITIONAL"), message.sections, strict=True):
        if section:
            lines.append(f";; {name} SECTION:")
            found = list(_section_lines(section, is_question=name == "QUESTION"))
            lines += found[:most]
            if most is not None and len(found) > most:
                lines.append(f";; ... {len(found) - most} more")
    return lines


def _section_lines(section: Sequence[dns.rrset.RRset], *, is_question: bool) -> Iterable[str]:
    for rrset in section:
        rdclass = dns.rdataclass.to_text(rrset.rdclass)
        rtype = dns.rdatatype.to_text(rrset.rdtype)
        if is_question:
            yield f";{rrset.name} {rdclass} {rtype}"
        for rdata in rrset:
            yield f"{rrset.name} {rrset.ttl} {rdclass} {rtype} {rdata}"


def _edns_lines(message: dns.message.Message) -> Iterable[str]:
    flags = "do" if message.ednsflags & dns.flags.DO else ""
    others = message.ednsflags & 0x7FFF
    if others:
        flags = f"{flags} {others:#06x}".strip()
    yield f";; EDNS: version: {message.edns}, flags: {flags}; udp: {message.payload}"
    for option in message.options:
        yield f";; EDNS option {int(option.otype)}: {_option(option)}"


def _option(option: dns.edns.Option) -> str:
    return plain(str(option)) if not isinstance(option, dns.edns.GenericOption) else option.data.hex()


def _hexadecimal(octets: bytes) -> list[str]:
    shown = octets[:HEX_OCTETS]
    lines = [f"   {shown[at : at + 32].hex(' ', 2)}" for at in range(0, len(shown), 32)]
    return lines if len(octets) <= HEX_OCTETS else [*lines, f"   ... {len(octets) - HEX_OCTETS} more octets"]

"""Have a server read every record of a zone, by a zone transfer that is thrown away."""

import socket
import struct

import dns.message
import dns.rdatatype


def transfer_completes(address: str, port: int, origin: str, timeout_s: float) -> bool:
    """Ask for a zone transfer (AXFR, RFC 5936) and say whether the server sent it to its end.

    A SOA query follows in the same connection: its answer comes after the transfer, and spares reading what is
    transferred. False also when nothing comes for `timeout_s`.
    """
    transfer = dns.message.make_query(origin, dns.rdatatype.AXFR, flags=0)
    query = dns.message.make_query(origin, dns.rdatatype.SOA, flags=0)
    query.id = transfer.id ^ 1
    try:
        with socket.create_connection((address, port), timeout_s) as connection:
            for message in (transfer, query):
                connection.sendall(message.to_wire(prepend_length=True))
            with connection.makefile("rb") as stream:
                while True:
                    (length,) = struct.unpack("!H", stream.read(2))
                    (message_id,) = struct.unpack("!H", stream.read(length)[:2])
                    if message_id == query.id:
                        return True
    except (OSError, struct.error):
        return False

"""A server that verifies and signs with dnspython, and learns nothing from dnsrig.

Each line of standard input is "ALGORITHM QUERY", the query in hexadecimal; the key is key.example with the secret
"secret". Each line of standard output is "ANSWER CLIENT_COOKIE", both in hexadecimal, or "error NAME".
"""

import sys

import dns.edns
import dns.exception
import dns.message
import dns.name
import dns.rrset
import dns.tsig

NAME = dns.name.from_text("key.example")
SERVER_COOKIE = bytes(range(16))


def answer(algorithm: str, wire: bytes) -> str:
    """Verify a query and give the line to print: a signed answer with two records, and cookies if the query has one."""
    key = dns.tsig.Key(NAME, b"secret", algorithm)
    query = dns.message.from_wire(wire, keyring={NAME: key})
    if not query.had_tsig:
        return "error unsigned"
    response = dns.message.make_response(query)
    question = query.question[0]
    response.answer.append(dns.rrset.from_text(question.name, 60, "IN", "A", "192.0.2.1", "192.0.2.2"))
    client = b""
    for option in query.options:
        if isinstance(option, dns.edns.CookieOption):
            client = option.client
            response.use_edns(0, payload=1232, options=[dns.edns.CookieOption(client, SERVER_COOKIE)])
    return f"{response.to_wire().hex()} {client.hex()}"


for line in sys.stdin:
    name, query_hex = line.split()
    try:
        print(answer(name, bytes.fromhex(query_hex)), flush=True)
    except dns.exception.DNSException as error:
        print("error", type(error).__name__, flush=True)

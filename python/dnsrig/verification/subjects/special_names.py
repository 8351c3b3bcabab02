"""Names that are not asked for in the DNS: resolvers answer them themselves (RFC 6761 section 6)."""

import dns.name

SPECIAL_USES = {
    "localhost.": "RFC 6761 section 6.3",
    "invalid.": "RFC 6761 section 6.4",
    "onion.": "RFC 7686 section 2",
    "home.arpa.": "RFC 8375 section 4",
    "10.in-addr.arpa.": "RFC 6303 section 4.1",
    "168.192.in-addr.arpa.": "RFC 6303 section 4.1",
    "254.169.in-addr.arpa.": "RFC 6303 section 4.2",
    "127.in-addr.arpa.": "RFC 6303 section 4.2",
    "d.f.ip6.arpa.": "RFC 6303 section 4.4",
}
"""With the section that says so."""
SPECIAL_NAMES = tuple(dns.name.from_text(text) for text in SPECIAL_USES)

"""Check the signatures of every RRset in an answer (RFC 4035 section 5.3), with dnspython."""

import dns.dnssec
import dns.flags
import dns.message
import dns.name
import dns.query
import dns.rdatatype
import dns.rrset

APEX = dns.name.from_text("example.")
UNSIGNED = {dns.rdatatype.RRSIG, dns.rdatatype.OPT}


def ask(address: tuple[str, int], name: str, rdtype: str, *, dnssec: bool = True) -> dns.message.Message:
    """Ask over UDP, and over TCP when the answer is truncated."""
    query = dns.message.make_query(name, rdtype, want_dnssec=dnssec, use_edns=0, payload=1232, flags=0)
    answer, _ = dns.query.udp_with_fallback(query, address[0], 10, address[1])
    return answer


def keys_of(address: tuple[str, int]) -> dict[dns.name.Name, dns.rrset.RRset]:
    """Fetch the zone's DNSKEY RRset, which must be signed by itself."""
    answer = ask(address, "example.", "DNSKEY")
    keys = answer.get_rrset(answer.answer, APEX, 1, dns.rdatatype.DNSKEY)
    assert keys is not None, answer
    check_signatures(answer.answer, {APEX: keys})
    return {APEX: keys}


def check_signatures(section: list[dns.rrset.RRset], keys: dict[dns.name.Name, dns.rrset.RRset]) -> int:
    """Validate every RRset of the zone in a section; give their number.

    The NS records of a delegation and glue are not signed (RFC 4035 section 2.2), everything else must be.
    """
    checked = 0
    for rrset in section:
        if rrset.rdtype in UNSIGNED:
            continue
        if rrset.rdtype == dns.rdatatype.NS and rrset.name != APEX:
            continue
        signatures = next(
            (
                other
                for other in section
                if other.rdtype == dns.rdatatype.RRSIG and other.covers == rrset.rdtype and other.name == rrset.name
            ),
            None,
        )
        assert signatures is not None, f"{rrset.name} {dns.rdatatype.to_text(rrset.rdtype)} is not signed"
        dns.dnssec.validate(rrset, signatures, keys)
        checked += 1
    return checked

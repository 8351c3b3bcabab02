"""A relay before a server whose zone transfers are signed: both sides see signatures that are right."""

import base64

import dns.flags
import dns.message
import dns.name
import dns.rrset
from dnsrig.verification.faults.signed_transfers import SignedTransfer
from dnsrig.verification.transfer import Reader
from dnsrig.verification.tsig_keys import key_of_words
from signing_primary import SIGNED_EACH, messages_of

SECRET = base64.b64encode(b"nobody else knows it").decode()
KEY = key_of_words(f"k.example:{SECRET}")
ORIGIN = dns.name.from_text("example.")
SOA = dns.rrset.from_text(ORIGIN, 60, "IN", "SOA", "ns. hostmaster. 1 7200 900 1209600 300")
HOSTS = [dns.rrset.from_text(f"Host{number}.example.", 60, "IN", "A", "192.0.2.1") for number in range(10)]
QUERY = dns.message.make_query(ORIGIN, "AXFR", flags=0)


def test_what_is_changed_on_its_way_is_signed_again() -> None:
    reader = Reader(QUERY.to_wire(), KEY)
    signed = SignedTransfer.of(reader.sent, KEY)
    assert signed is not None
    assert signed.query == QUERY.to_wire()
    # A signature that does not verify is an error.
    asked = dns.message.from_wire(signed.to_server(signed.query), keyring=KEY)
    assert asked.had_tsig
    messages = list(messages_of(asked, KEY, [SOA, *HOSTS, SOA], 2))
    assert len(messages) > SIGNED_EACH
    owners = []
    for wire in messages:
        plain = signed.from_server(wire)
        assert not dns.message.from_wire(plain).had_tsig
        changed = plain[:2] + bytes([plain[2] | 0x04]) + plain[3:]
        message, wrong = reader.read(signed.to_client(changed))
        assert wrong == []
        assert message.flags & dns.flags.AA
        reader.check_signed(is_end=True)
        owners += [rrset.name.to_text() for rrset in message.answer]
    # Nothing else is another, not even the case of names.
    assert owners == [rrset.name.to_text() for rrset in (SOA, *HOSTS, SOA)]


def test_queries_of_others_are_left_alone() -> None:
    other = key_of_words(f"other.example:{SECRET}")
    assert SignedTransfer.of(QUERY.to_wire(), KEY) is None
    assert SignedTransfer.of(Reader(QUERY.to_wire(), other).sent, KEY) is None
    assert SignedTransfer.of(Reader(QUERY.to_wire(), KEY).sent, None) is None

"""A-key-size-advised: RSA keys that are short."""

import dns.dnssec

from dnsrig.items.authoritative._algorithms import RSA_ADVISED_BITS, RSA_ALGORITHMS, rsa_bits
from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, not_applicable, passed

ITEM = Item(
    id="A-key-size-advised",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="RSA keys have at least 2048 bits.",
    references=("NIST SP 800-57 Part 1 Rev. 5 section 5.6.1", "RFC 6781 section 3.4.2"),
    severity=Severity.NOTICE,
    consequence="Keys of 1024 bits and less can be broken with means that states have; some validators refuse them.",
    procedure="The DNSKEY RRset is asked for; RFC 6781, of 2012, still took 1024 bits to be enough for most zones.",
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec",),
    needs=("signed",),
    faults=("rsa-1024-keys",),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the sizes of RSA keys."""
    sizes = {
        dns.dnssec.key_id(key): rsa_bits(key.key) for key in zone_keys(subject) if int(key.algorithm) in RSA_ALGORITHMS
    }
    if not sizes:
        return not_applicable("The zone has no RSA keys.", subject.dnskey)
    tag, bits = min(sizes.items(), key=lambda pair: pair[1])
    if bits < RSA_ADVISED_BITS:
        return failed(f"Key {tag} has {bits} bits.", subject.dnskey)
    return passed(f"The shortest RSA key has {bits} bits.", subject.dnskey)

"""A-key-size: sizes that keys may have."""

import dns.dnssec
from dns.rdtypes.ANY.DNSKEY import DNSKEY

from dnsrig.items.authoritative._algorithms import KEY_OCTETS, RSA_ALGORITHMS, rsa_bits
from dnsrig.items.authoritative._answers import zone_keys
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, passed

ITEM = Item(
    id="A-key-size",
    role="authoritative",
    group="DNSSEC: keys",
    requirement="Every key has a size that its algorithm allows.",
    references=("RFC 5702 section 2", "RFC 3110 section 2", "RFC 6605 section 4", "RFC 8080 section 3"),
    severity=Severity.ERROR,
    consequence="Validators cannot use the key: what only it signs is bogus.",
    procedure=(
        "The DNSKEY RRset is asked for. RSA keys have 512 (RSASHA512: 1024) to 4096 bits, ECDSA's 64 octets (P-256) "
        "or 96 (P-384), EdDSA's 32 (Ed25519) or 57 (Ed448)."
    ),
    dig=("dig @{server} -p {port} {zone} DNSKEY +norec",),
    needs=("signed",),
    faults=("short-key",),
)


def size_trouble(key: DNSKEY) -> str:
    """Say what is wrong with a key's size; "" if nothing is."""
    algorithm = int(key.algorithm)
    if algorithm in RSA_ALGORITHMS:
        least, most = RSA_ALGORITHMS[algorithm]
        bits = rsa_bits(key.key)
        return "" if least <= bits <= most else f"{bits} bits, where algorithm {algorithm} has {least} to {most}"
    octets = KEY_OCTETS.get(algorithm, len(key.key))
    return "" if len(key.key) == octets else f"{len(key.key)} octets, where algorithm {algorithm} has {octets}"


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the keys' sizes."""
    keys = zone_keys(subject)
    for key in keys:
        trouble = size_trouble(key)
        if trouble:
            return failed(f"Key {dns.dnssec.key_id(key)} has {trouble}.", subject.dnskey)
    return passed(f"The sizes of {len(keys)} keys are right.", subject.dnskey)

"""What is said of algorithms and digest types by the RFCs that make IANA's registries, as of November 2025."""

FORBIDDEN_TO_SIGN = {
    1: "RSAMD5 (RFC 8624 section 3.1)",
    3: "DSA (RFC 8624 section 3.1)",
    5: "RSASHA1 (RFC 9905)",
    6: "DSA-NSEC3-SHA1 (RFC 8624 section 3.1)",
    7: "RSASHA1-NSEC3-SHA1 (RFC 9905)",
    12: "ECC-GOST (RFC 9906)",
}
"""MUST NOT be used to sign."""
NOT_RECOMMENDED_TO_SIGN = {10: "RSASHA512 (RFC 8624 section 3.1)"}
FORBIDDEN_DIGESTS = {
    0: "the null digest (RFC 8624 section 3.3)",
    1: "SHA-1 (RFC 9905)",
    3: "GOST R 34.11-94 (RFC 9906)",
}
"""MUST NOT be used for delegation."""
RSA_ALGORITHMS = {1: (512, 4096), 5: (512, 4096), 7: (512, 4096), 8: (512, 4096), 10: (1024, 4096)}
"""Bits of the modulus: RFC 3110 section 2, RFC 5702 section 2."""
KEY_OCTETS = {13: 64, 14: 96, 15: 32, 16: 57}
"""Of ECDSA (RFC 6605 section 4) and EdDSA (RFC 8080 section 3)."""
RSA_ADVISED_BITS = 2048


def rsa_bits(key: bytes) -> int:
    """Count the bits of an RSA key's modulus (RFC 3110 section 2); 0 if the octets are no such key."""
    if not key:
        return 0
    skip, exponent = (1, key[0]) if key[0] else (3, int.from_bytes(key[1:3]))
    return int.from_bytes(key[skip + exponent :]).bit_length()

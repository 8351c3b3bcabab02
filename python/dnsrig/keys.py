"""New keys for a zone, with the sizes that JPRS-2010 used where none are chosen."""

from dnsrig import _core

KSK_BITS = 2048
ZSK_BITS = 1024


def add_new_keys(keys: _core.KeySet, origin: str, algorithm: str, ksk_bits: int | None, zsk_bits: int | None) -> None:
    """Make a key-signing and a zone-signing key for `origin` and add them to `keys`.

    RSA keys have KSK_BITS and ZSK_BITS unless chosen otherwise; the other algorithms have one size, and raise
    InputError for any other.
    """
    is_rsa = algorithm.startswith("RSA")
    keys.generate(origin, algorithm, ksk_bits or (KSK_BITS if is_rsa else None), "ksk")
    keys.generate(origin, algorithm, zsk_bits or (ZSK_BITS if is_rsa else None), "zsk")

"""New keys for a zone, with the sizes that JPRS-2010 used where none are chosen."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from dnsrig import _core

KSK_BITS = 2048
ZSK_BITS = 1024
ALGORITHM = "ECDSAP256SHA256"
"""The algorithm of a single new key unless chosen otherwise (RFC 8624 section 3.1)."""


def add_new_keys(keys: _core.KeySet, origin: str, algorithm: str, ksk_bits: int | None, zsk_bits: int | None) -> None:
    """Make a key-signing and a zone-signing key for `origin` and add them to `keys`.

    RSA keys have KSK_BITS and ZSK_BITS unless chosen otherwise; the other algorithms have one size, and raise
    InputError for any other.
    """
    is_rsa = algorithm.startswith("RSA")
    keys.generate(origin, algorithm, ksk_bits or (KSK_BITS if is_rsa else None), "ksk")
    keys.generate(origin, algorithm, zsk_bits or (ZSK_BITS if is_rsa else None), "zsk")


def new_key(
    keys: _core.KeySet,
    origin: str,
    *,
    algorithm: str | None,
    bits: int | None,
    role: Literal["ksk", "zsk"],
    folder: Path,
    timing: Mapping[str, int | None],
    ttl_s: int | None,
    pkcs11: str | None,
    existing: bool,
    allow_sha1: bool = False,
) -> None:
    """Make one key for `origin`, with a tag that no key of the zone in `folder` has, and add it to `keys`.

    With `pkcs11` the key is made in a token, or is the one that the token has already (`existing`). Algorithms with
    SHA-1 raise InputError unless `allow_sha1`.
    """
    times = dict(timing)
    if existing and pkcs11 is not None:
        keys.read_token(
            origin,
            pkcs11,
            role,
            algorithm=algorithm,
            folder=folder,
            timing=times,
            ttl_s=ttl_s,
            allow_sha1=allow_sha1,
        )
        return
    keys.generate(
        origin,
        algorithm or ALGORITHM,
        bits,
        role,
        folder=folder,
        timing=times,
        ttl_s=ttl_s,
        pkcs11=pkcs11,
        allow_sha1=allow_sha1,
    )

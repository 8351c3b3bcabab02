"""New keys for a zone."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from dnsrig import _core
from dnsrig.errors import InputError

KSK_BITS = 2048
ZSK_BITS = 2048
"""Of new RSA keys unless chosen otherwise: the least that NIST SP 800-57 part 1 still takes to be enough."""
ALGORITHMS = ("RSASHA256", "RSASHA512", "ECDSAP256SHA256", "ECDSAP384SHA384", "ED25519")
"""What zones are signed with."""
ALGORITHM = "ECDSAP256SHA256"
"""The algorithm of new keys unless chosen otherwise (RFC 8624 section 3.1)."""
RSA_NUMBERS = {"5", "7", "8", "10"}
"""The numbers of RSA's algorithms, by which users may name them."""


def add_new_keys(
    keys: _core.KeySet,
    origin: str,
    algorithm: str | None,
    ksk_bits: int | None,
    zsk_bits: int | None,
    *,
    folder: Path | None = None,
    allow_sha1: bool = False,
) -> None:
    """Make a key-signing and a zone-signing key for `origin` and add them to `keys`.

    Their tags are none that a key of the zone in `folder` has. RSA keys have KSK_BITS and ZSK_BITS unless chosen
    otherwise; the other algorithms have one size, and raise InputError for any other.
    """
    name = ALGORITHM if algorithm is None else algorithm
    is_rsa = "RSA" in name.upper() or name in RSA_NUMBERS
    ksk_bits = ksk_bits or (KSK_BITS if is_rsa else None)
    zsk_bits = zsk_bits or (ZSK_BITS if is_rsa else None)
    keys.generate(origin, name, ksk_bits, "ksk", folder=folder, allow_sha1=allow_sha1)
    keys.generate(origin, name, zsk_bits, "zsk", folder=folder, allow_sha1=allow_sha1)
    if folder is not None:
        check_file_names(keys, folder)


def check_file_names(keys: _core.KeySet, folder: Path) -> None:
    """Raise InputError where the files of `keys` cannot have their names in `folder`, since the zone's is too long."""
    longest = os.pathconf(folder, "PC_NAME_MAX")
    for name in keys.file_names:
        octets = len(f"{name}.private".encode())
        if octets > longest:
            raise InputError(
                f"{name}: the names of its key files would have {octets} octets, and {folder} takes at most {longest}; "
                "the name of the zone is too long for BIND's key files"
            )


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
        ALGORITHM if algorithm is None else algorithm,
        bits,
        role,
        folder=folder,
        timing=times,
        ttl_s=ttl_s,
        pkcs11=pkcs11,
        allow_sha1=allow_sha1,
    )

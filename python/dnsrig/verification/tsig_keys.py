"""TSIG keys (RFC 8945) as users give them: in one word as dig -y, or in a file as dig -k."""

import base64
import binascii
import re
from pathlib import Path

import dns.exception
import dns.name
import dns.tsig

from dnsrig.errors import InputError
from dnsrig.given_files import read_given_text
from dnsrig.servers.settings import ServerSettings

ALGORITHMS = {
    "hmac-md5": dns.tsig.HMAC_MD5,
    "hmac-sha1": dns.tsig.HMAC_SHA1,
    "hmac-sha224": dns.tsig.HMAC_SHA224,
    "hmac-sha256": dns.tsig.HMAC_SHA256,
    "hmac-sha384": dns.tsig.HMAC_SHA384,
    "hmac-sha512": dns.tsig.HMAC_SHA512,
}
"""By the mnemonics of RFC 8945 section 6, without the suffix that HMAC-MD5 has."""
USUAL = "hmac-sha256"
LEAST_SECRET_OCTETS = 16
"""Those of HMAC-MD5's output; a secret is to have as many as its algorithm's (RFC 8945 section 8)."""
BASE64_SIGNS = frozenset("+/=")
"""What Base64 has and keys' names have not."""
COMMENT = re.compile(r'("[^"]*")|//[^\n]*|#[^\n]*|/\*.*?\*/', re.DOTALL)
"""A comment, or a string, in which there is none: Base64 may have two slashes."""
CLAUSE = re.compile(r'\bkey\s+(?:"(?P<quoted>[^"]+)"|(?P<name>[^\s";{]+))\s*\{(?P<inside>[^}]*)\}')
ALGORITHM = re.compile(r'\balgorithm\s+"?(?P<text>[A-Za-z0-9.-]+)"?\s*;')
SECRET = re.compile(r'\bsecret\s+"?(?P<text>[^";\s]+)"?\s*;')
WANTED = "give a key as tsig-keygen writes it: key NAME { algorithm hmac-sha256; secret BASE64; };"


def key_of_words(text: str) -> dns.tsig.Key:
    """Read [ALG:]NAME:SECRET, as dig -y takes it.

    Raises:
        InputError: it is none; what is said has no secret in it.

    """
    parts = text.split(":")
    if len(parts) not in {2, 3}:
        raise InputError("--tsig: it is not [ALG:]NAME:SECRET, such as hmac-sha256:transfer.example:BASE64")
    algorithm, name, secret = parts if len(parts) == 3 else (USUAL, *parts)
    if _is_swapped(name, secret):
        what = "what stands for NAME looks like a secret; nothing was sent. The order is [ALG:]NAME:SECRET"
        raise InputError(f"--tsig: {what}; a name that is right may have a dot at its end")
    # Any of the words may be the secret, where they are given in another order: none is shown.
    return _key(name, secret, algorithm, "--tsig", shown=False)


def key_of_file(path: Path) -> dns.tsig.Key:
    """Read a key from a file as named.conf has it, the first where it has several.

    Raises:
        InputError: it cannot be read, or has none.

    """
    text = COMMENT.sub(r"\1", read_given_text("--tsig-file", path, WANTED))
    clause = CLAUSE.search(text)
    secret = None if clause is None else SECRET.search(clause["inside"])
    if clause is None or secret is None:
        raise InputError(f"--tsig-file {path}: no key is in it; {WANTED}")
    algorithm = ALGORITHM.search(clause["inside"])
    of = USUAL if algorithm is None else algorithm["text"]
    return _key(clause["quoted"] or clause["name"], secret["text"], of, f"--tsig-file {path}")


def key_of_settings(settings: ServerSettings) -> dns.tsig.Key | None:
    """Give the key by which a server of the rig transfers its zones; None where it has none."""
    key = settings.transfer_key
    return None if key is None else dns.tsig.Key(key.name, key.secret, ALGORITHMS[key.algorithm])


def _is_swapped(name: str, secret: str) -> bool:
    """Say whether the name is likely the secret, which would be sent for all to read."""
    try:
        octets = base64.b64decode(name, validate=True)
        real = base64.b64decode(secret, validate=True)
    except (binascii.Error, ValueError):
        # What is no Base64 is no secret; a secret that is none is refused for that.
        return False
    has_signs = not BASE64_SIGNS.isdisjoint(name)
    return has_signs or (len(octets) >= LEAST_SECRET_OCTETS and len(real) < LEAST_SECRET_OCTETS)


def _key(name: str, secret: str, algorithm: str, given: str, *, shown: bool = True) -> dns.tsig.Key:
    """Make a key; errors say nothing of the secret, and of name and algorithm only if these are to be `shown`."""
    known = ALGORITHMS.get(algorithm.lower().rstrip(".").removesuffix(".sig-alg.reg.int"))
    if known is None:
        what = f"'{algorithm}'" if shown else "ALG of [ALG:]NAME:SECRET"
        raise InputError(f"{given}: {what} is no algorithm of TSIG; those are {', '.join(ALGORITHMS)}")
    try:
        owner = dns.name.from_text(name)
    except dns.exception.DNSException as error:
        what = f"'{name}' is no domain name: {error}" if shown else "NAME of [ALG:]NAME:SECRET is no domain name"
        raise InputError(f"{given}: {what}") from error
    try:
        octets = base64.b64decode(secret, validate=True)
    except (binascii.Error, ValueError):
        octets = b""
    if not octets:
        what = f"the secret of {owner}" if shown else "SECRET of [ALG:]NAME:SECRET"
        raise InputError(f"{given}: {what} is not in Base64")
    return dns.tsig.Key(owner, octets, known)

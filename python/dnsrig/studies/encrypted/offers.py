"""What a server can be measured by, and what of the study it lacks."""

from dnsrig.servers.registry import driver
from dnsrig.servers.transports import EncryptedTransport
from dnsrig.studies.encrypted.settings import NEEDS_DOT, PARTS, EncryptedSettings


def wanted_transports(name: str, settings: EncryptedSettings) -> frozenset[EncryptedTransport]:
    """Give the encrypted transports of the study that the installed server has."""
    kind = driver(name)
    installation = kind.find()
    offered = frozenset[EncryptedTransport]() if installation is None else kind.encrypted_transports(installation)
    return frozenset(transport for transport in offered if transport in settings.transports)


def lacking(name: str, settings: EncryptedSettings) -> list[tuple[dict[str, str], str]]:
    """List what of the study cannot be measured on a server: the transport or part, and the reason."""
    kind = driver(name)
    installation = kind.find()
    reasons = {} if installation is None else kind.lacking(installation)
    found: list[tuple[dict[str, str], str]] = [
        ({"transport": transport}, reason) for transport, reason in reasons.items() if transport in settings.transports
    ]
    if "dot" not in wanted_transports(name, settings):
        why = "which this server lacks" if "dot" in settings.transports else "which --transport leaves out"
        found += [
            ({"part": part}, f"the part {part} needs DoT, {why}")
            for part in PARTS
            if part in settings.parts and part in NEEDS_DOT
        ]
    return found

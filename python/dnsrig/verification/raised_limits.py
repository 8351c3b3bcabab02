"""Items about size a second time, with the limit of octets by UDP that servers had before 2020 (JPRS-2010)."""

from collections.abc import Iterable, Mapping, Sequence

from dnsrig.verification.item import KnownItem, Role

RAISED_UDP_LIMIT = 4096
"""What servers allowed by UDP before 2020, and JPRS-2010 asks for."""
SIZE_ITEMS: Mapping[Role, Sequence[str]] = {
    "authoritative": ("A-85", "A-86", "A-87"),
    "resolver": ("F-85", "F-86", "F-87"),
    "proxy": ("P-2", "P-3", "P-large"),
    "path": (),
}


def about_size(role: Role, items: Iterable[KnownItem]) -> Sequence[KnownItem]:
    """Give those items that are about the size of responses by UDP."""
    return [known for known in items if known.item.id in SIZE_ITEMS[role]]

"""The commands by which a person sees what an item sees: their placeholders, and where their remarks begin."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from dnsrig.verification.item import Role

PLACEHOLDERS: Mapping[str, str] = MappingProxyType(
    {
        "server": "the address that is verified",
        "port": "its port, usually 53",
        "resolver": "the address of a resolver",
        "outer": "the proxy's address on its outer side",
        "nowhere": "an address beyond the path at which nothing answers DNS",
        "zone": "the zone's name",
        "host": "a name of the zone that is no alias, such as its mail server's",
        "type": "a type that the name has, such as A",
        "large": "a name with a type whose records are many or long, such as example.com TXT",
        "alias": "a name with a CNAME record",
        "dname": "a name with a DNAME record",
        "delegation": "a name that is delegated from the zone, without DS records unless the command asks for them",
        "secure_delegation": "a name that is delegated from the zone, with DS records",
        "glue": "a name at or below a delegation that has an address",
        "empty": "an empty non-terminal: a name without records, with names below it that have some",
        "wildcard": "a name of the zone that begins with *, in quotes",
        "wildcard_parent": "the same without the *",
        "target": "a name that such a record leads to",
        "label_63": "a label of 63 letters",
        "secret": "any key of 32 octets in base64, such as `openssl rand -base64 32` prints",
    }
)
"""What stands in braces in `Item.dig`, and what a person puts there."""
IN_BRACES = re.compile(r"\{(\w+)\}")
REMARK = "   # "
"""What follows it is told to the reader. A line that begins with # is no command."""


TREE = "Names of the rig's tree, from which the resolver is to resolve, are served by `dnsrig verify serve-tree`."
UPSTREAM = "Names below rig.example and unsigned.example are served by `dnsrig verify serve-upstream`"
SERVED_BY: Mapping[Role, str] = MappingProxyType(
    {
        "resolver": TREE,
        "proxy": f"{UPSTREAM}, to which the proxy is to forward.",
        "path": f"{UPSTREAM}, beyond the path.",
    }
)
"""Where the names are answered that a role's commands ask for, unless they are the user's."""
NAME = re.compile(r" [\w*]\S*\.(example\b|\s)", re.IGNORECASE)
"""A name in a command that is neither in braces nor the root."""


def served_by(role: Role, commands: Iterable[str]) -> str:
    """Say where names in some commands are answered; "" where there are none that are the rig's."""
    return SERVED_BY.get(role, "") if any(NAME.search(command.split(REMARK)[0] + " ") for command in commands) else ""


def explained(commands: Iterable[str]) -> list[tuple[str, str]]:
    """Give the placeholders of some commands with what they mean, in the order of PLACEHOLDERS."""
    used = {name for command in commands for name in IN_BRACES.findall(command)}
    return [(name, meaning) for name, meaning in PLACEHOLDERS.items() if name in used]

"""Servers with a raised limit of octets by UDP give responses that are truncated as they ship."""

from pathlib import Path

import dns.name
import pytest
from dns.rdatatype import RdataType
from dnsrig.errors import InputError
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver, drivers
from dnsrig.servers.resolvers.settings import ResolverSettings
from dnsrig.verification.asker import Asker
from dnsrig.verification.exchange import Endpoint, Exchange
from dnsrig.verification.queries import Query

RAISED = 4096
STRING = "x" * 250
ZONE = f"""$ORIGIN limits.test.
$TTL 300
@ IN SOA ns hostmaster 1 3600 600 86400 300
@ IN NS ns
ns IN A 192.0.2.1
large IN TXT {" ".join(f'"{STRING}"' for _ in range(8))}
"""


def response(name: str, folder: Path, udp_limit: int | None) -> Exchange:
    kind = driver(name)
    path = folder / "limits.db"
    path.write_text(ZONE)
    settings = ServerSettings(udp_limit=udp_limit)
    with kind([ServedZone("limits.test.", path)], settings, folder / "server") as server:
        query = Query(name=dns.name.from_text("large.limits.test."), rtype=RdataType.TXT, payload=RAISED)
        return Asker(Endpoint(*server.address)).udp(query)


@pytest.mark.parametrize("name", [name for name, kind in drivers().items() if kind.can_limit_udp])
def test_raised_limits_let_large_responses_through(name: str, tmp_path: Path) -> None:
    kind = driver(name)
    if kind.find() is None:
        pytest.skip(f"needs {kind.title}: install the Debian package {kind.package}")
    exchange = response(name, tmp_path, RAISED)
    assert not exchange.is_truncated
    assert exchange.octets > 2000


@pytest.mark.parametrize("octets", [511, 4097])
def test_limits_that_not_all_servers_take_are_refused(octets: int) -> None:
    for kind in (ServerSettings, ResolverSettings):
        with pytest.raises(InputError, match="not between 512 and 4096"):
            kind(udp_limit=octets)

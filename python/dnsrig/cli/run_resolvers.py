"""Options of `dnsrig run` that the studies of resolvers have."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dnsrig.cli.common import EXISTING_FILE, FiniteRange, WholeNumber, comma_list, whole_numbers
from dnsrig.cli.internet_options import DOMAINS_MAX
from dnsrig.servers.settings import UDP_LIMITS

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--profile", help="Simulated Internet of resolvers: a name, or a file ending in .toml [internet-2022]."
    ),
    click.option("--domains", type=WholeNumber(1, DOMAINS_MAX), help="Its second-level domains [by the profile]."),
    click.option(
        "--distances/--no-distances",
        default=None,
        help="Its servers are as far away as the profile says, or answer at once.",
    ),
    click.option(
        "--internet-memory",
        "internet_memory_mib",
        type=WholeNumber(16, 1 << 20),
        help="MiB that its zones, signatures and answers may take [half of what is free].",
    ),
    click.option("--cache-mib", type=WholeNumber(2, 1 << 20), help="Cache of resolvers, in MiB [as they ship]."),
    click.option(
        "--memory-limit-mib",
        type=WholeNumber(8, 1 << 20),
        help="Memory of their own that resolvers may have at most, in MiB [no limit].",
    ),
    click.option("--prefetch", is_flag=True, default=None, help="Resolvers ask again before popular records expire."),
    click.option(
        "--udp-size",
        type=WholeNumber(*UDP_LIMITS),
        help="Octets of answers by UDP that resolvers offer servers, which send up to 4096 then [4096 in "
        "resolver-matrix, or else as resolvers ship and the profile says].",
    ),
    click.option(
        "--serve-stale", is_flag=True, default=None, help="Resolvers answer with expired records if no server answers."
    ),
    click.option(
        "--rate",
        "rates",
        multiple=True,
        callback=whole_numbers(1, 1_000_000, "1000,9000"),
        help="Queries per second; in validation-cost a list [by a trial: what this machine carries, 9000 or the "
        "capture's own rate at most, and a third of it].",
    ),
    click.option(
        "--hit-share",
        "hit_shares",
        multiple=True,
        callback=whole_numbers(0, 100, "0,50,90,100"),
        help="In resolver-cost, per cent of cache hits [0,50,90,100].",
    ),
    click.option(
        "--fresh-names",
        type=WholeNumber(1, 10_000_000),
        help="In resolver-cost, questions asked once each: a load ends with them [as many as a trial says].",
    ),
    click.option(
        "--steady-seconds",
        "steady_s",
        type=FiniteRange(0.1, 86_400),
        help="In resolver-cost, how long memory is looked at [30].",
    ),
    click.option(
        "--flood", "floods", multiple=True, callback=comma_list, help="In resolver-cost, of nsec,nsec3 [both]."
    ),
    click.option(
        "--warm-up",
        "methods",
        multiple=True,
        callback=comma_list,
        help="In cold-start, of none,flush,sample,list [all].",
    ),
    click.option("--warm-up-queries", type=WholeNumber(1, 1_000_000), help="In cold-start, of each warm-up [20000]."),
    click.option(
        "--condition",
        "conditions",
        multiple=True,
        callback=comma_list,
        help="In resolver-matrix, of ethernet,mtu-1280,no-fragments,tcp-only,balanced [all].",
    ),
    click.option("--capture", type=EXISTING_FILE, help="In validation-cost, clients' queries of your own (pcap)."),
    click.option(
        "--capture-port",
        "capture_ports",
        multiple=True,
        callback=whole_numbers(1, 65_535, "53,5300"),
        help="In validation-cost, ports that the capture's queries went to [53]. Repeatable.",
    ),
    click.option(
        "--periods", type=WholeNumber(1, 1000), help="In validation-cost, from the cold cache to the hot one [3]."
    ),
    click.option(
        "--shared-sockets",
        is_flag=True,
        default=None,
        help="In validation-cost, clients share sockets where more ask than sockets may be open; over UDP only.",
    ),
    click.option(
        "--signed",
        multiple=True,
        callback=comma_list,
        help="In validation-cost, who signs, of profile,unsigned,2010,all [profile].",
    ),
)


def resolver_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

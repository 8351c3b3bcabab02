"""The options of `dnsrig load`: dnsperf's where it has them, by section."""

from collections.abc import Callable

import click

from dnsrig.cli.common import (
    CLIENTS,
    COUNT,
    OUTSTANDING,
    RATE,
    SECONDS,
    Command,
    FiniteRange,
    WholeNumber,
    whole_numbers,
)
from dnsrig.cli.load.values import client_subnet, edns_options
from dnsrig.cli.sections import section
from dnsrig.loads import TRANSPORTS

target = section("Where to")
queries = section("What is sent")
messages = section("What each query message has")
schedule = section("When it is sent")
stop = section("When it ends")
sessions = section("Sessions (TCP, DoT, DoH, DoQ)")
tls = section("TLS, QUIC and HTTPS")
search = section("Search for the breaking point")
generator = section("The generator")
output = section("Output")

PORT = WholeNumber(1, 65_535)
TIMEOUT_S = FiniteRange(min=0.001, max=600)
GENERATED = WholeNumber(1, 100_000_000)
"""Queries that can be generated: they are kept in memory, 50 octets or so each."""

OPTIONS: tuple[Callable[[Command], Command], ...] = (
    target("-s", "--server", default="127.0.0.1", show_default=True, help="Address of the server."),
    target("-p", "--port", type=PORT, help="Its port [the transport's own: 53, 853 or 443]."),
    target("-m", "--mode", type=click.Choice(TRANSPORTS), default="udp", show_default=True, help="Transport."),
    target(
        "--mix",
        metavar="T[:PORT]=SHARE,...",
        help="Several transports by their shares of the queries, such as udp:5300=0.8,dot:8853=0.2; instead of -m.",
    ),
    target(
        "-a",
        "--source",
        "sources",
        multiple=True,
        metavar="PREFIX",
        help="Local addresses to send from, in turn: an address, or a prefix such as 127.1.0.0/24. Repeatable.",
    ),
    target("-c", "--clients", type=CLIENTS, help="Sockets (UDP) or sessions at once, each a client [one a thread]."),
    target(
        "--tcp-fallback", is_flag=True, help="Send queries again over TCP whose answer over UDP is truncated (TC=1)."
    ),
    target("--i-may-load-this", "any_target", is_flag=True, help="Permit an address that is not this machine's own."),
    queries(
        "-d",
        "--data",
        type=click.Path(),
        help="Query file: lines such as 'www.example.test A', options of their own after that; '-' or none: stdin.",
    ),
    queries("-u", "--updates", is_flag=True, help="The query file holds dynamic updates in dnsperf's format."),
    queries("-B", "--binary", is_flag=True, help="The query file holds messages, each after its length (2 octets)."),
    queries(
        "--replay",
        type=click.Path(),
        metavar="CAPTURE",
        help="Send a capture's queries (pcap, pcapng; also gzip, zstd, xz) at their times, or those of a query file "
        "whose lines have times (.txt), each client from a socket or session of its own.",
    ),
    queries(
        "--capture-port",
        "capture_ports",
        multiple=True,
        callback=whole_numbers(1, 65_535, "53,5300"),
        default=("53",),
        show_default=True,
        help="Ports that the capture's queries went to. Repeatable.",
    ),
    queries(
        "--client-by-port", is_flag=True, help="Each address and port of the capture is a client, not each address."
    ),
    queries(
        "--generate",
        "patterns",
        multiple=True,
        metavar="PATTERN",
        help="Make names from a pattern such as {az:4}.com or n{n}.example. Repeatable.",
    ),
    queries("--types", default="A", show_default=True, help="Types of generated queries, such as A=70,AAAA=30."),
    queries("--count", type=GENERATED, default=100_000, show_default=True, help="Number of generated queries."),
    queries("--skip-bad", is_flag=True, help="Leave out bad lines of the query file instead of stopping at them."),
    messages("-e", "--edns", is_flag=True, help="Add EDNS."),
    messages("-D", "--dnssec", is_flag=True, help="Set the DO bit (implies -e)."),
    messages("--edns-size", type=WholeNumber(512, 65_535), default=4096, show_default=True, help="UDP size in EDNS."),
    messages("--cd", is_flag=True, help="Set CD."),
    messages("--ad", is_flag=True, help="Set AD."),
    messages("--no-rd", is_flag=True, help="Clear RD."),
    messages("--nsid", is_flag=True, help="Ask for NSID (RFC 5001)."),
    messages("--ecs", metavar="PREFIX", callback=client_subnet, help="Client subnet (RFC 7871)."),
    messages(
        "-E",
        "--option",
        "edns_options",
        multiple=True,
        metavar="CODE:HEX",
        callback=edns_options,
        help="An EDNS option. Repeatable.",
    ),
    messages("--padding", type=WholeNumber(1, 4096), metavar="BLOCK", help="Pad to a multiple of so many octets."),
    messages("--cookies", is_flag=True, help="Send cookies, and learn the server's (RFC 7873); implies -e."),
    messages("--0x20", "randomise_case", is_flag=True, help="Random letter case; answers with other case are counted."),
    messages("-y", "--tsig", metavar="[ALG:]NAME:SECRET", help="Sign queries (TSIG) and verify answers."),
    schedule("-q", "--outstanding", type=OUTSTANDING, help="Closed loop: queries outstanding [100]."),
    schedule(
        "-Q",
        "--rate",
        "rate_qps",
        type=RATE,
        help="Fixed rate in queries a second, sent on time whatever the answers; with -q: a cap on the closed loop.",
    ),
    schedule("--poisson", is_flag=True, help="With -Q: at random times with that mean rate."),
    schedule("--ramp", metavar="FROM:TO:SECONDS", help="A rate that changes evenly, then stays."),
    schedule("--steps", metavar="RATE:SECONDS,...", help="One rate after the other; the last one stays."),
    schedule("--speed", type=FiniteRange(0.001, 1000), help="With --replay: so many times as fast [1]."),
    stop("-l", "--limit", "limit_s", type=SECONDS, help="Seconds to run."),
    stop("-n", "--runs", "passes", type=COUNT, help="Passes over the queries [1, unless -l or --queries is given]."),
    stop("--queries", type=COUNT, help="Number of queries to send."),
    stop("-t", "--timeout", "timeout_s", type=TIMEOUT_S, help="Seconds an answer is waited for [5; with --search 1]."),
    sessions("--queries-per-session", type=COUNT, metavar="N", help="Close a session after N queries, open the next."),
    sessions("--idle", "idle_s", type=SECONDS, help="Close a session so many seconds after its last query."),
    sessions("--no-resumption", is_flag=True, help="A full TLS handshake for every session."),
    sessions(
        "--sessions-only",
        is_flag=True,
        help="Open sessions instead of sending queries: -q at once, or -Q a second. Each of the -c clients closes its "
        "session before it opens the next.",
    ),
    sessions(
        "--hold-sessions",
        is_flag=True,
        help="--sessions-only, and they stay open: -c of them; one that the server closes is opened again.",
    ),
    tls("--tls", "tls_versions", type=click.Choice(["any", "1.2", "1.3"]), default="any", help="Versions [any]."),
    tls(
        "--cipher", "cipher_suites", multiple=True, metavar="SUITE", help="A cipher suite, by IANA's name. Repeatable."
    ),
    tls("--ca", "roots", type=click.Path(), metavar="FILE", help="Verify the certificate against those of a PEM file."),
    tls("--sni", "server_name", metavar="NAME", help="Server name to send and to verify."),
    tls("--http-path", default="/dns-query", show_default=True, help="Path of DoH."),
    tls("--http-get", is_flag=True, help="DoH by GET instead of POST."),
    search(
        "--search", "searching", is_flag=True, help="Find the highest rate with little loss; instead of a schedule."
    ),
    search("--loss", type=FiniteRange(0, 50), default=0.1, show_default=True, help="Loss that is permitted, in %."),
    search("--p99", "p99_ms", type=FiniteRange(0, 60_000, min_open=True), help="99th percentile permitted, in ms."),
    search("--from", "min_qps", type=RATE, default=1_000.0, show_default=True, help="Lowest rate."),
    search("--to", "max_qps", type=RATE, default=2_000_000.0, show_default=True, help="Highest rate."),
    generator("-T", "--threads", type=WholeNumber(1, 1024), help="Generator threads [one, or one a processor]."),
    generator("--cpus", help="Processors for the generator's threads, such as 1 or 2,3."),
    output("--jsonl", type=click.Path(), help="Write each second as JSON Lines in DNS-OARC's dns-metrics form."),
    output("--csv", type=click.Path(), help="Write each second as CSV."),
    output("--parquet", type=click.Path(), help="Write each second as Parquet."),
)


def load_options(command: Command) -> Command:
    """Add all of them."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command

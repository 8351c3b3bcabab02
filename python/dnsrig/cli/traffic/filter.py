"""`dnsrig traffic filter`: the messages for which an expression holds."""

from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import UTF8, json_option
from dnsrig.cli.format import count
from dnsrig.cli.traffic.captures import FILES, OUTPUT, claim_outputs, print_result
from dnsrig.cli.traffic.reading import CaptureReading, reading_options, work
from dnsrig.cli.zone_reading import file_name


@click.command("filter")
@click.argument("expression", type=UTF8)
@FILES
@OUTPUT
@reading_options
@json_option
def filter(
    expression: str, files: tuple[Path, ...], output: Path, ports: tuple[int, ...], threads: int | None, as_json: bool
) -> None:
    """Write those DNS messages of the captures FILE... to a pcap file for which EXPRESSION holds.

    \b
    zone NAME,...       the name asked is one of these, or below it
    name NAME,...       the name asked is one of these
    type, class, rcode, opcode, transport VALUE,...
    client, server ADDRESS[/LENGTH],...
    after, before TIME  2026-11-22T18:05:00Z (UTC), or seconds since 1970
    query answer aa tc rd ra ad cd edns do udp tcp

    Terms are joined by and, or, not and parentheses. UDP datagrams are written as they were captured; those that came
    in fragments, in one packet. If terms other than client, server and transport occur, messages are taken out of
    their TCP connections and written in new ones; else TCP segments are as they were, too. A capture without a DNS
    message is an error; one in which EXPRESSION holds for none gives a capture without a packet.

    \b
    Examples:
      dnsrig traffic filter 'zone example.com' day.pcap -f example.pcap
      dnsrig traffic filter 'query and type A,AAAA and not client 192.0.2.0/24' *.pcap.zst -f some.pcap
      dnsrig traffic filter 'rcode SERVFAIL' day.pcapng | tcpdump -r - | head
    """
    claim_outputs([output], files, as_json=as_json)
    read = CaptureReading(ports, threads).to_json()
    result = work("filter", files, lambda progress: _core.traffic_filter(files, read, expression, output, progress))
    kept = f"{count(result['messages_kept'])} of {count(result['messages'])} messages"
    print_result(output, files, result, [f"{file_name(output)}: {kept}"], as_json=as_json)

"""C-DNS files that cbor2 made of dnspython's messages: dnsrig makes the same messages of them again, field by field."""

import collections
import dataclasses
import ipaddress
import json

import cdns_maker
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset
import dpkt
import pyarrow
import pyarrow.parquet
import pytest
from captures import transactions
from cdns_maker import NS, SIGNATURES, Bad, Item, block, first_ns
from dnsrig import _core

TICKS = (1_000_000, 1_000_000_000, 1000)
NS_A_MS = 1_000_000


def messages_of(item):
    """Give the messages of an item as they travelled: time, from, to, message, size."""
    if item.query is not None:
        yield item.query_ns, item.client, item.server, item.query, item.sizes[0]
    if item.answer is not None:
        yield item.answer_ns, item.server, item.client, item.answer, item.sizes[1]


def odd_items(time_ns):
    """Make items of kinds that are rare."""
    server = ("198.51.100.53", 5300)
    for place, kind in enumerate(("questions", "none", "badvers", "referral", "update", "early")):
        client = (f"192.0.2.{200 + place}", 2000 + place)
        rdtype = "SOA" if kind == "update" else "MX"
        query = dns.message.make_query("Odd.Example.COM", rdtype, use_edns=0, payload=1400, id=700 + place)
        if kind == "questions":
            for rdtype in (dns.rdatatype.A, dns.rdatatype.TXT):
                name = dns.name.from_text("other.test.")
                query.find_rrset(query.question, name, dns.rdataclass.IN, rdtype, create=True)
        if kind == "none":
            query.question.clear()
        answer = dns.message.make_response(query)
        if kind == "badvers":
            answer.set_rcode(dns.rcode.BADVERS)
        if kind == "referral":
            for section, text in (
                (answer.authority, ("example.com.", 3600, "IN", "NS", "NS.example.com.", "ns.example.net.")),
                (answer.authority, ("example.com.", 60, "IN", "DS", "5 13 2 " + 32 * "ab")),
                (answer.additional, ("ns.example.com.", 3600, "IN", "AAAA", "2001:db8::53")),
            ):
                section.append(dns.rrset.from_text(*text))
        if kind == "update":
            query.set_opcode(dns.opcode.UPDATE)
            answer.set_opcode(dns.opcode.UPDATE)
        # The capture had the answer first.
        delay_ns = -2 * NS_A_MS if kind == "early" else 3 * NS_A_MS
        at_ns = time_ns + 20 * place * NS_A_MS
        transport = ("udp", "tcp", "tls", "dtls", "https", "other")[place]
        yield Item(
            client, server, transport, at_ns, at_ns + delay_ns, query, answer, sizes=(50 + place, 60_000 + place)
        )


@pytest.fixture(scope="module")
def items():
    """Give items, all of whose times are whole milliseconds: with both messages, or one of them."""
    made = []
    for place, (at_ns, answer_ns, ends, *messages) in enumerate(transactions(240, seed=5)):
        times = [None if time_ns is None else time_ns // NS_A_MS * NS_A_MS for time_ns in (at_ns, answer_ns)]
        item = Item(*ends, ("udp", "tcp")[place % 7 == 0], *times, *messages)
        if answer_ns is None:
            item = dataclasses.replace(item, answer=None)
        elif place % 11 == 0:
            item = dataclasses.replace(item, query=None, query_ns=None)
        sizes = [
            None if message is None or (place + number) % 5 == 0 else len(message.to_wire())
            for number, message in enumerate((item.query, item.answer))
        ]
        made.append(dataclasses.replace(item, sizes=tuple(sizes)))
    made += odd_items(max(map(first_ns, made)) + NS)
    return made


@pytest.fixture(scope="module")
def bad(items):
    """Give what was no message, in the first block's time."""
    ends = items[0].client, items[0].server
    return [
        Bad(*ends, first_ns(items[0]) + NS_A_MS * place, octets) for place, octets in enumerate((b"\0\7", b"x" * 30))
    ]


@pytest.fixture(scope="module")
def file(tmp_path_factory, items, bad):
    """Give a file of blocks with different parameters."""
    blocks = []
    for number, start in enumerate(range(0, len(items), 50)):
        ticks = number % 3 if number else None
        blocks.append(
            block(
                items[start : start + 50],
                () if number else bad,
                ticks_per_second=TICKS[ticks or 0],
                parameters=ticks,
            )
        )
    return cdns_maker.write(tmp_path_factory.mktemp("made") / "made.cdns", blocks, TICKS)


def parts(message):
    """Give all that a message says."""
    sections = [sorted(str(rrset) for rrset in section) for section in message.sections]
    edns = None
    if message.edns >= 0:
        edns = message.edns, message.payload, message.ednsflags, [option.to_wire() for option in message.options]
    return message.id, message.flags, int(message.rcode()), sections, edns


def written(path):
    """Give the messages of a capture of raw IP by dpkt: time, from, to, octets."""
    with path.open("rb") as file:
        for time, octets in dpkt.pcap.Reader(file):
            packet = (dpkt.ip.IP, dpkt.ip6.IP6)[octets[0] >> 4 == 6](octets)
            payload = bytes(packet.data.data)
            if isinstance(packet.data, dpkt.tcp.TCP):
                if not payload:
                    continue
                assert int.from_bytes(payload[:2]) == len(payload) - 2
                payload = payload[2:]
            ends = [
                (str(ipaddress.ip_address(address)), port)
                for address, port in ((packet.src, packet.data.sport), (packet.dst, packet.data.dport))
            ]
            yield round(time * 1000) * NS_A_MS, *ends, payload


def converted(dnsrig, file, out):
    done = dnsrig("traffic", "convert", file, "-f", out, "--from", "capture")
    assert done.code == 0, done.err
    return done


def in_order(items, bad=()):
    """Give the messages of items in the order of their times, those of an item as they stand in it."""
    everything = [message[:4] for item in items for message in messages_of(item)]
    everything += [(one.time_ns, one.client, one.server, one.octets) for one in bad]
    return sorted(everything, key=lambda message: message[0])


def test_every_message_is_made_again_field_by_field(dnsrig, tmp_path, file, items, bad):
    converted(dnsrig, file, tmp_path / "out.pcap")
    found, expected = list(written(tmp_path / "out.pcap")), in_order(items, bad)
    assert [message[:3] for message in found] == [message[:3] for message in expected]
    for (*ends, octets), (*_, message) in zip(found, expected, strict=True):
        if isinstance(message, bytes):
            assert octets == message
        else:
            assert parts(dns.message.from_wire(octets)) == parts(message), ends


def test_statistics_are_those_of_the_messages(dnsrig, file, items, bad):
    done = dnsrig("traffic", "stats", file, "--json")
    assert done.code == 0, done.err
    found = done.json
    of_queries = [item for item in items if item.query is not None and item.query.opcode() == dns.opcode.QUERY]
    both = [item for item in of_queries if item.answer is not None and item.answer_ns >= item.query_ns]
    answers = [item for item in items if item.answer is not None and item.answer.opcode() == dns.opcode.QUERY]
    assert (found["requests"], found["answers"]["answered"]) == (len(of_queries), len(both))
    assert found["failed"] == sum(item.answer.rcode() != 0 for item in both)
    assert found["opcodes"]["UPDATE"] == 1
    names = {"dtls": "tls", "other": "unknown"}
    transports = collections.Counter(names.get(item.transport, item.transport) for item in of_queries)
    assert found["transports"] == dict(transports)
    rcodes = collections.Counter(dns.rcode.to_text(item.answer.rcode()) for item in answers)
    assert found["rcodes"] == dict(rcodes)
    sizes = [[item.sizes[place] for item in side] for place, side in enumerate((of_queries, answers))]
    for name, of_side in zip(("query", "answer"), sizes, strict=True):
        told = [size for size in of_side if size is not None]
        assert found["sizes"][f"{name}_mean"] == pytest.approx(sum(told) / len(told))
        assert found["sizes"][name]["max"] == max(told)
    assert found["packets"]["malformed"]["header"] + found["packets"]["malformed"]["question"] == len(bad)
    assert found["latency_ns"]["max"] == max(item.answer_ns - item.query_ns for item in both)
    first, last = (pick(message[0] for message in in_order(items, bad)) for pick in (min, max))
    assert (found["start_unix_ns"], found["seconds"]) == (first, pytest.approx((last - first) / NS))


def test_parquet_has_the_sizes_that_the_file_tells(dnsrig, tmp_path, file, items):
    converted(dnsrig, file, tmp_path / "rows.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "rows.parquet", columns=["client_port", "latency", "answer_octets"])
    places = table.schema.get_field_index("latency")
    table = table.set_column(places, "latency", table.column("latency").cast(pyarrow.int64()))
    found = {row["client_port"]: (row["latency"], row["answer_octets"]) for row in table.to_pylist()}
    told = 0
    for item in items:
        if item.query is None or item.answer is None or item.answer_ns < item.query_ns:
            continue
        assert found[item.client[1]] == (item.answer_ns - item.query_ns, item.sizes[1])
        told += item.sizes[1] is not None
    assert 100 < told < len(found)


def test_what_was_not_collected_is_left_out(dnsrig, tmp_path, items):
    both = [item for item in items[:60] if item.query is not None and item.answer is not None]
    blocks = [block(both, ticks_per_second=TICKS[0], has_sections=False, client_prefix=3)]
    file = cdns_maker.write(tmp_path / "few.cdns", blocks, TICKS)
    converted(dnsrig, file, tmp_path / "out.pcap")
    found, expected = list(written(tmp_path / "out.pcap")), in_order(both)
    assert len(found) == len(expected)
    for (time_ns, source, _, octets), (*_, message) in zip(found, expected, strict=True):
        made, is_query = dns.message.from_wire(octets), not message.flags & dns.flags.QR
        assert (made.id, made.flags, made.rcode()) == (message.id, message.flags, message.rcode()), time_ns
        assert made.question == message.question
        assert not (made.answer or made.authority or made.additional)
        assert made.edns == message.edns
        if is_query:
            assert parts(made) == parts(message)
            # Three octets of the client's address are there.
            packed = ipaddress.ip_address(source[0]).packed
            assert not any(packed[3:])


@pytest.mark.parametrize("size", [65_535, 65_536, 2**40])
def test_sizes_that_no_message_has_are_unknown(dnsrig, tmp_path, items, size):
    both = [item for item in items[:100] if item.query is not None and item.answer is not None]
    both[3] = dataclasses.replace(both[3], sizes=(size, size))
    blocks = [block(part, ticks_per_second=TICKS[0]) for part in (both[:10], both[10:])]
    file = cdns_maker.write(tmp_path / "sizes.cdns", blocks, TICKS)
    done = dnsrig("traffic", "stats", file, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["requests"] == len(both)
    expected = size if size <= 65_535 else max(item.sizes[0] for item in both if item.sizes[0] not in (None, size))
    assert done.json["sizes"]["query"]["max"] == expected


FIELDS = {"item": 13, "signature": 17, "table": 9}
"""How many fields a block's maps have, of which a collector may leave out any."""


@pytest.mark.parametrize(("where", "key"), [(where, key) for where, many in FIELDS.items() for key in range(many)])
def test_any_field_may_be_missing(tmp_path, items, bad, where, key):
    few = [*items[:30], *items[-6:]]
    made = block(few, bad, ticks_per_second=TICKS[0])
    maps = {"item": made[3], "signature": made[2][SIGNATURES], "table": [made[2]]}[where]
    gone = [one.pop(key) for one in maps if key in one]
    assert gone
    # A block behind shows that reading goes on.
    path = cdns_maker.write(tmp_path / "few.cdns", [made, block(few, ticks_per_second=TICKS[0])], TICKS)
    report = json.loads(_core.traffic_stats([path], "{}", "{}").report())
    messages = sum(1 for item in few for _ in messages_of(item))
    # What says that there was a response is in the signature.
    has_flags = (where, key) not in {("item", 4), ("signature", 4), ("table", SIGNATURES)}
    assert report["packets"]["read"] == (messages if has_flags else len(few)) + len(bad) + messages
    assert report["files"][0]["damage"] is None

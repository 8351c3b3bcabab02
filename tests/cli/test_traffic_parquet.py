"""Parquet that others wrote or wrote anew, and captures that are odd on the way to it."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from capture_maker import traffic, write_pcap


@pytest.fixture
def table(dnsrig, tmp_path):
    """Give the transactions of a capture."""
    file = tmp_path / "whole.parquet"
    done = dnsrig("traffic", "convert", write_pcap(tmp_path / "whole.pcap", traffic()), "-f", file)
    assert done.code == 0, done.err
    return pq.read_table(file)


def replaced(table, column, values):
    """Give the table with other values in a column."""
    return table.set_column(table.schema.get_field_index(column), column, values)


def times_of(dnsrig, folder, table):
    """Give the times of the queries that a table becomes."""
    pq.write_table(table, folder / "in.parquet")
    for arguments in (["in.parquet", "-f", "out.pcap"], ["out.pcap", "-f", "out.parquet"]):
        done = dnsrig("traffic", "convert", *arguments, cwd=folder)
        assert done.code == 0, done.err
    return pq.read_table(folder / "out.parquet")["time"].cast(pa.int64()).to_pylist()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_unit_are_the_same_times(dnsrig, tmp_path, table, unit):
    times = table["time"].cast(pa.timestamp(unit, tz="UTC"), safe=False)
    wanted = times.cast(pa.timestamp("ns", tz="UTC")).cast(pa.int64()).to_pylist()
    assert times_of(dnsrig, tmp_path, replaced(table, "time", times)) == wanted


def test_whole_numbers_are_ns_since_1970(dnsrig, tmp_path, table):
    numbers = table["time"].cast(pa.int64())
    assert times_of(dnsrig, tmp_path, replaced(table, "time", numbers)) == numbers.to_pylist()


@pytest.mark.parametrize(
    ("column", "values_and_said"),
    [
        ("time", (lambda rows: pa.array([1.5] * rows), "column time is of type double")),
        ("time", (lambda rows: pa.array([20_000] * rows, pa.date32()), "column time is of type date32")),
        ("time", (lambda rows: pa.array([-5] * rows), "no query to be written")),
        (
            "client",
            (lambda rows: pa.array(["192.0.2.1"] + ["nobody"] * (rows - 1)), "row 1 (counted from 0): column client"),
        ),
        ("client", (lambda rows: pa.array(["192.0.2.1"] * (rows - 1) + [None]), "column client has no value in row")),
        ("client_port", (lambda rows: pa.array([70_000] * rows), "column client_port is not what")),
        ("transport", (lambda rows: pa.array(["pigeon"] * rows), "row 0 (counted from 0): column transport")),
        ("query", (lambda rows: pa.array([b"x"] * rows), "column query")),
    ],
)
def test_a_column_that_cannot_be_used_is_named(dnsrig, tmp_path, table, column, values_and_said):
    values, said = values_and_said
    pq.write_table(replaced(table, column, values(len(table))), tmp_path / "odd.parquet")
    done = dnsrig("traffic", "convert", tmp_path / "odd.parquet", "-f", tmp_path / "out.pcap")
    assert done.code == 2 and said in done.err and "odd.parquet" in done.err, done.err
    assert not (tmp_path / "out.pcap").exists()


def test_a_column_that_is_there_twice_is_refused(dnsrig, tmp_path, table):
    twice = pa.table([*table.columns, table["time"]], names=[*table.column_names, "time"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    done = dnsrig("traffic", "convert", tmp_path / "twice.parquet", "-f", tmp_path / "out.pcap")
    assert done.code == 2 and "has the column time 2 times" in done.err, done.err


@pytest.mark.parametrize("target", ["parquet", "txt"])
def test_what_is_wrong_with_a_capture_is_said_whatever_is_written(dnsrig, tmp_path, target):
    packets = traffic() * 3
    whole = write_pcap(tmp_path / "whole.pcap", packets)
    octets = whole.read_bytes()
    (tmp_path / "cut.pcap").write_bytes(octets[:-5])
    (tmp_path / "cut.pcap.gz").write_bytes(gzip.compress(octets)[:-20])
    for name, said in [("cut.pcap", "is cut off after packet"), ("cut.pcap.gz", "after packet")]:
        done = dnsrig("traffic", "convert", tmp_path / name, "-f", tmp_path / f"out.{target}", "--json")
        assert done.code == 0 and f"{name} is" in done.err and said in done.err, done.err
        (read,) = done.json["read"]["files"]
        assert read["is_cut_off"] or read["damage"], read

"""Short runs of the studies of resolvers, on real resolvers in the rig's namespaces."""

import json
import shutil
import struct
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from dnsrig.hosts.network import users
from dnsrig.runs.folder import RunFolder
from dnsrig.servers.resolvers.registry import resolver_driver
from dnsrig.studies import conduct
from dnsrig.studies.registry import study

SMALL: dict[str, Any] = {"profile": "small", "domains": 2000, "repetitions": 1, "distances": False, "seed": 4}


class Quiet:
    """Hears of a run and keeps what went wrong."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def phase(self, text: str) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def step(self, step: object) -> None:
        pass

    def problem(self, text: str) -> None:
        self.problems.append(text)


def skip_without(*resolvers: str) -> None:
    """Skip the test where namespaces or a resolver are not to be had."""
    if why := users.why_no_namespaces():
        pytest.skip(why)
    for program in ("ip", "nft"):
        if shutil.which(program, path="/usr/sbin:/sbin:/usr/bin:/bin") is None:
            pytest.skip(f"needs {program}")
    for name in resolvers:
        if resolver_driver(name).find() is None:
            pytest.skip(f"{name} is not installed")


def settings(name: str, servers: tuple[str, ...] = ("unbound",), **more: Any) -> Any:
    return study(name).fitted(as_chosen(name, servers, **more))


def as_chosen(name: str, servers: tuple[str, ...] = ("unbound",), **more: Any) -> Any:
    """Give settings as a user chooses them, before the study adds what fits this machine."""
    found = study(name)
    return found.settings_type(servers=servers, **{**found.defaults, **SMALL, **more})


def run_study(
    name: str, parent: Path, servers: tuple[str, ...] = ("unbound",), **more: Any
) -> tuple[RunFolder, dict[str, Any]]:
    """Run a study; give its run and summary, both of which fit their schemas."""
    skip_without(*dict.fromkeys(server.partition("#")[0] for server in servers))
    folder, summary = conduct.start(name, as_chosen(name, servers, **more), parent, ["dnsrig", "run", name], Quiet())
    run = RunFolder.open(folder)
    validate("summary.json", summary)
    for measurement in run.measurements():
        validate("measurement.json", measurement)
    assert (folder / "report.html").exists()
    return run, summary


def validate(schema: str, value: Any) -> None:
    text = resources.files("dnsrig").joinpath("schemas").joinpath(schema).read_text()
    jsonschema.validate(value, json.loads(text))


def by_case(run: RunFolder) -> dict[str, dict[str, Any]]:
    """Give the first repetition of each case."""
    return {item["case_id"]: item for item in run.measurements() if item["repetition"] == 0}


def write_capture(path: Path, *messages: bytes, times_s: Sequence[float] | None = None, clients: int = 1) -> str:
    """Write a capture (pcap, Ethernet) of DNS over UDP, 0.1 s apart or at the times given, of clients in turn."""
    packets = []
    for number, message in enumerate(messages):
        time_us = 100_000 * number if times_s is None else round(1e6 * times_s[number])
        udp = struct.pack(">HHHH", 4000 + number, 53, 8 + len(message), 0) + message
        client = b"\x0a\0\1" + bytes([number % clients])
        header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, client, b"\x0a\0\0\2")
        frame = bytes(12) + b"\x08\0" + header + udp
        packets.append(struct.pack("<IIII", 1000, time_us, len(frame), len(frame)) + frame)
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(packets))
    return str(path)

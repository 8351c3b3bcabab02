"""Ports: free, taken, shared; and whose they are."""

import os
import socket

import pytest
from dnsrig.errors import EnvironmentLacksError
from dnsrig.servers import ports

ADDRESSES = ["127.0.0.1", "::1"]
KINDS = [socket.SOCK_DGRAM, socket.SOCK_STREAM]


def held(address: str, kind: socket.SocketKind, *, reuse_port: bool = False) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    holder = socket.socket(family, kind)
    if reuse_port:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        holder.bind((address, 0))
    except OSError:
        holder.close()
        pytest.skip(f"this machine has no address {address}")
    if kind == socket.SOCK_STREAM:
        holder.listen()
    return holder


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("kind", KINDS)
def test_taken_port_and_its_holder(address: str, kind: socket.SocketKind) -> None:
    with held(address, kind) as holder:
        port = holder.getsockname()[1]
        assert ports.port_state(address, port) is ports.PortState.TAKEN
        inode = os.fstat(holder.fileno()).st_ino
        assert inode in ports.sockets_on(address, port)
        assert inode in ports.sockets_of([os.getpid()])
        assert f"(pid {os.getpid()})" in ports.holder(address, port)
        assert ports.holder(address, port, others_than=[os.getpid()]) is None


@pytest.mark.parametrize("kind", KINDS)
def test_shared_port(kind: socket.SocketKind) -> None:
    with held("127.0.0.1", kind, reuse_port=True) as holder:
        assert ports.port_state("127.0.0.1", holder.getsockname()[1]) is ports.PortState.SHARED


def test_socket_on_any_address_counts() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("0.0.0.0", 0))
        assert os.fstat(holder.fileno()).st_ino in ports.sockets_on("127.0.0.1", holder.getsockname()[1])


def test_free_port_can_be_bound() -> None:
    port = ports.find_free_port("127.0.0.1")
    assert port > 0
    assert ports.port_state("127.0.0.1", port) is ports.PortState.FREE


def test_address_elsewhere() -> None:
    assert ports.port_state("192.0.2.1", 5300) is ports.PortState.NO_ADDRESS
    with pytest.raises(EnvironmentLacksError, match=r"192\.0\.2\.1"):
        ports.find_free_port("192.0.2.1")

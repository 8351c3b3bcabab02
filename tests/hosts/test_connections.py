"""Connections that the kernel remembers are forgotten with the rules that made them."""

import contextlib
import shutil
import socket

import pytest
from dnsrig.hosts.network import users
from dnsrig.hosts.network.rules import REDIRECT_DNS, REDIRECT_DNS_IPV6, ruleset
from dnsrig.hosts.network.topologies import path_network


def test_a_port_is_translated_no_more_when_the_rule_is_gone() -> None:
    if why := users.why_no_namespaces():
        pytest.skip(why)
    for tool, package in (("ip", "iproute2"), ("nft", "nftables")):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}: install the Debian package {package}")
    with path_network("router") as network:
        server = network.server.make_socket(socket.AF_INET, socket.SOCK_DGRAM)
        client = network.client.make_socket(socket.AF_INET, socket.SOCK_DGRAM)
        with server, client:
            server.bind((network.server_addresses.ipv4, 53))
            client.connect((network.server_addresses.ipv4, 53))
            server.settimeout(5)
            network.middle.set_rules(ruleset(REDIRECT_DNS))
            client.send(b"to the router, where nothing is")
            network.middle.set_rules(ruleset(REDIRECT_DNS_IPV6))
            # The first one may be told that the router refused what was sent before.
            with contextlib.suppress(ConnectionRefusedError):
                client.send(b"to the server")
            client.send(b"to the server")
            assert server.recv(100) == b"to the server"

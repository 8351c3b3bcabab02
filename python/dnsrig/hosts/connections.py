"""The kernel's table of connections (conntrack), by which it goes on as a rule said that is there no more."""

import contextlib
import socket
import struct

NETLINK_NETFILTER = 12
DELETE_CONNECTIONS = (1 << 8) | 2
"""NFNL_SUBSYS_CTNETLINK and IPCTNL_MSG_CT_DELETE (linux/netfilter/nfnetlink.h, nfnetlink_conntrack.h)."""
REQUEST_ACKNOWLEDGED = 1 | 4
"""NLM_F_REQUEST and NLM_F_ACK (linux/netlink.h)."""
HEADER = struct.Struct("=IHHII")
FAMILY = struct.Struct("=BBH")
"""struct nfgenmsg: family, version, resource."""
ACKNOWLEDGEMENT_OCTETS = 4096


def forget_connections() -> None:
    """Empty the table of the thread's network namespace; where the kernel keeps none, nothing is done."""
    # A kernel without ctnetlink refuses, and one that has it but tracked nothing has nothing to forget.
    with contextlib.suppress(OSError), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER) as channel:
        for family in (socket.AF_INET, socket.AF_INET6):
            body = FAMILY.pack(family, 0, 0)
            message = HEADER.pack(HEADER.size + len(body), DELETE_CONNECTIONS, REQUEST_ACKNOWLEDGED, 1, 0) + body
            channel.send(message)
            # It is done when it is acknowledged.
            channel.recv(ACKNOWLEDGEMENT_OCTETS)

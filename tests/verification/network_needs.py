"""What tests that make networks of their own need of a machine."""

import os
import shutil

import pytest
from dnsrig.hosts.network import users


def skip_without_networks() -> None:
    """Skip a test where there are no network namespaces, or not the programs that set them up."""
    if why := users.why_no_namespaces():
        pytest.skip(why)
    for program, package in (("ip", "iproute2"), ("nft", "nftables")):
        if shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
            pytest.skip(f"needs {program}: install the Debian package {package}")

"""Programs of others that tests ask."""

import os
import shutil

import pytest


def need(program, package):
    """Skip the test where `program` is not installed, or fail it where CI or DNSRIG_ALL_TOOLS is set."""
    if shutil.which(program):
        return
    missing = f"{program} is not installed: install the Debian package {package}"
    if os.environ.get("CI") or os.environ.get("DNSRIG_ALL_TOOLS"):
        pytest.fail(missing)
    pytest.skip(missing)


def validators(origin, file):
    """Give the commands that verify `file`, each with the package that has it."""
    yield "bind9-utils", ["dnssec-verify", "-q", "-o", origin, file]
    yield "ldnsutils", ["ldns-verify-zone", file]
    yield "knot-dnssecutils", ["kzonecheck", "-o", origin, "-d", "on", file]

"""Measure signing alone: `python -m dnsrig.studies.signing.crypto_bound ALGORITHM BITS THREADS SECONDS`.

BITS is the size of an RSA key, `-` for others. Prints signatures a second. A process of its own, so that it has the
processors of the signers that it is compared with, and ends with the study.
"""

import sys

from dnsrig import _core
from dnsrig.errors import DnsrigError


def main(arguments: list[str]) -> int:
    """Measure and print."""
    algorithm, bits, threads, seconds = arguments
    try:
        rate = _core.signing_rate(algorithm, None if bits == "-" else int(bits), int(threads), float(seconds))
    except DnsrigError as error:
        print(error, file=sys.stderr)
        return 1
    print(rate)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`python -m dnsrig` is the `dnsrig` command."""

from dnsrig.cli import main

main()

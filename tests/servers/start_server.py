"""Start a server from a process of its own and wait to be killed: `start_server.py DRIVER ZONE FOLDER PORT`.

It prints one JSON object: the server's processes and its port, or the error and its exit code.
"""

import json
import sys
import time
from pathlib import Path

from dnsrig.errors import DnsrigError
from dnsrig.servers.base import ServedZone, ServerSettings
from dnsrig.servers.registry import driver


def main() -> None:
    name, zone, folder, port = sys.argv[1:]
    settings = ServerSettings(port=int(port), threads=2)
    try:
        with driver(name)([ServedZone("example", Path(zone))], settings, Path(folder)) as server:
            print(json.dumps({"pids": server.pids(), "port": server.address[1]}), flush=True)
            while True:
                time.sleep(60)
    except DnsrigError as error:
        print(json.dumps({"error": str(error), "exit_code": error.exit_code}), flush=True)


if __name__ == "__main__":
    main()

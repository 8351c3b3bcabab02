"""Run one program to its end and write what it took, as JSON, to a file.

    python -I -S measured.py RESULT PROGRAM [ARGUMENT ...]

`wall_ns` counts from just before the program is started to its end; `cpu_us` is user and system time and
`rss_bytes_max` the peak resident set of the program with the children that it waited for, as the kernel accounts them
(wait4). The kernel counts this process's own resident set at the start of the program as its smallest peak: some 9 MB.

This file imports nothing of dnsrig, and ends as the program did.
"""

import json
import os
import sys
import time


def main(arguments: list[str]) -> int:
    """Run the program; the exit code is its own, 127 if it could not be run, 128 + N if signal N ended it."""
    result, argv = arguments[0], arguments[1:]
    began_ns = time.monotonic_ns()
    try:
        pid = os.posix_spawnp(argv[0], argv, os.environ)
    except OSError as error:
        sys.stderr.write(f"{argv[0]} could not be run: {error.strerror}\n")
        return 127
    _, status, used = os.wait4(pid, 0)
    wall_ns = time.monotonic_ns() - began_ns
    figures = {
        "wall_ns": wall_ns,
        "cpu_us": round((used.ru_utime + used.ru_stime) * 1e6),
        "rss_bytes_max": used.ru_maxrss * 1024,
    }
    with open(result, "w", encoding="ascii") as file:  # noqa: PTH123 (pathlib would add to the smallest peak)
        json.dump(figures, file)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

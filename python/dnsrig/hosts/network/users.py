"""User namespaces (user_namespaces(7)), in which a user who is not root may make network namespaces."""

import os
import subprocess
import sys
from pathlib import Path

from dnsrig.errors import EnvironmentLacksError
from dnsrig.hosts.network import kernel

ENTERED = "DNSRIG_IN_USER_NAMESPACE"
"""Environment variable that is set once dnsrig has put itself into a user namespace."""
SWITCHES = (
    ("/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces is 0"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone is 0"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "kernel.apparmor_restrict_unprivileged_userns is 1",
    ),
)
"""Settings that forbid user namespaces: file, forbidding value, and how to say it."""
TRIAL_S = 10.0


def why_no_namespaces() -> str | None:
    """Say in words why this process cannot make network namespaces; None if it can."""
    try:
        os.close(kernel.make_namespace())
    except EnvironmentLacksError as error:
        return str(error)
    return None


def why_no_user_namespaces() -> str | None:
    """Say in words why this user cannot get network namespaces by a user namespace; None if that works."""
    trial = ["unshare", "--user", "--map-root-user", "--net", "true"]
    try:
        done = subprocess.run(
            trial, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TRIAL_S, check=False
        )
    except FileNotFoundError:
        return "the program unshare is not installed: install the Debian package util-linux"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{' '.join(trial)}: {error}"
    if done.returncode == 0:
        return None
    reasons = [said for path, value, said in SWITCHES if _reads(path) == value]
    return "; ".join(reasons) or done.stderr.strip() or f"{' '.join(trial)} ended with status {done.returncode}"


def enter_user_namespace() -> None:
    """See to it that this process can make network namespaces, by starting it anew in a user namespace if need be.

    Returns if it can already. Otherwise this process is replaced by the same command under `unshare --user
    --map-root-user`: it is root there, over its own namespaces only; files that it writes belong to the user as before,
    and its own network stays the machine's. Call it before anything has been done that must not be done twice.

    Raises:
        EnvironmentLacksError: the system allows neither; the message says what forbids it and what to do.

    """
    why = why_no_namespaces()
    if why is None:
        return
    forbidden = "dnsrig is in a user namespace already" if ENTERED in os.environ else why_no_user_namespaces()
    if forbidden is not None:
        raise EnvironmentLacksError(f"{why}; user namespaces do not help: {forbidden}")
    sys.stdout.flush()
    sys.stderr.flush()
    os.environ[ENTERED] = "1"
    command = ["unshare", "--user", "--map-root-user", "--", sys.executable, *sys.orig_argv[1:]]
    os.execvp(command[0], command)


def _reads(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None

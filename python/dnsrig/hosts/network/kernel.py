"""The system calls for network namespaces that Python 3.11 has not (unshare(2), setns(2)), and whether they work."""

import ctypes
import errno
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from typing import TypeVar

from dnsrig.endings import wait_for
from dnsrig.errors import EnvironmentLacksError
from dnsrig.held_signals import held_signals

CLONE_NEWNET = 0x40000000
"""Flag of unshare(2) and setns(2) for network namespaces (linux/sched.h)."""

Result = TypeVar("Result")


def make_namespace() -> int:
    """Make a network namespace and give a descriptor of it, which alone keeps it alive until something runs in it.

    The descriptor is closed when this process ends, however it ends, and is not handed down to programs: so the kernel
    removes the namespace, with its links, when the last process and socket in it are gone.

    Raises:
        EnvironmentLacksError: this process may not, or the kernel has no network namespaces.

    """
    outcome: Future[int] = Future()
    try:
        in_own_thread(_unshare, outcome)
        return outcome.result()
    except OSError as error:
        raise EnvironmentLacksError(_why_not(error)) from error


def in_own_thread(function: Callable[[], Result], outcome: "Future[Result]") -> None:
    """Run a function in a thread that ends with it: a namespace is a property of one thread.

    What it gives or raises goes to `outcome`, which the caller has made before, so that an interruption while the
    thread starts does not lose it.
    """

    def work() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=work, name="namespace", daemon=True).start()


def enter(namespace: int) -> None:
    """Move the calling thread into the network namespace of a descriptor."""
    _call("setns", namespace, CLONE_NEWNET)


def inside(namespace: int, function: Callable[[], Result]) -> Result:
    """Run a short function in the network namespace of a descriptor: in the calling thread, where that may go back.

    Signals are held back, as an interrupted thread could be left there.
    """
    own = _own()
    try:
        if not _may_go_back(own):
            return call(namespace, function, Future())
        with held_signals():
            enter(namespace)
            try:
                return function()
            finally:
                enter(own)
    finally:
        os.close(own)


def _may_go_back(own: int) -> bool:
    """Say whether the thread may enter the namespace that it is in.

    In a user namespace it may not: the machine's network belongs to the user namespace that the machine began with.
    """
    try:
        enter(own)
    except PermissionError:
        return False
    return True


def call(namespace: int, function: Callable[[], Result], outcome: "Future[Result]") -> Result:
    """Run a function, which may take its time, in a thread that is in a namespace; see `in_own_thread`."""

    def work() -> Result:
        enter(namespace)
        return function()

    with held_signals() as let_through:
        in_own_thread(work, outcome)
        wait_for([outcome], let_through)
        return outcome.result()


def _unshare() -> int:
    _call("unshare", CLONE_NEWNET)
    return _own()


def _own() -> int:
    """Give a descriptor of the calling thread's network namespace."""
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _call(name: str, *arguments: int) -> None:
    if not sys.platform.startswith("linux"):
        raise OSError(errno.ENOSYS, "not Linux")
    if getattr(_libc(), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _why_not(error: OSError) -> str:
    if error.errno == errno.EPERM:
        who = "root's rights here are limited (CAP_SYS_ADMIN), as in a container" if os.geteuid() == 0 else "not root"
        return (
            f"no network namespace can be made: {who}; run dnsrig as root, or where the system allows user namespaces "
            "to all users"
        )
    if error.errno in {errno.EINVAL, errno.ENOSYS}:
        return "no network namespace can be made: this kernel has none (CONFIG_NET_NS)"
    if error.errno == errno.ENOSPC:
        # unshare(2): a limit of the user namespace, not of a disk.
        return (
            "no network namespace can be made: there are as many as user.max_net_namespaces allows; raise it with "
            "sysctl, or end what uses others"
        )
    return f"no network namespace can be made: {error.strerror}"

"""The `dnsrig` command: its groups, and how an error becomes a message and an exit code."""

import errno
import fcntl
import io
import os
import sys
from contextlib import suppress
from types import ModuleType

import click
from click.shell_completion import shell_complete

from dnsrig import __version__
from dnsrig.cli.command_list import CommandList
from dnsrig.cli.signals import INTERRUPTED, ignore_signals, was_interrupted
from dnsrig.cli.streams import (
    ClosedOutput,
    PlainErrors,
    flush_errors,
    flush_output,
    occupy_closed_descriptors,
    say,
    unbroken,
)
from dnsrig.errors import DnsrigError, EnvironmentLacksError, InputError

HELP = """A test rig for DNS and DNSSEC: verify what servers do, and measure what it costs.

\b
First steps:
  dnsrig servers                          which name servers are installed
  dnsrig verify authoritative nsd         what one of them does right and wrong
  dnsrig run denial-cost --quick          what NSEC and NSEC3 cost each of them
  dnsrig load -s 127.0.0.1 -p 5300 -d queries.txt -l 10
                                          load a server of your own

Loads go only to this machine's own addresses unless you say otherwise.
Exit codes: 0 done, 1 the thing under test failed, 2 usage or input error,
3 this machine lacks something, 130 interrupted, 141 nobody reads the output.
"""
COMPLETION_VARIABLE = "_DNSRIG_COMPLETE"
"""The environment variable by which a shell asks what can come next on the command line."""
CORE = "dnsrig._core"
UNREAD = 141
"""Exit code when the reader of standard output has gone: a shell's for a program that SIGPIPE ended."""


COMMANDS = {
    "verify": ("verify", "Check what a server does, item by item, with evidence."),
    "run": ("run", "Run a study and write its report."),
    "studies": ("run", "List and explain the studies."),
    "report": ("reports", "Build the report of a stored run anew."),
    "compare": ("reports", "Say what differs between two runs beyond noise."),
    "load": ("load", "Load a server and account for every query."),
    "servers": ("servers", "List the name servers that the rig can drive."),
    "serve": ("servers", "Start a name server with a zone, as the studies do."),
    "zone": ("zone", "Make, sort, cut, check, verify and compare zone files."),
    "sign": ("sign", "Sign a zone file."),
    "keygen": ("keygen", "Make a key for a zone."),
    "settime": ("settime", "Show and change when a key is published, signs and goes."),
    "ds": ("ds", "Print the DS records of keys."),
    "stream": ("stream", "Make query streams for a load."),
    "traffic": ("traffic", "Characterise, cut, anonymise and synthesise DNS traffic."),
    "internet": ("internet", "Simulate the Internet's name space for resolvers."),
}
"""Each command's module in dnsrig.cli, and its line in the list."""
HIDDEN = {"sink": "load"}


SAID_ERRORS = {
    errno.EACCES,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.EISDIR,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
}
"""What the system refuses for reasons that its own words explain; anything else is our fault and shown whole."""
WRONG_NAMES = {errno.ELOOP, errno.ENAMETOOLONG}
"""What it refuses because the name of a file is none that there can be."""


@click.group(
    cls=CommandList,
    modules=COMMANDS,
    hidden=HIDDEN,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="dnsrig")
def cli() -> None:
    """Hold the commands; the help text is HELP."""


def main() -> None:
    """Run the command line and exit with its code."""
    occupy_closed_descriptors()
    # A stream that the caller closed is None here; what goes to standard error is lost then, as the caller wished.
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = unbroken(sys.stdout) if sys.stdout else ClosedOutput()
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = PlainErrors(unbroken(sys.stderr))
    if not _can_be_written_to(1):
        sys.stdout = ClosedOutput("standard output is not open for writing")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files need not be UTF-8, and a report is not to be lost for one.
        sys.stdout.reconfigure(errors="replace")
    code: int | None = None
    while True:
        try:
            if code is None:
                code = run_command_line(sys.argv[1:])
            ignore_signals()
            break
        except KeyboardInterrupt:
            # Once more, while the first was being said, or before signals are ignored.
            code = INTERRUPTED
    # `python -m dnsrig` would end by SIGINT, whatever its exit code, if the last text to be executed was interrupted,
    # such as what an import executes to make a dataclass. Executing another one makes CPython forget.
    exec("")
    flush_errors()
    sys.exit(code)


def _can_be_written_to(descriptor: int) -> bool:
    return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY


def run_command_line(arguments: list[str]) -> int:
    """Run `dnsrig` with `arguments`; print any error to standard error and return the exit code."""
    try:
        result = _invoke(arguments)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        return _code_of(error)
    return result if isinstance(result, int) else 0


def _code_of(error: BaseException) -> int:
    """Say what `error` means to the user and give the exit code; raise it again if it is a fault of ours."""
    if isinstance(error, KeyboardInterrupt) or was_interrupted(error):
        say("dnsrig: interrupted")
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        with suppress(OSError):
            error.show()
        return error.exit_code
    if isinstance(error, DnsrigError):
        say(f"dnsrig: {error}")
        return error.exit_code
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":
        # Octets of the command line that are not UTF-8 are lone surrogates, which only a path may hold.
        say(f"dnsrig: {error.object!r} is not UTF-8; only files may have such names")
        return InputError.exit_code
    if isinstance(error, OSError):
        return _refused_by_system(error)
    if _is_of_another_core(error):
        say(f"dnsrig: {error}: the core was built of other sources than the rest of dnsrig; build it anew (make setup)")
        return EnvironmentLacksError.exit_code
    raise error


def _is_of_another_core(error: BaseException) -> bool:
    """Say whether `_core` lacks something that the sources beside it have, as after an update of these alone."""
    if isinstance(error, AttributeError):
        return isinstance(error.obj, ModuleType) and error.obj.__name__ == CORE
    return isinstance(error, ImportError) and error.name == CORE and not isinstance(error, ModuleNotFoundError)


def _invoke(arguments: list[str]) -> object:
    """Run the command, and give what it returns.

    Not by `cli.main`, which ends the program with 1 where the reader of the output has gone, and prints at Ctrl-C.
    """
    if instruction := os.environ.get(COMPLETION_VARIABLE):
        return shell_complete(cli, {}, "dnsrig", COMPLETION_VARIABLE, instruction)
    try:
        with cli.make_context("dnsrig", list(arguments)) as context:
            return cli.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code


def _refused_by_system(error: OSError) -> int:
    """Say what the system refused; raise it again where that would not tell the user what to do."""
    if isinstance(error.__context__, KeyboardInterrupt):
        # Saying that failed: at SIGHUP, the terminal has gone.
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        # The reader of our output has gone (`| head`); there is nobody left to tell.
        flush_output()
        return UNREAD
    if error.errno in WRONG_NAMES and error.filename is not None:
        say(f"dnsrig: {os.fsdecode(error.filename)}: {error.strerror}: name another file")
        return InputError.exit_code
    if error.errno not in SAID_ERRORS:
        raise error
    # What could not be printed is in the buffer still, and fails again.
    scratch = os.environ.get("TMPDIR", "/tmp")
    unnamed = f"standard output, or a file in {scratch} (TMPDIR)" if flush_output() else "standard output"
    where = error.filename or unnamed
    say(f"dnsrig: {where}: {error.strerror}")
    return EnvironmentLacksError.exit_code

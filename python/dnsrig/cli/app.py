"""The `dnsrig` command: its groups, and how an error becomes a message and an exit code."""

import errno
import sys

import click

from dnsrig import __version__
from dnsrig.cli import load, reports, run, servers, sign, stream, zone
from dnsrig.errors import DnsrigError

HELP = """A test rig for DNS and DNSSEC: verify what servers do, and measure what it costs.

\b
First steps:
  dnsrig servers                          which name servers are installed
  dnsrig run denial-cost --quick          what NSEC and NSEC3 cost each of them
  dnsrig load -s 127.0.0.1 -p 5300 -d queries.txt -l 10
                                          load a server of your own

Traffic goes only to this machine's own addresses unless you say otherwise.
Exit codes: 0 done, 1 the thing under test failed, 2 usage or input error,
3 this machine lacks something, 130 interrupted.
"""


@click.group(help=HELP, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="dnsrig")
def cli() -> None:
    """Hold the command groups; its help text is HELP."""


for command in (
    run.run,
    run.studies,
    load.load,
    load.sink,
    servers.servers,
    servers.serve,
    zone.zone,
    sign.sign,
    stream.stream,
    reports.report,
    reports.compare,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit with the code that DESIGN.md promises."""
    sys.exit(run_command_line(sys.argv[1:]))


def run_command_line(arguments: list[str]) -> int:
    """Run `dnsrig` with `arguments`; print any error to standard error and return the exit code."""
    try:
        result = cli.main(arguments, prog_name="dnsrig", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except DnsrigError as error:
        click.echo(f"dnsrig: {error}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("dnsrig: interrupted", err=True)
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); there is nobody left to tell.
        sys.stderr.close()
        return 141
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EACCES, errno.EDQUOT, errno.EROFS}:
            raise
        click.echo(f"dnsrig: {error.filename or 'writing'}: {error.strerror}", err=True)
        return 3
    return result if isinstance(result, int) else 0

"""`dnsrig internet profile` and `dnsrig internet questions`."""

from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import FiniteRange, WholeNumber, chosen_seed, seed_option
from dnsrig.cli.internet_options import domains_option, profile_option
from dnsrig.runs.writing import DiskFullError, unwritable, write_text

MOST_QUESTIONS = 20_000_000


@click.command()
@click.argument("name", default="internet-2022")
def profile(name: str) -> None:
    """Print the profile NAME [internet-2022], with the source of each figure. `small` is for a first try.

    A file that ends in .toml is printed if an Internet can be made of it.

    \b
    Example:
      dnsrig internet profile internet-2022 > mine.toml
      dnsrig internet profile mine.toml                  what is wrong with it, if anything is
      dnsrig internet serve --profile mine.toml
    """
    text = _core.Internet.profile_text(name)
    if name.endswith(".toml"):
        # More can be wrong than the text shows, such as an outage of operators that there are not.
        _core.Internet(name, seed=1, signed_at_s=0)
    click.echo(text, nl=False)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@profile_option
@domains_option
@click.option("-n", "--number", type=WholeNumber(1, MOST_QUESTIONS), default=100_000, show_default=True)
@click.option(
    "--missing-share",
    type=FiniteRange(0, 1),
    default=0.1,
    show_default=True,
    help="Share of names made up not to exist; hosts that a domain happens not to have come on top.",
)
@click.option(
    "--internet-seed",
    type=WholeNumber(0, 2**63 - 1),
    required=True,
    help="The seed with which the Internet is served.",
)
@click.option(
    "--loopback", is_flag=True, help="It is served with --loopback: names of addresses are those of 127.0.0.0/8."
)
@seed_option
def questions(
    file: Path,
    profile: str,
    domains: int | None,
    number: int,
    missing_share: float,
    internet_seed: int,
    loopback: bool,
    seed: int | None,
) -> None:
    """Write questions for names of a simulated Internet to FILE, in dnsperf's format; FILE '-' is standard output.

    Domains are asked for by a Zipf law. Profile, --domains and the Internet's seed have to be those of `serve`.

    \b
    Example:
      dnsrig internet questions queries.txt --profile small --internet-seed 1 -n 10000
    """
    made = _core.Internet(profile, seed=internet_seed, signed_at_s=0, domains=domains, loopback=loopback)
    text = made.questions(number, chosen_seed(seed), missing_share)
    if str(file) == "-":
        click.echo(text, nl=False)
        return
    try:
        write_text(file, text)
    except (DiskFullError, OSError) as error:
        raise unwritable(file, error, "choose another") from error

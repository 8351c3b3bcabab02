"""`dnsrig zone generate`: synthetic zones of any size."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import WholeNumber, chosen_seed, json_option, print_json, seed_option
from dnsrig.cli.progress import WorkProgress
from dnsrig.cli.streams import report_on
from dnsrig.cli.zone_reading import claim_output, file_name

NAMES_MAX = 200_000_000
RECORDS = WholeNumber(40, 100_000)


@dataclass(frozen=True, slots=True)
class Default:
    """What a model makes unless told otherwise; `counted` is what its names are."""

    origin: str
    names: int
    counted: str


DEFAULTS = {
    "small": Default("example.test.", 244, "records"),
    "enterprise": Default("example.test.", 10_000, "owner names"),
    "tld": Default("xa.", 550_000, "delegations"),
    "reverse": Default("10.in-addr.arpa.", 10_000, "addresses"),
    "flat": Default("example.test.", 100_000, "hosts"),
}


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--model", type=click.Choice(list(DEFAULTS)), default="small", show_default=True, help="Kind of zone; see above."
)
@click.option("-o", "--origin", default=None, help="Name of the zone's apex.  [default: the model's]")
@click.option(
    "--names", type=WholeNumber(1, NAMES_MAX), default=None, help="How many names, exactly.  [default: the model's]"
)
@click.option("--records", type=RECORDS, default=None, help="How many records, exactly; for small.  [default: 244]")
@click.option(
    "--signed-share",
    type=click.FloatRange(0, 1),
    default=None,
    help="Share of delegations with DS records; for tld.  [default: 0.05]",
)
@click.option("--unsorted", is_flag=True, help="Shuffle the records instead of writing them in canonical order.")
@seed_option
@json_option
def generate(
    file: Path,
    model: str,
    origin: str | None,
    names: int | None,
    records: int | None,
    signed_share: float | None,
    unsorted: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Write a synthetic zone to FILE, or to standard output if that is -.

    The same seed gives the same file to the octet, on any machine. Models, with the apex and the number of names that
    they have unless -o and --names (for small: --records) say otherwise:

    \b
      small       a small organisation in operation, as JPRS-2010 measured it:
                  example.test., 244 records
      enterprise  the same of any size, most of it at sites:
                  example.test., 10,000 owner names
      tld         a registry's delegations, in default size with as many records
                  and RRsets as CA-2006's zone: xa., 550,000 delegations
      reverse     PTR records below in-addr.arpa or ip6.arpa:
                  10.in-addr.arpa., 10,000 addresses
      flat        hosts side by side below the apex:
                  example.test., 100,000 hosts

    \b
    Example:
      dnsrig zone generate example.db --seed 1
      dnsrig zone generate ca.zone --model tld -o ca. --seed 1
    """
    _check_fit(file, model, names, records, signed_share, as_json)
    seed = chosen_seed(seed)
    default = DEFAULTS[model]
    count = records or names or default.names
    to_output = str(file) == "-"
    with NamesProgress(count, default.counted) as progress:
        made = _core.generate_zone(
            None if to_output else file,
            model=model,
            origin=origin or default.origin,
            names=count,
            seed=seed,
            signed_share=0.05 if signed_share is None else signed_share,
            unsorted=unsorted,
            on_progress=progress.update,
        )
    settings = {"model": model, "seed": seed, "origin": _absolute(origin or default.origin)}
    with report_on(f"{file_name(file)} is complete"):
        _report(file, made, settings, as_json)


def _check_fit(
    file: Path, model: str, names: int | None, records: int | None, signed_share: float | None, as_json: bool
) -> None:
    """Refuse options that the model has no use for."""
    if model == "small" and names is not None:
        raise click.UsageError("--names is not for the model small: give --records, or another --model.")
    if model != "small" and records is not None:
        raise click.UsageError(f"--records is for the model small only: give --names for {model}.")
    if model != "tld" and signed_share is not None:
        raise click.UsageError("--signed-share is for the model tld only.")
    claim_output(file, as_json, "FILE")


def _absolute(name: str) -> str:
    return name if name.endswith(".") else f"{name}."


def _report(file: Path, made: dict[str, Any], settings: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json({"file": str(file), **settings, **made})
        return
    to_output = str(file) == "-"
    click.echo(
        f"{file_name(file)}: zone {settings['origin']}, {made['records']} records, "
        f"{made['rrsets']} RRsets, {made['octets']} octets (seed {settings['seed']})",
        err=to_output,
    )


class NamesProgress(WorkProgress):
    """Shows how many names were made."""

    def __init__(self, total: int, counted: str) -> None:
        self._of_all = f"of {total:,} {counted}"
        super().__init__(f"{total:,} {counted}", total, "names")

    def update(self, names: int, octets: int) -> None:
        """Show that `names` names were made, `octets` octets of text."""
        self.show(names, f"{names:,} {self._of_all}, {octets / 1e6:,.0f} MB")

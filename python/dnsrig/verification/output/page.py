"""Verifications as a page that needs nothing besides itself."""

import shlex
from collections.abc import Sequence
from importlib import resources

import jinja2

from dnsrig import __version__
from dnsrig.characters import plain
from dnsrig.verification.output.comparison import Comparison
from dnsrig.verification.output.untried import folded, not_tried
from dnsrig.verification.verification import LABELS, ORDER, NotVerified, Verification


def page(verifications: Sequence[Verification], not_verified: NotVerified = ()) -> str:
    """Write the HTML page; `not_verified` are further targets, with the reason."""
    template = resources.files("dnsrig.verification.output").joinpath("verification.html.j2")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["zip"] = zip
    targets = ", ".join(
        (*(verification.target for verification in verifications), *(target for target, _ in not_verified))
    )
    zones = {verification.zone for verification in verifications}
    # A server of the rig has several, which are of no interest to readers.
    zone = next(iter(zones)) if len(zones) == 1 else None
    comparison = Comparison(verifications)
    text = environment.from_string(template.read_text(encoding="utf-8")).render(
        title=f"Verification of {targets}" + ("" if zone is None else f" for {zone}"),
        verifications=verifications,
        not_verified=not_verified,
        comparison=comparison,
        by_name=dict(zip(comparison.columns, verifications, strict=True)),
        folded=folded,
        not_tried=not_tried,
        command_of=lambda verification: shlex.join(verification.command),
        order=ORDER,
        labels=LABELS,
        version=__version__,
    )
    return plain(text)

"""Verifications as a page that needs nothing besides itself."""

from collections.abc import Sequence
from importlib import resources

import jinja2

from dnsrig import __version__
from dnsrig.verification.output.comparison import Comparison
from dnsrig.verification.verification import LABELS, ORDER, Verification


def page(verifications: Sequence[Verification]) -> str:
    """Write the HTML page."""
    template = resources.files("dnsrig.verification.output").joinpath("verification.html.j2")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["zip"] = zip
    targets = ", ".join(verification.target for verification in verifications)
    return environment.from_string(template.read_text(encoding="utf-8")).render(
        title=f"Verification of {targets}",
        verifications=verifications,
        comparison=Comparison(verifications),
        order=ORDER,
        labels=LABELS,
        version=__version__,
    )

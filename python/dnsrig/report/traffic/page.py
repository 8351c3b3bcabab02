"""A page about captures: the rate over time, and all figures."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from dnsrig import __version__
from dnsrig.report.traffic.parts import Facts, Part
from dnsrig.report.traffic.rate_picture import rate_svg

CAPTION = "Requests per second over time."


def page_of(
    found: Mapping[str, Any],
    runs: Sequence[tuple[int, Sequence[int]]],
    parts: Sequence[Part],
    warnings: Sequence[str] = (),
) -> str:
    """Give a page that stands alone.

    `found` has the files, `runs` the requests of each second: the first second of a run in s since 1970, and the counts
    from that on. `parts` are all figures in words, `warnings` what is to be known of them first.
    """
    context = {
        "title": ", ".join(file["file"] for file in found["files"]),
        "version": __version__,
        "picture": Markup(rate_svg(runs, CAPTION)) if runs else "",
        "caption": CAPTION,
        "warnings": warnings,
        "parts": [(isinstance(part, Facts), part) for part in parts],
    }
    folder = resources.files("dnsrig.report").joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template("traffic.html.j2").render(context)

"""The pictures of the report: time by key beside the limit, time of re-signing by the share made anew."""

from collections.abc import Mapping
from statistics import median

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU_TIME, Figure, short_number
from dnsrig.report.identical import paired_in_run
from dnsrig.report.pictures.log_bars import LogBar, draw_log_bars
from dnsrig.report.pictures.shares import Curve, draw_shares
from dnsrig.report.pictures.style import COLOURS
from dnsrig.report.pictures.trade_off import Point
from dnsrig.report.sections import Drawing
from dnsrig.studies.signing.cases import RESIGNED_CHAIN, resign_kind
from dnsrig.studies.signing.finder import CaseFinder, Line
from dnsrig.studies.signing.settings import KEYS

HATCHED = "Whiskers are 95 % intervals (an arrow: it goes on), hatched bars are tainted."


def time_by_key(finder: CaseFinder, lines: list[Line]) -> Drawing:
    """Draw the time of full signing by key, a panel a signer, with the time of the signatures alone."""
    panels = [
        (finder.title(server), _bars(finder, server, lines, COLOURS[index % len(COLOURS)]))
        for index, server in enumerate(finder.signers)
    ]
    return Drawing(
        "time-by-key",
        f"{finder.main.title} to sign the whole zone by zone-signing key, on a logarithmic axis; open diamonds: what "
        f"making the signatures alone takes on as many threads. {HATCHED}",
        lambda: draw_log_bars(panels, [line.label for line in lines], _axis(finder), "signatures alone"),
    )


def _bars(finder: CaseFinder, server: str, lines: list[Line], colour: str) -> list[LogBar]:
    bars = []
    for line in lines:
        case = finder.case(server, line.kind, line.key)
        found = finder.estimate(case, finder.main)
        if case is None or found is None:
            continue
        text, tainted = f"{short_number(found.median)} s", _is_marked(finder, case)
        limit_s = _limit_s(finder, case)
        bars.append(LogBar(line.label, found.median, text, colour, found.low, found.high, limit_s, tainted))
    return bars


def in_sentence(figure: Figure) -> str:
    """Name a figure within a sentence: `time`, `CPU time`."""
    return figure.title if figure is CPU_TIME else figure.title.lower()


def _axis(finder: CaseFinder) -> str:
    return "CPU seconds" if finder.main is CPU_TIME else "seconds"


def _is_marked(finder: CaseFinder, case: CaseResult) -> bool:
    return bool(finder.findings.notes.mark(case))


def _limit_s(finder: CaseFinder, case: CaseResult) -> float | None:
    limits = finder.limits(case, finder.main, finder.settings.all_threads)
    return median(limits.values()) if limits else None


def resigning(
    finder: CaseFinder, columns: list[tuple[str, bool, str]], key: str, published: Mapping[int, float]
) -> Drawing:
    """Draw what re-signing takes, as a ratio to signing afresh, by the share made anew.

    `columns` are (signer, verified, title); `published` are seconds by share, none if not with this key.
    """
    curves = []
    for server, verified, title in columns:
        points = []
        afresh = finder.case(server, RESIGNED_CHAIN, key)
        for share in sorted(finder.settings.regenerated):
            case = finder.case(server, resign_kind(share, verified=verified), key)
            ratio = None if case is None or afresh is None else paired_in_run(case, afresh, finder.main)
            if case is not None and ratio is not None:
                points.append(Point(share, ratio.ratio, ratio.low, ratio.high, _is_marked(finder, case)))
        if points:
            curves.append(Curve(title, points, COLOURS[finder.signers.index(server) % len(COLOURS)]))
    whole = published.get(100, 1.0)
    known = [Point(share, seconds / whole) for share, seconds in sorted(published.items())]
    what = in_sentence(finder.main)
    return Drawing(
        f"resigning-{key}",
        f"{finder.main.title} to re-sign by the share of the signatures that is made anew, {KEYS[key].label}, as a "
        "ratio to the same signer's signing afresh: above the dashed line it takes more than that. With 95 % intervals "
        "(an arrow: it goes on); open points are tainted.",
        lambda: draw_shares(curves, known, ("signatures made anew [%]", f"{what} as a ratio"), "signing afresh"),
    )

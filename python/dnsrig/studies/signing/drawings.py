"""The pictures of the report: time by key beside the limit, time of re-signing by the share made anew."""

from statistics import median

from dnsrig.report.cases import CaseResult
from dnsrig.report.figures import CPU_TIME, Figure, short_number
from dnsrig.report.pictures.log_bars import LogBar, draw_log_bars
from dnsrig.report.pictures.style import COLOURS
from dnsrig.report.pictures.trade_off import Point, draw_trade_off
from dnsrig.report.sections import Drawing
from dnsrig.studies.signing.cases import resign_kind
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


def resigning(finder: CaseFinder, columns: list[tuple[str, bool, str]], key: str) -> Drawing:
    """Draw the time of re-signing against the share made anew; columns are (signer, verified, title)."""
    curves = []
    for server, verified, title in columns:
        points = []
        for share in sorted(finder.settings.regenerated):
            case = finder.case(server, resign_kind(share, verified=verified), key)
            found = finder.estimate(case, finder.main)
            if case is not None and found is not None:
                points.append(Point(share, found.median, found.low, found.high, _is_marked(finder, case)))
        if points:
            curves.append((title, points))
    return Drawing(
        f"resigning-{key}",
        f"{finder.main.title} to re-sign by the share of the signatures that is made anew, {KEYS[key].label}. "
        "Medians with 95 % intervals (an arrow: it goes on); open points are tainted.",
        lambda: draw_trade_off(curves, "signatures made anew [%]", _axis(finder)),
    )

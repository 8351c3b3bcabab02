"""nsec3-iterations: how NSEC3's additional iterations weigh on an authoritative server (JPRS-2010, case 6)."""

from typing import Any, ClassVar

from dnsrig.report.layout import Axis, RatioQuestion, StudyText
from dnsrig.studies import wording
from dnsrig.studies.authoritative import AuthoritativeStudy
from dnsrig.studies.settings import ZoneStudySettings


class Nsec3Iterations(AuthoritativeStudy):
    """Iterations x existence/denial/normal x servers."""

    name: ClassVar[str] = "nsec3-iterations"
    title: ClassVar[str] = "How NSEC3's additional iterations weigh on an authoritative server"
    source: ClassVar[str] = wording.JPRS_2010 + ", performance case 6; RFC 9276 on today's advice (0 iterations)"
    defaults: ClassVar[dict[str, Any]] = {"denials": ("nsec3",), "iterations": (0, 1, 5, 10, 50, 100)}
    quick: ClassVar[dict[str, Any]] = {**AuthoritativeStudy.quick, "iterations": (0, 10, 100)}

    def text(self, settings: ZoneStudySettings) -> StudyText:
        """Give the words and the layout of the report."""
        fewest, most = min(settings.iterations), max(settings.iterations)
        return StudyText(
            name=self.name,
            title=self.title,
            question=(
                "How do the rate and the CPU time per query of an authoritative server change as its zone's NSEC3 "
                f"iterations go from {fewest} to {most}: for names that exist, for names that do not, and for normal "
                "traffic?"
            ),
            method=wording.method(settings),
            source=self.source,
            rows=Axis("iterations", "NSEC3 iterations", numeric=True),
            columns=wording.STREAMS,
            baseline=str(fewest),
            baseline_label=f"{fewest} iterations",
            questions=(
                RatioQuestion(
                    figure="server_cpu_us_per_query",
                    of={"iterations": most, "stream": "denial"},
                    to={"iterations": fewest, "stream": "denial"},
                    sentence=f"Denial with {most} iterations costs {{server}} {{ratio}} times the CPU of denial with "
                    f"{fewest}",
                    no_difference=f"{{server}}: no difference in CPU was seen between denial with {most} iterations "
                    f"and with {fewest}",
                ),
                RatioQuestion(
                    figure="server_cpu_us_per_query",
                    of={"iterations": most, "stream": "existence"},
                    to={"iterations": fewest, "stream": "existence"},
                    sentence=f"A name that exists costs {{server}} {{ratio}} times the CPU with {most} iterations as "
                    f"with {fewest}",
                    no_difference=f"{{server}}: no difference in CPU was seen for names that exist between {most} "
                    f"iterations and {fewest}",
                ),
            ),
            published_note=(
                "JPRS-2010 prints case 6 as curves without a table: denial falls steeply with the iterations, "
                'existence slightly, and it concludes that "10 is fine". RFC 9276 says 0 today.'
            ),
            limits=wording.limits(settings),
        )

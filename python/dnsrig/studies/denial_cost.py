"""denial-cost: what authenticated denial of existence costs an authoritative server (JPRS-2010, case 5)."""

import tomllib
from importlib import resources
from typing import Any, ClassVar

from dnsrig.report.layout import Axis, PublishedFigures, RatioQuestion, StudyText
from dnsrig.studies import wording
from dnsrig.studies.authoritative import AuthoritativeStudy
from dnsrig.studies.settings import ZoneStudySettings
from dnsrig.wording import counted

DENIALS = Axis("denial", "Zone", {"none": "unsigned", "nsec": "NSEC", "nsec3": "NSEC3"})


class DenialCost(AuthoritativeStudy):
    """none/NSEC/NSEC3 x existence/denial/normal x servers."""

    name: ClassVar[str] = "denial-cost"
    title: ClassVar[str] = "What authenticated denial of existence costs an authoritative server"
    source: ClassVar[str] = wording.JPRS_2010 + ", performance case 5"
    defaults: ClassVar[dict[str, Any]] = {}

    def text(self, settings: ZoneStudySettings) -> StudyText:
        """Give the words and the layout of the report."""
        iterations = settings.iterations[0]
        return StudyText(
            name=self.name,
            title=self.title,
            question=(
                "How many queries a second does an authoritative server answer, and what does each answer cost it, "
                "when its zone is unsigned, signed with NSEC, or signed with NSEC3 "
                f"({counted(iterations, 'additional iteration')}): for names that exist, for names that do not, and "
                "for normal traffic?"
            ),
            method=wording.method(settings),
            source=self.source,
            rows=DENIALS,
            columns=wording.STREAMS,
            baseline="none",
            baseline_label="the unsigned zone",
            questions=(
                RatioQuestion(
                    figure="server_cpu_us_per_query",
                    of={"denial": "nsec3", "stream": "denial"},
                    to={"denial": "nsec", "stream": "denial"},
                    sentence="Denial from the NSEC3 zone costs {server} {ratio} times the CPU of denial from the NSEC "
                    "zone",
                    no_difference="{server}: no difference in CPU was seen between denial with NSEC3 and with NSEC",
                ),
                RatioQuestion(
                    figure="server_cpu_us_per_query",
                    of={"denial": "nsec3", "stream": "denial"},
                    to={"denial": "none", "stream": "denial"},
                    sentence="Denial from the NSEC3 zone costs {server} {ratio} times the CPU of a plain NXDOMAIN",
                    no_difference="{server}: no difference in CPU was seen between NSEC3 denial and a plain NXDOMAIN",
                ),
                RatioQuestion(
                    figure="server_cpu_us_per_query",
                    of={"denial": "nsec3", "stream": "normal"},
                    to={"denial": "none", "stream": "normal"},
                    sentence="Normal traffic to the NSEC3 zone costs {server} {ratio} times the CPU of the same "
                    "traffic to the unsigned zone",
                    no_difference="{server}: no difference in CPU was seen between normal traffic to the NSEC3 zone "
                    "and to the unsigned zone",
                ),
            ),
            published=_published(),
            published_note=wording.published_note(settings),
            limits=wording.limits(settings),
        )


def _published() -> tuple[PublishedFigures, ...]:
    """Take JPRS-2010's table 5: rates of two servers, and mean sizes of answers."""
    text = resources.files("dnsrig.published").joinpath("jprs-2010.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)["case5_authoritative"]
    figures = [
        PublishedFigures(
            figure="qps",
            label=f"JPRS-2010, server {server[-1].upper()}",
            values={
                (row["denial"], stream): float(rate) for row in table["qps"] for stream, rate in row[server].items()
            },
        )
        for server in ("server_a", "server_b")
    ]
    columns = {"normal": "normal", "existence": "existence", "denial_stream": "denial"}
    sizes = {
        (row["denial"], column): float(row[key]) for row in table["response_bytes"] for key, column in columns.items()
    }
    return (*figures, PublishedFigures(figure="response_bytes_mean", label="JPRS-2010", values=sizes))

"""The layouts of denial-cost and nsec3-iterations, as a study would hand them to the report."""

import tomllib
from importlib import resources

from dnsrig.report.layout import Axis, PublishedFigures, RatioQuestion, StudyText

DENIAL = Axis("denial", "Denial", {"none": "unsigned", "nsec": "NSEC", "nsec3": "NSEC3"})
STREAM = Axis(
    "stream",
    "Stream",
    {"existence": "existence", "denial": "denial of existence", "normal": "normal"},
)
CPU = "server_cpu_us_per_query"


def _published() -> tuple[PublishedFigures, ...]:
    text = resources.files("dnsrig").joinpath("published/jprs-2010.toml").read_text()
    case5 = tomllib.loads(text)["case5_authoritative"]
    tables = [
        PublishedFigures(
            "qps",
            f"JPRS-2010, server {letter.upper()}",
            {
                (row["denial"], stream): row[f"server_{letter}"][stream]
                for row in case5["qps"]
                for stream in ("existence", "denial")
            },
        )
        for letter in "ab"
    ]
    column = {"normal": "normal", "existence": "existence", "denial": "denial_stream"}
    sizes = {(row["denial"], stream): row[key] for row in case5["response_bytes"] for stream, key in column.items()}
    return (*tables, PublishedFigures("response_bytes_mean", "JPRS-2010", sizes))


DENIAL_COST = StudyText(
    name="denial-cost",
    title="What authenticated denial of existence costs an authoritative server",
    question=(
        "How many queries a second does an authoritative server answer, and how much CPU does each answer "
        "take, when its zone is unsigned, signed with NSEC, and signed with NSEC3; for names that exist and "
        "for names that do not?"
    ),
    method=(
        "One zone in three forms (unsigned, NSEC, NSEC3 with 5 iterations) is served by each server in turn. "
        "Three streams of queries ask for names that exist, for names that do not, and for both in the "
        "share of a normal query log (8 % do not exist). All queries set the DO bit.",
        "Each case is a fresh server process on one core, loaded over UDP on the loopback interface by "
        "dnsrig on another core, as fast as it answers. The cases are repeated in an interleaved order, so "
        "that a drift of the machine does not fall on one of them.",
    ),
    source="JPRS and others: DNSSEC technology experiment report, performance verification, case 5 (2010)",
    rows=DENIAL,
    columns=STREAM,
    baseline="none",
    baseline_label="the unsigned zone",
    questions=(
        RatioQuestion(
            CPU,
            {"denial": "nsec3", "stream": "denial"},
            {"denial": "nsec", "stream": "denial"},
            "NSEC3 denial costs {server} {ratio} times the CPU of NSEC denial",
            "NSEC3 denial costs {server} no more CPU than NSEC denial, as far as this run can see",
        ),
        RatioQuestion(
            CPU,
            {"denial": "nsec3", "stream": "normal"},
            {"denial": "none", "stream": "normal"},
            "For the normal stream, serving the zone with NSEC3 costs {server} {ratio} times the CPU of "
            "serving it unsigned",
            "For the normal stream, serving the zone with NSEC3 costs {server} no more CPU than serving it "
            "unsigned, as far as this run can see",
        ),
    ),
    published=_published(),
    published_note=(
        "An absolute rate belongs to its hardware; only ratios can be compared over sixteen years. In 2010 "
        "the generator was probably the bottleneck for server A, so that its ratios are too close to 1. "
        "Servers then filled the authority and additional sections; today's send minimal answers unless told "
        "otherwise."
    ),
    limits=(
        "The loopback interface has no network card: interrupts, offloads and loss on a wire are not in these figures.",
        "A small zone sits in the CPU's caches. A large zone costs more memory accesses per answer.",
        "One server process on one core says little about how it scales over many.",
    ),
)

NSEC3_ITERATIONS = StudyText(
    name="nsec3-iterations",
    title="What NSEC3 iterations cost an authoritative server",
    question=("How do a server's rate and its CPU per answer change with the number of additional NSEC3 iterations?"),
    method=(
        "One zone is signed with NSEC3 once for each number of iterations, without salt, and served by each "
        "server in turn.",
        "Each case is a fresh server process on one core, loaded over UDP on the loopback interface by "
        "dnsrig on another.",
    ),
    source="JPRS and others: DNSSEC technology experiment report, performance verification, case 6 (2010)",
    rows=Axis("iterations", "Iterations", numeric=True),
    columns=STREAM,
    baseline="0",
    baseline_label="no additional iterations",
    questions=(
        RatioQuestion(
            CPU,
            {"iterations": 100, "stream": "denial"},
            {"iterations": 0, "stream": "denial"},
            "100 iterations cost {server} {ratio} times the CPU of none, for names that do not exist",
            "100 iterations cost {server} no more CPU than none, as far as this run can see",
        ),
    ),
    limits=("RFC 9276 says 0 iterations; validators treat many as insecure, which is not measured here.",),
)

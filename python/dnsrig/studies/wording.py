"""Sentences that the authoritative studies share in their reports."""

from dnsrig.keys import KSK_BITS
from dnsrig.report.layout import Axis
from dnsrig.studies.settings import ZSK_BITS, StudySettings, ZoneStudySettings
from dnsrig.wording import counted

JPRS_2010 = "JPRS-2010: DNSSEC technology experiment report (JPRS, Infoblox, NEC, NTT, KDDI, So-net, Yamaha, 2010)"

STREAMS = Axis("stream", "Stream", {"existence": "existence", "denial": "denial of existence", "normal": "normal"})


def method(settings: ZoneStudySettings) -> tuple[str, ...]:
    """Say what was built, sent, measured and how often, a paragraph each."""
    return (_zone(settings), _streams(settings), _load(settings), repetitions(settings))


def _zone(settings: ZoneStudySettings) -> str:
    source = (
        f"The zone is synthetic: a small domain in operation with {settings.records} records, like the published one"
        if settings.zone is None
        else f"The zone is the user's file {settings.zone}"
    )
    keys = "a KSK and a ZSK"
    if settings.algorithm.startswith("RSA"):
        keys = f"a KSK of {settings.ksk_bits or KSK_BITS} and a ZSK of {settings.zsk_bits or ZSK_BITS} bits"
    salt = f"salt {settings.salt}" if settings.salt else "no salt"
    opt_out = ", opt-out" if settings.opt_out else ""
    iterations = ", ".join(str(number) for number in settings.iterations)
    return (
        f"{source}. It is signed by dnsrig with {settings.algorithm}, {keys}; NSEC3 has {iterations} additional "
        f"iterations and {salt}{opt_out}. Every server serves the same files."
    )


def _streams(settings: ZoneStudySettings) -> str:
    existence = (
        "the queries of the user's log that are answered with data or a referral"
        if settings.queries
        else "names and types that the zone has, and its delegations, drawn at random with types in usual proportions"
    )
    normal = (
        "the log's queries for the zone, as they are"
        if settings.queries
        else f"existence with {settings.denial_share:.0%} of denial mixed in"
    )
    do_bit = "the DO bit set" if settings.do_bit else "the DO bit clear"
    return (
        f"There are three query streams, made by the published method. Existence: {existence}. Denial of existence: "
        "random names made from those, each checked not to exist and used once in a pass. Normal: "
        f"{normal}. Every query has EDNS with {settings.edns_size} octets and {do_bit}."
    )


def _load(settings: ZoneStudySettings) -> str:
    return (
        f"Each load is a closed loop over {settings.transport.upper()}: {settings.outstanding} queries outstanding "
        f"from {counted(settings.clients, 'socket')}, for {settings.load_s:g} s after {settings.warm_up_s:g} s of "
        f"warm-up with other names. The server runs {counted(settings.server_threads, 'worker thread')}, on "
        "processors of its own where the machine has two or more. Its CPU time is read from the kernel at both ends "
        "of the load."
    )


def repetitions(settings: StudySettings) -> str:
    """Say how often and in which order the cases are measured."""
    return (
        f"Every case is measured {settings.repetitions} times. In each repetition a server is started once with each "
        "of its configurations, and the cases of that configuration follow one another, beginning with another one "
        "each time. The order of the configurations alternates (A B B A ...), so that a drift of the machine burdens "
        "all alike. Figures are medians with 95 % confidence intervals."
    )


def published_note(settings: ZoneStudySettings) -> str:
    """Say what to know before comparing with the published figures."""
    answers = (
        "Servers of 2010 put the NS RRset and addresses into every answer; most of today's leave them out, so that "
        "their answers are smaller. --answers full has those servers that can do it answer as in 2010."
        if settings.answers == "server"
        else "Servers that can do it were told to give full answers as in 2010; the remarks say which cannot."
    )
    return (
        "Absolute rates belong to the hardware of 2010: compare the ratios to the unsigned zone. The published rates "
        f"of server A were, as its authors suspected, probably bound by the generator. {answers} The published zone "
        "itself is not available; sizes depend on the lengths of its names."
    )


def limits(settings: ZoneStudySettings) -> tuple[str, ...]:
    """Say what such a run cannot tell."""
    found = [
        "Server and generator run on one machine and talk over its loopback interface: no network card, no driver, "
        "no cable. On loopback the kernel delivers a datagram within the sender's system call, so that a part of "
        "the cost of receiving is booked on the other side. Compare cases, not absolute rates.",
        "A closed loop finds the rate at which a fixed number of outstanding queries is answered. It does not say "
        "how a server behaves when more arrives than it can answer; its latencies are those at saturation.",
        f"With {counted(settings.server_threads, 'worker thread')}, nothing is said about how a server scales over "
        "processors.",
    ]
    if settings.zone is None:
        found.append(
            "A zone of this size stays in the processor's caches. In a large zone each look-up costs more, whatever "
            "the kind of denial; give your own with --zone."
        )
    if settings.queries is None:
        found.append("Names are asked evenly; real traffic prefers few of them. Give a query log with --queries.")
    return tuple(found)

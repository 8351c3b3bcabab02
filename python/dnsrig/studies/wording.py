"""Sentences that the authoritative studies share in their reports."""

from dnsrig.report.layout import Axis
from dnsrig.studies.settings import StudySettings

JPRS_2010 = "JPRS-2010: DNSSEC technology experiment report (JPRS, Infoblox, NEC, NTT, KDDI, So-net, Yamaha, 2010)"

STREAMS = Axis("stream", "Stream", {"existence": "existence", "denial": "denial of existence", "normal": "normal"})


def method(settings: StudySettings) -> tuple[str, ...]:
    """Say what was built, sent, measured and how often, a paragraph each."""
    return (_zone(settings), _streams(settings), _load(settings), _statistics(settings))


def _zone(settings: StudySettings) -> str:
    source = (
        f"The zone is synthetic: a small domain in operation of {settings.records} records, like the published one"
        if settings.zone is None
        else f"The zone is the user's file {settings.zone}"
    )
    keys = "a KSK and a ZSK"
    if settings.algorithm.startswith("RSA"):
        keys = f"a KSK of {settings.ksk_bits or 2048} and a ZSK of {settings.zsk_bits or 1024} bits"
    salt = f"salt {settings.salt}" if settings.salt else "no salt"
    opt_out = ", opt-out" if settings.opt_out else ""
    iterations = ", ".join(str(number) for number in settings.iterations)
    return (
        f"{source}. It is signed by dnsrig with {settings.algorithm}, {keys}; NSEC3 with {iterations} additional "
        f"iterations, {salt}{opt_out}. Every server serves the same files."
    )


def _streams(settings: StudySettings) -> str:
    names = "the user's query log" if settings.queries else "the zone's own names"
    normal = (
        "Normal is the log as it is."
        if settings.queries
        else f"Normal is existence with {settings.denial_share:.0%} of denial mixed in."
    )
    do_bit = "the DO bit set" if settings.do_bit else "the DO bit clear"
    return (
        f"Three query streams, by the published method. Existence: names from {names} that exist. Denial of existence: "
        f"random names made from those, each checked not to exist and used once in a pass. {normal} Every query has EDNS "
        f"with {settings.edns_size} octets and {do_bit}."
    )


def _load(settings: StudySettings) -> str:
    return (
        f"A closed loop over {settings.transport.upper()}: {settings.outstanding} queries outstanding from "
        f"{settings.clients} sockets, for {settings.load_s:g} s after {settings.warm_up_s:g} s of warm-up with other names. "
        f"The server has {settings.server_threads} worker thread(s) and, where the machine allows it, a processor of its "
        "own; its CPU time is read from the kernel at both ends of the load."
    )


def _statistics(settings: StudySettings) -> str:
    return (
        f"Every case is measured {settings.repetitions} times. Each time the server is started afresh; the order of the "
        "cases alternates (A B B A ...), so that a drift of the machine burdens all alike. Figures are medians with "
        "95 % confidence intervals."
    )


def published_note(settings: StudySettings) -> str:
    """Say what to know before comparing with the published figures."""
    answers = (
        "Servers of 2010 put the NS RRset and addresses into every answer; most of today's leave them out, so that their "
        "answers are smaller. `--answers full` has those servers that can do it answer as in 2010. "
        if settings.answers == "server"
        else "Servers that can do it were told to give full answers as in 2010; the remarks say which cannot. "
    )
    return (
        "Absolute rates belong to the hardware of 2010: compare the ratios to the unsigned zone. The published rates of "
        f"server A were, as its authors suspected, probably bound by the generator. {answers}The published zone itself is "
        "not available; sizes depend on its names."
    )


def limits(settings: StudySettings) -> tuple[str, ...]:
    """Say what such a run cannot tell."""
    found = [
        "Server and generator run on one machine and talk over its loopback interface: no network card, no driver, no "
        "cable. On loopback the kernel delivers a datagram within the sender's system call, so a part of the cost of "
        "receiving is booked on the other side. Compare cases, not absolute rates.",
        "A closed loop finds the rate at which a fixed number of outstanding queries is answered. It does not say how a "
        "server behaves when more arrives than it can answer; its latencies are those at saturation.",
        f"With {settings.server_threads} worker thread(s) nothing is said about how a server scales over processors.",
    ]
    if settings.zone is None:
        found.append(
            "A zone of this size stays in the processor's caches. A large zone costs more for each look-up, on every kind "
            "of denial; give your own with --zone."
        )
    if settings.queries is None:
        found.append("Names are asked evenly; real traffic prefers few names. Give a query log with --queries.")
    if settings.quick:
        found.append("This was a quick run: few short repetitions, wide intervals. Do not quote its figures.")
    return tuple(found)

"""The words of the study's report."""

from collections.abc import Mapping

from dnsrig.report.layout import RatioQuestion
from dnsrig.studies.signing.cases import RESIGNED_CHAIN, UNSORTED, resign_kind
from dnsrig.studies.signing.published import Published
from dnsrig.studies.signing.settings import KEYS, PIECES, PUBLISHED_KEY, SigningSettings
from dnsrig.wording import counted

QUESTION = (
    "What does it take to sign a registry's zone: time, CPU time, memory and octets, by key, by chain of denial, by "
    "the share of signatures that are made anew, in pieces, from unsorted input, and by threads? How far is "
    "each signer from the time that nothing but making the signatures takes?"
)
UNANSWERED = (
    f"To have them answered, run with --key {PUBLISHED_KEY} and other sizes (what a larger key takes), with --part "
    "incremental (what re-signing takes), or with --part unsorted (what input in no order takes). The report has "
    "what was measured."
)


def method(settings: SigningSettings) -> tuple[str, ...]:
    """Say what is signed, how, and how it is measured."""
    return _zone(settings), _signing(settings), _incremental(), _measuring(settings)


def _zone(settings: SigningSettings) -> str:
    if settings.zone is not None:
        return f"The zone is that of {settings.zone}, without what DNSSEC signing had added to it, in canonical order."
    return (
        f"The zone is synthetic: a registry's, with {counted(settings.names, 'delegation')}, shaped like that of "
        "CA-2006 (550,000 delegations give its 1,361,002 records and 612,409 RRsets), in canonical order. 5 % of the "
        "delegations have DS records."
    )


def _signing(settings: SigningSettings) -> str:
    return (
        "All signers get the same file, the same keys (a key-signing and a zone-signing key; RSA means RSASHA256 with "
        "a key-signing key of 2048 bits) and the same length of validity, from the same inception but for kzonesign, "
        "which counts from its own clock; they write a zone file. NSEC3 is without additional "
        f"iterations and without salt (RFC 9276). Each may use {counted(settings.all_threads, 'thread')} and has as "
        "many processors, also those with one thread only. Nothing verifies while it is measured; the first output of "
        "each case is verified afterwards, and one that is not valid counts as a failure."
    )


def _incremental() -> str:
    return (
        f"Re-signing is by the published method: the zone is cut in {PIECES} equal pieces, each signed with an "
        "expiration of its own, and joined; a refresh interval between the expirations of two pieces then makes "
        "signatures of the pieces before it anew. What share was made anew is counted in the output. dnsrig is "
        "measured both with the state file, by which it knows its own signatures, and told to verify them."
    )


def _measuring(settings: SigningSettings) -> str:
    return (
        "Each signing is a process of its own; its time, CPU time and peak memory are the kernel's account of it "
        f"(wait4). Every case is measured {settings.repetitions} times; in each repetition all cases follow one "
        "another, signers by turns, and every other repetition goes backwards (A B B A), so that a drift of the "
        "machine burdens all alike. Signing alone is measured beside the signers of each key, in every repetition: a "
        f"key signs as many different short texts as it can in {settings.bound_s:g} s, on as many threads. A signer's "
        "distance to the limit is its CPU time, or time, divided by what its signatures take at that rate."
    )


def questions(settings: SigningSettings, published: Published) -> tuple[RatioQuestion, ...]:
    """Give what the report answers first, signer by signer."""
    chain = settings.main_chain
    base = published.full[PUBLISHED_KEY]
    found = []
    for key, row in published.full.items():
        if key != PUBLISHED_KEY:
            places = ({"kind": chain, "key": key}, {"kind": chain, "key": PUBLISHED_KEY})
            ratio = row.seconds / base.seconds
            found.append(_question(*places, KEYS[key].label, KEYS[PUBLISHED_KEY].label, published=ratio))
    for key in settings.resigned_keys:
        places = ({"kind": resign_kind(0), "key": key}, {"kind": RESIGNED_CHAIN, "key": key})
        found.append(
            _question(
                *places,
                "re-signing that keeps all signatures",
                "signing afresh",
                with_key=key,
                published=published.resigned[0] / published.resigned[100] if key == PUBLISHED_KEY else None,
            )
        )
    key = settings.main_key
    places = ({"kind": UNSORTED, "key": key}, {"kind": chain, "key": key})
    found.append(_question(*places, "input in no order", "sorted input", with_key=key))
    return tuple(found)


def _question(
    of: Mapping[str, object],
    to: Mapping[str, object],
    one: str,
    other: str,
    *,
    with_key: str | None = None,
    published: float | None = None,
) -> RatioQuestion:
    """Ask how many times the time of `other` `one` takes; on a disturbed machine, the CPU time."""
    key = "" if with_key is None else f", with {KEYS[with_key].label}"

    def ask(figure: str, what: str, published_as: str, if_disturbed: RatioQuestion | None = None) -> RatioQuestion:
        more = key if published is None else f"{key}; {published_as}: {published:.2f}"
        return RatioQuestion(
            figure=figure,
            of=of,
            to=to,
            sentence=f"{{server}}: {one} takes {{ratio}} times the {what} of {other}{more}",
            no_difference=f"{{server}}: no difference in {what} was seen between {one} and {other}{more}",
            if_disturbed=if_disturbed,
        )

    return ask("wall_s", "time", "published", if_disturbed=ask("cpu_s", "CPU time", "published, in time"))


def limits(settings: SigningSettings) -> tuple[str, ...]:
    """Say what such a run cannot tell."""
    found = [
        "Zone files come from this machine's page cache. dnsrig and dnssec-signzone bring the signed zone to "
        "disk (fsync) before they end, and that is in their times; the others leave it to the system.",
        "The published times belong to a dual Pentium III of 1400 MHz and to BIND 9.3.1: compare ratios and "
        "shapes. Its RSA keys were of RSASHA1, which signs as fast.",
        "Signing alone is measured with the code that dnsrig uses. A signer with a faster library could be nearer to "
        "the limit than 1, and one with a slower library cannot reach it.",
        f"The published time of parallel signing was reckoned, not measured: one of {PIECES} pieces, split and join. "
        "It is reckoned here in the same way, from measured parts; no cluster was used.",
    ]
    if settings.zone is None:
        found.append(
            "In a synthetic registry's zone nearly every name is a delegation. A zone of hosts has more signatures "
            "for its octets; give your own with --zone."
        )
    return tuple(found)

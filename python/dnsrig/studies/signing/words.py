"""The words of the study's report."""

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
        "machine burdens all alike. Signing alone is measured in the same repetitions: a key signs as many different "
        "short texts as it can, on as many threads. A signer's distance to the limit is its time divided by what its "
        "signatures take at that rate."
    )


def questions(settings: SigningSettings, published: Published) -> tuple[RatioQuestion, ...]:
    """Give what the report answers first, signer by signer."""
    chain, found = settings.main_chain, []
    base = published.full[PUBLISHED_KEY]
    for key, row in published.full.items():
        if key != PUBLISHED_KEY:
            found.append(
                RatioQuestion(
                    figure="wall_s",
                    of={"kind": chain, "key": key},
                    to={"kind": chain, "key": PUBLISHED_KEY},
                    sentence=f"{{server}}: {KEYS[key].label} takes {{ratio}} times as long as RSA-1024; published: "
                    f"{row.seconds / base.seconds:.2f}",
                    no_difference=f"{{server}}: no difference in time was seen between {KEYS[key].label} and RSA-1024",
                )
            )
    for key in settings.resigned_keys:
        found.append(_resigning(key, published))
    main = KEYS[settings.main_key].label
    found.append(
        RatioQuestion(
            figure="wall_s",
            of={"kind": UNSORTED, "key": settings.main_key},
            to={"kind": chain, "key": settings.main_key},
            sentence=f"{{server}}: input in no order takes {{ratio}} times as long as sorted input, with {main}",
            no_difference="{server}: no difference in time was seen between sorted input and input in no order",
        )
    )
    return tuple(found)


def _resigning(key: str, published: Published) -> RatioQuestion:
    label = KEYS[key].label
    said = f"; published: {published.resigned[0] / published.resigned[100]:.2f}" if key == PUBLISHED_KEY else ""
    return RatioQuestion(
        figure="wall_s",
        of={"kind": resign_kind(0), "key": key},
        to={"kind": RESIGNED_CHAIN, "key": key},
        sentence=f"{{server}}: re-signing that keeps all signatures takes {{ratio}} times as long as signing afresh, "
        f"with {label}{said}",
        no_difference=f"{{server}}: no difference in time was seen between re-signing that keeps all signatures and "
        f"signing afresh, with {label}",
    )


def limits(settings: SigningSettings) -> tuple[str, ...]:
    """Say what such a run cannot tell."""
    found = [
        "Zone files come from this machine's page cache. dnsrig and dnssec-signzone bring the signed zone to "
        "disk (fsync) before they end, and that is in their times; the others leave it to the system.",
        "The published times belong to a dual Pentium III of 1400 MHz and to BIND 9.3.1: compare ratios and "
        "shapes. Its RSA keys were of RSASHA1, which signs as fast.",
        "Signing alone is measured with the library that dnsrig uses. A signer with a faster one could be nearer to "
        "its limit than 1.",
        f"The published time of parallel signing was reckoned, not measured: one of {PIECES} pieces, split and join. "
        "It is reckoned here in the same way, from measured parts; no cluster was used.",
    ]
    if settings.zone is None:
        found.append(
            "In a synthetic registry's zone nearly every name is a delegation. A zone of hosts has more signatures "
            "for its octets; give your own with --zone."
        )
    return tuple(found)

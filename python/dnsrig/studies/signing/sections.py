"""The sections of the report: full signing, the published figures, chains, the limit, re-signing."""

from collections.abc import Iterator

from dnsrig.report.figures import (
    CPU_TIME,
    MEMORY,
    OUTPUT_OCTETS,
    SIGNING_CPU,
    SIGNING_RATE,
    WALL,
    Figure,
    ratio_text,
    short_number,
)
from dnsrig.report.sections import Section
from dnsrig.report.tables import Cell, Table
from dnsrig.studies.signing.cases import RESIGNED_CHAIN, resign_kind
from dnsrig.studies.signing.drawings import in_sentence, resigning, time_by_key
from dnsrig.studies.signing.finder import MISSING, CaseFinder, Line
from dnsrig.studies.signing.published import Published
from dnsrig.studies.signing.settings import CHAINS, KEYS, PUBLISHED_KEY
from dnsrig.wording import counted

PUBLISHED = "CA-2006 (published)"


def _sentences(*texts: str) -> tuple[str, ...]:
    return tuple(text for text in texts if text)


def key_lines(finder: CaseFinder) -> list[Line]:
    """Give a line for each key, with the main chain."""
    chain = finder.settings.main_chain
    return [Line(KEYS[key].label, chain, key) for key in finder.settings.keys]


def full_section(finder: CaseFinder) -> Section:
    """Full signing by key: time, CPU time, memory."""
    lines = key_lines(finder)
    chain = CHAINS[finder.settings.main_chain]
    return Section(
        f"Full signing, {chain}",
        _sentences(
            finder.least(lines, WALL, "time"),
            finder.least(lines, CPU_TIME, "CPU time"),
            finder.least(lines, MEMORY, "memory"),
        ),
        drawings=(time_by_key(finder, lines),),
        tables=(
            *(finder.by_signer(f"{what.title} in seconds", "zone-signing key", lines, what) for what in finder.times),
            finder.by_signer("Peak memory", "zone-signing key", lines, MEMORY),
        ),
    )


def published_section(finder: CaseFinder, published: Published) -> Section:
    """Table 1 of CA-2006 beside what was measured: ratios to RSA-1024, sizes and growth."""
    chain, signers = finder.settings.main_chain, finder.signers
    header = ("zone-signing key", PUBLISHED, *map(finder.title, signers))
    base = published.full[PUBLISHED_KEY]
    keys = finder.settings.keys
    times = [
        (
            Cell(KEYS[key].label),
            Cell(ratio_text(published.full[key].seconds / base.seconds)) if key in published.full else MISSING,
            *(
                finder.ratio_cell(
                    finder.case(server, chain, key), finder.case(server, chain, PUBLISHED_KEY), finder.main
                )
                for server in signers
            ),
        )
        for key in keys
    ]
    return Section(
        "Published and measured: table 1",
        (
            "Published: RSA-1024 took 29:09 min on a dual Pentium III of 1400 MHz. What a signature costs grows with "
            "about the third power of an RSA key's size; what else signing takes does not, so that a signer that does "
            "little else shows the steeper ratios. Growth is that of the zone file, which depends on how a signer "
            "writes it: on one line or several, with or without the owner's name.",
        ),
        tables=(
            finder.table(f"{finder.main.title} as a ratio to RSA-1024", header, times if PUBLISHED_KEY in keys else []),
            finder.table("Size of the signed zone, with its growth", header, _growth_rows(finder, published)),
        ),
    )


def _growth_rows(finder: CaseFinder, published: Published) -> list[tuple[Cell, ...]]:
    octets = finder.findings.facts.get("zone", {}).get("octets")
    rows = []
    for line in key_lines(finder):
        known = published.full.get(line.key)
        cells = [MISSING if known is None else Cell(f"{known.signed_megabytes:g} MB", f"x {known.growth:g}")]
        for server in finder.signers:
            size = finder.median(server, line, OUTPUT_OCTETS)
            growth = f"x {size / octets:.1f}" if size is not None and octets else ""
            cells.append(MISSING if size is None else Cell(OUTPUT_OCTETS.text(size), growth))
        rows.append((Cell(line.label), *cells))
    return rows


def chains_section(finder: CaseFinder) -> Section | None:
    """NSEC, NSEC3 and opt-out."""
    key = finder.settings.main_key
    if len(finder.settings.chains) < 2:
        return None
    lines = [Line(CHAINS[chain], chain, key) for chain in finder.settings.chains]
    return Section(
        f"Chains of denial, {KEYS[key].label}",
        _sentences(finder.least(lines, WALL, "time"), finder.least(lines, MEMORY, "memory")),
        tables=(
            *(finder.by_signer(f"{what.title} in seconds", "chain", lines, what) for what in finder.times),
            finder.by_signer("Peak memory", "chain", lines, MEMORY),
            finder.by_signer("Size of the signed zone", "chain", lines, OUTPUT_OCTETS),
        ),
    )


def limit_section(finder: CaseFinder) -> Section:
    """Show the distance of each signer to what its signatures alone take."""
    threads = finder.settings.all_threads
    return Section(
        "Distance to the limit",
        (
            "A signer that did nothing but make its signatures, with the code that dnsrig has for that and on "
            f"{counted(threads, 'thread')}, would show 1. Reading, sorting, chaining and writing are above that; so "
            "are a slower library, signing one by one what can be signed in batches, and, in time, one "
            "thread where there could be several.",
            "The limit is measured beside the signers of each key, for a moment at a time. Where other programs take "
            "a part of that moment and none of a signer's time, the ratio of times comes out too small, also below 1. "
            "That of CPU times moves far less; where two processors share a core it moves too. Below 1 in CPU time "
            "with its whole interval, a signer's library makes such signatures with less work than dnsrig's.",
            *_slower_smaller_keys(finder),
        ),
        tables=(
            _limit_table(finder, CPU_TIME, SIGNING_CPU, f"a signature alone [{SIGNING_CPU.unit}]"),
            _limit_table(finder, WALL, SIGNING_RATE, "signatures alone [1/s]"),
        ),
    )


def _limit_table(finder: CaseFinder, figure: Figure, alone: Figure, column: str) -> Table:
    """Give ratios to the limit by key; `alone` is printed in the first column, which is called `column`."""
    threads, signers = finder.settings.all_threads, finder.signers
    rows = [
        (
            Cell(line.label),
            finder.cell(finder.bound(line.key, threads), alone),
            *(finder.limit_cell(finder.case(server, line.kind, line.key), figure, threads) for server in signers),
        )
        for line in key_lines(finder)
    ]
    title = f"{figure.title} as a ratio to that of the signatures alone"
    return finder.table(title, ("zone-signing key", column, *map(finder.title, signers)), rows)


def _slower_smaller_keys(finder: CaseFinder) -> Iterator[str]:
    """Say which RSA keys cost more CPU time a signature than a larger one, against what their sizes suggest."""
    threads = finder.settings.all_threads
    found: list[tuple[int, str, float]] = []
    for key in finder.settings.keys:
        cpu_us = finder.estimate(finder.bound(key, threads), SIGNING_CPU)
        bits = KEYS[key].bits
        if cpu_us is not None and bits is not None:
            found.append((bits, KEYS[key].label, cpu_us.median))
    for bits, label, cpu_us_each in sorted(found):
        larger = [name for others, name, other_us in sorted(found) if others > bits and other_us < cpu_us_each]
        if larger:
            yield (
                f"A signature by {label} costs more than one by {' and '.join(larger)}: for the usual sizes libraries "
                "have code of their own that needs wide vector units, and for others they have not."
            )


def incremental_section(finder: CaseFinder, published: Published) -> Section | None:
    """Table 2 of CA-2006: re-signing by the share made anew."""
    if "incremental" not in finder.settings.parts:
        return None
    tables = []
    columns = [
        (server, verified)
        for server in finder.signers
        for verified in (False, True)
        if any(
            finder.case(server, resign_kind(share, verified=verified), key)
            for share in finder.settings.regenerated
            for key in finder.settings.resigned_keys
        )
    ]
    both = {server for server, verified in columns if verified}
    titles = [_column_title(finder, server, verified, both) for server, verified in columns]
    what = in_sentence(finder.main)
    named = [(*column, title) for column, title in zip(columns, titles, strict=True)]
    for key in finder.settings.resigned_keys:
        label, shares = KEYS[key].label, finder.settings.regenerated
        seconds = [
            (
                Cell(f"{share} %"),
                *(finder.cell(finder.case(server, resign_kind(share, verified=verified), key), finder.main)
                  for server, verified in columns),
            )
            for share in shares
        ]  # fmt: skip
        ratios = [
            (
                Cell(f"{share} %"),
                _published_share(published, share, key),
                *(
                    finder.ratio_cell(
                        finder.case(server, resign_kind(share, verified=verified), key),
                        finder.case(server, RESIGNED_CHAIN, key),
                        finder.main,
                    )
                    for server, verified in columns
                ),
            )
            for share in shares
        ]
        tables.append(finder.table(f"{label}: {what} in seconds", ("made anew", *titles), seconds))
        ratio_title = f"{label}: {what} as a ratio to the same signer's full signing, {CHAINS[RESIGNED_CHAIN]}"
        tables.append(finder.table(ratio_title, ("made anew", PUBLISHED, *titles), ratios))
    return Section(
        "Re-signing: table 2",
        (
            "Above 1, re-signing takes more than signing afresh would. A signer that verifies each signature it "
            "keeps pays what its library takes to verify; with RSA that is a small part of what signing takes.",
        ),
        drawings=tuple(
            resigning(finder, named, key, published.resigned if key == PUBLISHED_KEY else {})
            for key in finder.settings.resigned_keys
        )
        if columns
        else (),
        tables=tuple(tables),
    )


def _column_title(finder: CaseFinder, server: str, verified: bool, both: set[str]) -> str:
    title = finder.title(server)
    if server not in both:
        return title
    return f"{title}, kept ones verified" if verified else f"{title}, with state file"


def _published_share(published: Published, share: int, key: str) -> Cell:
    seconds = published.resigned.get(share)
    if seconds is None or key != PUBLISHED_KEY:
        return MISSING
    return Cell(ratio_text(seconds / published.resigned[100]), f"{short_number(seconds)} s")

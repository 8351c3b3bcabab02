"""The sections of the report: full signing, the published figures, chains, the limit, re-signing."""

from collections.abc import Iterator

from dnsrig.report.figures import CPU_TIME, MEMORY, OUTPUT_OCTETS, SIGNING_RATE, WALL, ratio_text, short_number
from dnsrig.report.sections import Section
from dnsrig.report.tables import Cell
from dnsrig.studies.signing.cases import BOUND, RESIGNED_CHAIN, bound_kind, resign_kind
from dnsrig.studies.signing.drawings import resigning, time_by_key
from dnsrig.studies.signing.finder import MISSING, CaseFinder, Line
from dnsrig.studies.signing.published import Published
from dnsrig.studies.signing.settings import CHAINS, KEYS, PUBLISHED_KEY

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
            finder.by_signer("Time in seconds", "zone-signing key", lines, WALL),
            finder.by_signer("CPU time in seconds", "zone-signing key", lines, CPU_TIME),
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
                finder.ratio_cell(finder.case(server, chain, key), finder.case(server, chain, PUBLISHED_KEY))
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
            finder.table("Time as a ratio to RSA-1024", header, times if PUBLISHED_KEY in keys else []),
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
            finder.by_signer("Time in seconds", "chain", lines, WALL),
            finder.by_signer("CPU time in seconds", "chain", lines, CPU_TIME),
            finder.by_signer("Peak memory", "chain", lines, MEMORY),
            finder.by_signer("Size of the signed zone", "chain", lines, OUTPUT_OCTETS),
        ),
    )


def limit_section(finder: CaseFinder) -> Section:
    """Show the distance of each signer to what its signatures alone take."""
    threads, signers = finder.settings.all_threads, finder.signers
    rows = [
        (
            Cell(line.label),
            finder.cell(finder.case(BOUND, bound_kind(threads), line.key), SIGNING_RATE),
            *(finder.limit_cell(finder.case(server, line.kind, line.key), threads) for server in signers),
        )
        for line in key_lines(finder)
    ]
    return Section(
        "Distance to the limit",
        (
            f"A signer that did nothing but make its signatures, on {threads} threads at the rate in the first "
            "column, would show 1. Reading, sorting, chaining and writing are above that; so are one thread where "
            "there could be several, and a slower library.",
            *_slower_smaller_keys(finder),
        ),
        tables=(
            finder.table(
                "Time as a ratio to that of the signatures alone",
                ("zone-signing key", "signing alone [1/s]", *map(finder.title, signers)),
                rows,
            ),
        ),
    )


def _slower_smaller_keys(finder: CaseFinder) -> Iterator[str]:
    """Say which RSA keys sign slower than a larger one, against what their sizes suggest."""
    threads = finder.settings.all_threads
    found: list[tuple[int, str, float]] = []
    for key in finder.settings.keys:
        rate = finder.estimate(finder.case(BOUND, bound_kind(threads), key), SIGNING_RATE)
        bits = KEYS[key].bits
        if rate is not None and bits is not None:
            found.append((bits, KEYS[key].label, rate.median))
    for bits, label, rate_per_s in sorted(found):
        larger = [name for others, name, other_per_s in sorted(found) if others > bits and other_per_s > rate_per_s]
        if larger:
            yield (
                f"{label} makes fewer signatures a second than {' and '.join(larger)}: for the usual sizes libraries "
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
    named = [(*column, title) for column, title in zip(columns, titles, strict=True)]
    for key in finder.settings.resigned_keys:
        label, shares = KEYS[key].label, finder.settings.regenerated
        seconds = [
            (
                Cell(f"{share} %"),
                *(finder.cell(finder.case(server, resign_kind(share, verified=verified), key), WALL)
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
                    )
                    for server, verified in columns
                ),
            )
            for share in shares
        ]
        tables.append(finder.table(f"{label}: time in seconds", ("made anew", *titles), seconds))
        ratio_title = f"{label}: time as a ratio to the same signer's full signing, {CHAINS[RESIGNED_CHAIN]}"
        tables.append(finder.table(ratio_title, ("made anew", PUBLISHED, *titles), ratios))
    return Section(
        "Re-signing: table 2",
        (
            "Above 1, re-signing takes longer than signing afresh would. A signer that verifies each signature it "
            "keeps pays what its library takes to verify; with RSA that is a small part of what signing takes.",
        ),
        drawings=tuple(resigning(finder, named, key) for key in finder.settings.resigned_keys) if columns else (),
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

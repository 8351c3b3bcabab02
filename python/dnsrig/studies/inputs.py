"""The zones and query streams of a run: made from the user's files or synthetic, kept in the run's folder."""

from dataclasses import dataclass
from pathlib import Path

from dnsrig import _core
from dnsrig.keys import add_new_keys
from dnsrig.runs.folder import RunFolder
from dnsrig.studies.settings import ZSK_BITS, ZoneStudySettings

SYNTHETIC_ORIGIN = "example.test."
WARM_UP_QUERIES = 50_000
# The warm-up sends other names than the measured load, so that no answer of the latter is in a server's cache.
WARM_UP_SEED_STEP = 1


@dataclass(frozen=True, slots=True)
class Variant:
    """One form of the zone: unsigned, or signed with one kind of denial of existence."""

    denial: str
    iterations: int | None

    @property
    def label(self) -> str:
        """Name the variant in file names and tables: `none`, `nsec`, `nsec3-5`."""
        return self.denial if self.iterations is None else f"{self.denial}-{self.iterations}"


@dataclass(frozen=True, slots=True)
class MeasuredStream:
    """A query stream with the other one that warms the server up for it."""

    queries: _core.QueryStream
    warm_up: _core.QueryStream


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the servers serve and are asked. Paths of signed zones by variant, streams by name."""

    origin: str
    zone_files: dict[Variant, Path]
    streams: dict[str, MeasuredStream]
    facts: dict[str, object]


def variants(settings: ZoneStudySettings) -> list[Variant]:
    """List the forms of the zone that the settings ask for, unsigned first."""
    found: list[Variant] = []
    for denial in settings.denials:
        if denial == "nsec3":
            found.extend(Variant(denial, iterations) for iterations in settings.iterations)
        else:
            found.append(Variant(denial, None))
    return found


def prepare(settings: ZoneStudySettings, run: RunFolder) -> Inputs:
    """Make the zones and streams of a run in `run`'s folder `inputs`, the same again for the same settings."""
    folder = run.path / "inputs"
    folder.mkdir(exist_ok=True)
    if settings.zone is None:
        zone = _core.Zone.generate(settings.origin or SYNTHETIC_ORIGIN, settings.records, settings.seed)
    else:
        zone = _core.Zone.read(settings.zone, settings.origin).without_dnssec()
        run.add_input(Path(settings.zone))
    if settings.queries is not None:
        run.add_input(Path(settings.queries))
    # Signing again for a resumed run would give other keys than the finished cases had.
    zone_files = {variant: folder / f"zone-{variant.label}.db" for variant in variants(settings)}
    if not all(path.exists() for path in zone_files.values()):
        _write_zones(zone, settings, zone_files, folder / "keys")
        for path in zone_files.values():
            run.add_input(path)
    streams, summaries = _make_streams(zone, settings)
    facts: dict[str, object] = {
        "zone": {"origin": zone.origin, "warnings": zone.warnings, **zone.statistics()},
        "zone_octets": {variant.label: path.stat().st_size for variant, path in zone_files.items()},
        "streams": summaries,
    }
    return Inputs(zone.origin, zone_files, streams, facts)


def _write_zones(zone: _core.Zone, settings: ZoneStudySettings, files: dict[Variant, Path], keys_folder: Path) -> None:
    keys = _core.KeySet()
    if any(variant.denial != "none" for variant in files):
        is_rsa = settings.algorithm.startswith("RSA")
        zsk_bits = settings.zsk_bits or (ZSK_BITS if is_rsa else None)
        add_new_keys(keys, zone.origin, settings.algorithm, settings.ksk_bits, zsk_bits)
        keys_folder.mkdir(exist_ok=True)
        keys.write(keys_folder)
    for variant, path in files.items():
        if variant.denial == "none":
            zone.write(path)
            continue
        signed = zone.sign(
            keys,
            denial=variant.denial,
            iterations=variant.iterations or 0,
            salt=settings.salt,
            opt_out=settings.opt_out and variant.denial == "nsec3",
        )
        signed.write(path)


def _make_streams(
    zone: _core.Zone, settings: ZoneStudySettings
) -> tuple[dict[str, MeasuredStream], dict[str, dict[str, object]]]:
    log = None if settings.queries is None else _core.QueryLog.read(settings.queries, settings.skip_bad)
    streams = {}
    summaries: dict[str, dict[str, object]] = {}
    for name in settings.streams:
        measured, summary = _make_stream(zone, log, settings, name, queries=settings.stream_queries, seed=settings.seed)
        warm_up, _ = _make_stream(
            zone, log, settings, name, queries=WARM_UP_QUERIES, seed=settings.seed + WARM_UP_SEED_STEP
        )
        streams[name] = MeasuredStream(measured, warm_up)
        summaries[name] = summary
    return streams, summaries


def _make_stream(
    zone: _core.Zone, log: _core.QueryLog | None, settings: ZoneStudySettings, kind: str, *, queries: int, seed: int
) -> tuple[_core.QueryStream, dict[str, object]]:
    return _core.QueryStream.synthesise(
        zone,
        log,
        kind=kind,
        queries=queries,
        denial_share=settings.denial_share,
        seed=seed,
        edns_size=settings.edns_size,
        do_bit=settings.do_bit,
    )

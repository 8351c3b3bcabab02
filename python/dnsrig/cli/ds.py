"""`dnsrig ds`: the DS records of keys."""

from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import TTL_S, json_option, key_directory_option, print_json
from dnsrig.errors import InputError
from dnsrig.key_files import REVOKE_FLAG, SEP_FLAG, is_key_name, key_flags, located


@click.command()
@click.argument("sources", metavar="KEYFILE|ZONEFILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-d",
    "--digest",
    "digests",
    multiple=True,
    metavar="TYPE",
    help="Digest type: 2 (SHA-256) [default], 4 (SHA-384), or 1 (SHA-1) with --allow-sha1; may be repeated.",
)
@key_directory_option
@click.option("--allow-sha1", is_flag=True, help="Allow digest type 1, which validators may ignore (RFC 9905).")
@click.option("-C", "--cds", is_flag=True, help="CDS records, by which the zone tells its parent (RFC 7344).")
@click.option("-A", "--all-keys", is_flag=True, help="All keys of a zone file, not just those with the SEP flag.")
@click.option("-T", "--ttl", type=TTL_S, default=None, help="TTL of the records [that of the DNSKEY record, or none].")
@json_option
def ds(
    sources: tuple[Path, ...],
    digests: tuple[str, ...],
    key_directory: Path | None,
    allow_sha1: bool,
    cds: bool,
    all_keys: bool,
    ttl: int | None,
    as_json: bool,
) -> None:
    """Print the DS records of keys, for the parent zone.

    Each argument is a key (K*.key, or the name without suffix that keygen prints), or the file of a signed zone. The
    TTL is that of the zone's DNSKEY records; a key file may have none, and then the DS record has none either.

    \b
    Examples:
      dnsrig ds -K keys Kexample.test.+013+12345
      dnsrig ds example.db.signed > dsset-example.test.
      dnsrig ds -d 2 -d 4 example.db.signed
      dnsrig ds -C Kexample.test.+013+12345.key
    """
    wanted = digests or ("2",)
    if not allow_sha1 and any(digest.upper() in {"1", "SHA-1", "SHA1"} for digest in wanted):
        raise InputError("-d 1: SHA-1 digests are not secure; choose 2 or 4, or add --allow-sha1")
    records = [
        record
        for source in (_located(source, key_directory) for source in sources)
        for record in _core.ds_records(source, wanted, cds=cds, all_keys=all_keys, ttl_s=ttl)
    ]
    if as_json:
        print_json({"records": records})
    else:
        for record in records:
            click.echo(record)


def _located(source: Path, folder: Path | None) -> Path:
    """Give the file of a key or of a zone, and warn of keys that DS records are not made of."""
    if source.is_file() and not is_key_name(source) and source.suffix not in {".key", ".private"}:
        # A zone file's name may be the beginning of a key file's.
        return source
    stem = located(source, folder)
    public = stem.with_name(f"{stem.name}.key")
    if not public.is_file():
        if is_key_name(source) and not source.exists():
            raise InputError(f"{source}: no such key; name its folder by -K")
        return source
    flags = key_flags(public)
    if not flags & SEP_FLAG:
        doubt = "a zone-signing key (no SEP flag), and DS records are made of key-signing keys"
    elif flags & REVOKE_FLAG:
        doubt = "revoked (RFC 5011), so validators do not take its DS record"
    else:
        return public
    click.echo(f"warning: {public}: this key is {doubt}", err=True)
    return public

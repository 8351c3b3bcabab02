"""`dnsrig keygen` and `dnsrig ds`: make keys, and the DS records of keys."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import KEY_BITS, Command, json_option, print_json
from dnsrig.cli.key_times import FORMS, key_time, odd_order
from dnsrig.cli.sections import SectionedCommand, section
from dnsrig.errors import DnsrigError, InputError
from dnsrig.keys import ALGORITHM, new_key

TTL_S = click.IntRange(0, 2**31 - 1)
KEY = section("Key")
TIMES = section(f"Times: {FORMS}")
TOKEN = section("Hardware security module")


def timing_options(command: Command) -> Command:
    """Add the options for a key's times, as BIND has them."""
    options: tuple[tuple[str, str, str, str], ...] = (
        ("-P", "--publish", "Publish", "The key enters the zone [now]."),
        ("-A", "--activate", "Activate", "It begins to sign [now]."),
        ("-R", "--revoke", "Revoke", "It is revoked (RFC 5011)."),
        ("-I", "--inactive", "Inactive", "It stops signing."),
        ("-D", "--delete", "Delete", "It leaves the zone."),
        ("", "--sync-publish", "SyncPublish", "CDS and CDNSKEY records appear ('-P sync')."),
        ("", "--sync-delete", "SyncDelete", "They disappear ('-D sync')."),
    )
    for short, long, event, text in reversed(options):
        names = tuple(name for name in (short, long) if name)
        command = TIMES(*names, event.lower(), metavar="DATE", callback=_noted(event), help=text)(command)
    return command


def _noted(event: str) -> Callable[[click.Context, click.Parameter, str | None], None]:
    """Give a callback that keeps the time of `event` in the context's `timing`."""

    def note(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.meta.setdefault("timing", {})[event] = key_time(value)

    return note


@click.command(cls=SectionedCommand)
@click.argument("zone")
@KEY("-a", "--algorithm", default=None, metavar="NAME", help=f"Algorithm by mnemonic or number [{ALGORITHM}].")
@KEY("-b", "--bits", type=KEY_BITS, default=None, help="Size of an RSA key: 1024 to 4096 [2048].")
@KEY("-f", "--flag", type=click.Choice(["KSK"], case_sensitive=False), help="KSK: a key-signing key (SEP flag).")
@KEY("--csk", is_flag=True, help="A key that signs alone: a KSK in a zone without ZSK of its algorithm.")
@KEY("--allow-sha1", is_flag=True, help="Allow RSASHA1 and NSEC3RSASHA1, which validators reject (RFC 9905).")
@KEY(
    "-K",
    "--key-directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Where the key's files are written; tags of the zone's keys there are avoided [.].",
)
@KEY("-L", "--ttl", type=TTL_S, default=None, help="TTL of the DNSKEY record in the .key file [the zone's].")
@click.option("-n", "name_type", type=click.Choice(["ZONE"], case_sensitive=False), expose_value=False, hidden=True)
@click.option("-3", "nsec3", is_flag=True, expose_value=False, hidden=True)
@click.option("-q", "quiet", is_flag=True, expose_value=False, hidden=True)
@timing_options
@TIMES("-G", "generate_only", is_flag=True, help="Neither publish nor activate the key yet.")
@TOKEN("--pkcs11", metavar="URI", default=None, help="Make the key in a token, under the name that URI has (RFC 7512).")
@TOKEN("--existing", is_flag=True, help="Write the files of a key that is in the token already.")
@json_option
@click.pass_context
def keygen(
    context: click.Context,
    /,
    zone: str,
    algorithm: str | None,
    bits: int | None,
    flag: str | None,
    csk: bool,
    allow_sha1: bool,
    key_directory: Path,
    ttl: int | None,
    generate_only: bool,
    pkcs11: str | None,
    existing: bool,
    as_json: bool,
    **_times: Any,  # noqa: ANN401 (kept in the context by their callbacks)
) -> None:
    """Make a key for ZONE and print the name of its files, K<zone>+<algorithm>+<tag>, as dnssec-keygen does.

    The files are BIND's: .key with the DNSKEY record, .private (mode 0600) with the private key. Existing files are
    never overwritten. Without -f KSK or --csk the key is a zone-signing key. With --pkcs11 the private key stays in
    the token, and .private has the URI; give the PIN by pin-source=FILE, as anybody can see command lines.

    \b
    Examples:
      dnsrig keygen -f KSK example.test
      dnsrig sign example.db $(dnsrig keygen --csk example.test)
      dnsrig keygen -a RSASHA256 -b 1280 -K keys -P now -A now+2d -I now+90d example.test
      dnsrig keygen --pkcs11 'pkcs11:token=dns;object=zsk1?pin-source=/etc/dns/pin' example.test
    """
    if existing and pkcs11 is None:
        raise click.UsageError("--existing needs --pkcs11 URI, which names the key")
    if existing and bits is not None:
        raise click.UsageError("-b is for new keys; leave it out with --existing")
    timing = _timing(context, generate_only)
    made = _core.KeySet()
    new_key(
        made,
        zone,
        algorithm=algorithm,
        bits=bits,
        role="ksk" if flag or csk else "zsk",
        folder=key_directory,
        timing=timing,
        ttl_s=ttl,
        pkcs11=pkcs11,
        existing=existing,
        allow_sha1=allow_sha1,
    )
    facts = made.describe()[0]
    for oddity in odd_order(facts["timing"]):
        click.echo(f"warning: {facts['file_name']}: {oddity}", err=True)
    try:
        made.write(key_directory)
    except DnsrigError as error:
        if pkcs11 and not existing:
            hint = f"{error}; the key is in the token, so write its files by the same command with --existing"
            raise type(error)(hint) from error
        raise
    if as_json:
        stem = key_directory / facts["file_name"]
        print_json({**facts, "files": [f"{stem}.key", f"{stem}.private"], "ds": made.ds_records})
    else:
        click.echo(facts["file_name"])


def _timing(context: click.Context, generate_only: bool) -> dict[str, int | None]:
    given: dict[str, int | None] = context.meta.get("timing", {})
    if not generate_only:
        return given
    if {"Publish", "Activate"} & given.keys():
        raise click.UsageError("-G leaves out the times that -P and -A set; give one or the other")
    return {**given, "Publish": None, "Activate": None}


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
@click.option("--allow-sha1", is_flag=True, help="Allow digest type 1, which validators may ignore (RFC 9905).")
@click.option("-C", "--cds", is_flag=True, help="CDS records, by which the zone tells its parent (RFC 7344).")
@click.option("-A", "--all-keys", is_flag=True, help="All keys of a zone file, not just those with the SEP flag.")
@click.option("-T", "--ttl", type=TTL_S, default=None, help="TTL of the records [that of the DNSKEY record, or 3600].")
@json_option
def ds(
    sources: tuple[Path, ...],
    digests: tuple[str, ...],
    allow_sha1: bool,
    cds: bool,
    all_keys: bool,
    ttl: int | None,
    as_json: bool,
) -> None:
    """Print the DS records of keys, for the parent zone.

    Each argument is a key (K*.key, or the name without suffix that keygen prints), or the file of a signed zone.

    \b
    Examples:
      dnsrig ds Kexample.test.+013+12345
      dnsrig ds -d 2 -d 4 example.db.signed
      dnsrig ds -C Kexample.test.+013+12345.key
    """
    wanted = digests or ("2",)
    if not allow_sha1 and any(digest.upper() in {"1", "SHA-1", "SHA1"} for digest in wanted):
        raise InputError("-d 1: SHA-1 digests are not secure; choose 2 or 4, or add --allow-sha1")
    records = [
        record
        for source in sources
        for record in _core.ds_records(source, wanted, cds=cds, all_keys=all_keys, ttl_s=ttl)
    ]
    if as_json:
        print_json({"records": records})
    else:
        for record in records:
            click.echo(record)

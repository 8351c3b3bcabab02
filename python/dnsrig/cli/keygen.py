"""`dnsrig keygen`: make keys."""

import sys
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import KEY_BITS, TTL_S, json_option, print_json
from dnsrig.cli.key_times import SECTION, TimedCommand, given_times, oddities, timing_options
from dnsrig.cli.sections import section
from dnsrig.cli.streams import check_output_is_open
from dnsrig.errors import DnsrigError
from dnsrig.keys import ALGORITHM, check_file_names, new_key

KEY = section("Key")
TOKEN = section("Hardware security module")


@click.command(cls=TimedCommand)
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
@timing_options(" [now]")
@SECTION("-G", "generate_only", is_flag=True, help="Neither publish nor activate the key yet.")
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
    check_output_is_open()
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
    check_file_names(made, key_directory)
    for oddity in oddities(facts["timing"], is_ksk=facts["role"] == "ksk"):
        click.echo(f"warning: {facts['file_name']}: {oddity}", err=True)
    try:
        made.write(key_directory)
    except DnsrigError as error:
        if pkcs11 and not existing:
            hint = f"{error}; the key is in the token, so write its files by the same command with --existing"
            raise type(error)(hint) from error
        raise
    stem = key_directory / facts["file_name"]
    files = [f"{stem}.key", f"{stem}.private"]
    try:
        _tell({**facts, "files": files, "ds": made.ds_records}, as_json)
    except OSError:
        # Nobody knows its name, and the next signing would use it.
        for file in [] if pkcs11 else files:
            Path(file).unlink()
        click.echo(f"the files of {facts['file_name']} are {'there' if pkcs11 else 'removed again'}", err=True)
        raise


def _tell(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(facts)
    else:
        click.echo(facts["file_name"])
        sys.stdout.flush()


def _timing(context: click.Context, generate_only: bool) -> dict[str, int | None]:
    given = given_times(context)
    if not generate_only:
        return given
    if {"Publish", "Activate"} & given.keys():
        raise click.UsageError("-G leaves out the times that -P and -A set; give one or the other")
    return {**given, "Publish": None, "Activate": None}

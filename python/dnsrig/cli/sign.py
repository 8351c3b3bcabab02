"""`dnsrig sign`: sign a zone file."""

from pathlib import Path

import click

from dnsrig import _core
from dnsrig.cli.common import EXISTING_FILE, KEY_BITS, json_option, print_json
from dnsrig.cli.times import signature_times
from dnsrig.errors import InputError
from dnsrig.keys import add_new_keys

ALGORITHMS = ("RSASHA256", "RSASHA512", "ECDSAP256SHA256", "ECDSAP384SHA384", "ED25519")


@click.command()
@click.argument("zonefile", type=EXISTING_FILE)
@click.argument("keys", nargs=-1, type=click.Path(dir_okay=False))
@click.option("-o", "--origin", default=None, help="Name of the zone's apex, if the file does not say it.")
@click.option(
    "-f", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Output; default ZONEFILE.signed."
)
@click.option(
    "-K",
    "--key-directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Where new keys are written; default: beside the output.",
)
@click.option("-a", "--algorithm", type=click.Choice(ALGORITHMS), default="RSASHA256", show_default=True)
@click.option("--ksk-bits", type=KEY_BITS, default=None, help="RSA key-signing key [default: 2048].")
@click.option("--zsk-bits", type=KEY_BITS, default=None, help="RSA zone-signing key [default: 1024].")
@click.option("-3", "--nsec3-salt", "salt", default=None, help="NSEC3 with this salt in hexadecimal, '-' for none.")
@click.option(
    "-H",
    "--iterations",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="NSEC3 iterations.",
)
@click.option("-A", "--opt-out", is_flag=True, help="NSEC3 opt-out: leave insecure delegations out of the chain.")
@click.option(
    "-s",
    "--start-time",
    default=None,
    help="Inception: YYYYMMDDHHMMSS, or now+N, now-N in seconds [now-3600].",
)
@click.option("-e", "--end-time", default=None, help="Expiration likewise; +N counts from the inception [+2592000].")
@json_option
def sign(
    zonefile: str,
    keys: tuple[str, ...],
    origin: str | None,
    output: Path | None,
    key_directory: Path | None,
    algorithm: str,
    ksk_bits: int | None,
    zsk_bits: int | None,
    salt: str | None,
    iterations: int,
    opt_out: bool,
    start_time: str | None,
    end_time: str | None,
    as_json: bool,
) -> None:
    """Sign ZONEFILE with KEYS (K*.private files of dnssec-keygen or of dnsrig), or with new keys when none are given.

    The flags are those of dnssec-signzone. Without -3 the chain is NSEC.

    \b
    Examples:
      dnsrig sign example.db                              new RSASHA256 keys, NSEC
      dnsrig sign -3 - -H 5 -f out.db example.db          NSEC3, 5 iterations, no salt
      dnsrig sign example.db Kexample.test.+013+12345.private
    """
    if salt is None and (opt_out or iterations):
        raise click.UsageError("-A and -H need NSEC3: add -3 SALT ('-3 -' for no salt)")
    zone = _core.Zone.read(zonefile, origin)
    for warning in zone.warnings:
        click.echo(f"warning: {warning}", err=True)
    target = output or Path(f"{zonefile}.signed")
    used = _core.KeySet()
    folder = key_directory or target.parent
    if keys:
        for path in keys:
            used.read(path)
    else:
        if not folder.is_dir():
            raise InputError(f"-K {folder}: no such folder; make it first")
        # Keys that the zone has could not sign it with ours (RFC 4035 section 2.2), so they go.
        zone = zone.without_dnssec()
        add_new_keys(used, zone.origin, algorithm, ksk_bits, zsk_bits)
    inception, expiration = signature_times(start_time, end_time)
    signed = zone.sign(
        used,
        denial="nsec" if salt is None else "nsec3",
        iterations=iterations,
        salt="" if salt in {None, "-"} else str(salt),
        opt_out=opt_out,
        inception=inception,
        expiration=expiration,
    )
    if not keys:
        used.write(folder)
    signed.write(target)
    summary = {
        "zone": zone.origin,
        "output": str(target),
        "records": signed.statistics()["records"],
        "signatures": signed.statistics()["types"].get("RRSIG", 0),
        "keys": used.file_names,
        "ds": used.ds_records,
    }
    if as_json:
        print_json(summary)
    else:
        click.echo(f"{target}: zone {zone.origin}, {summary['records']} records, {summary['signatures']} signatures")
        for record in used.ds_records:
            click.echo(record)

"""`dnsrig sign`: sign a zone file."""

import re
import time
from pathlib import Path
from typing import Any, Literal

import click

from dnsrig import _core
from dnsrig.cli.common import KEY_BITS, TTL_S, Command, WholeNumber, json_option, print_json
from dnsrig.cli.file_lock import alone_with
from dnsrig.cli.sections import SectionedCommand, section
from dnsrig.cli.sign_summary import key_lines
from dnsrig.cli.streams import report_on
from dnsrig.cli.times import (
    FORMS,
    check_validity,
    parse_duration,
    parse_time,
    present_s,
    signature_times,
)
from dnsrig.cli.zone_reading import (
    OUTPUT_FILE,
    ZONE_FILE,
    Reading,
    Size,
    ZoneProgress,
    claim_output,
    file_name,
    require_origin_of_stream,
    warn,
)
from dnsrig.keys import ALGORITHM, KSK_BITS, ZSK_BITS
from dnsrig.signing import REFRESH_SHARE, ChosenKeys, NewKeys, Signing, find_keys, read_keys
from dnsrig.wording import counted

KEY_FILE = click.Path(path_type=Path)
KEYS = section("Keys")
TIMES = section(f"Times: {FORMS}")
CHAIN = section("Chain of denial")
SIGNED = section("Input that is signed already")
PIECES = section("Signing by pieces")

OPTIONS = (
    click.option("-o", "--origin", default=None, help="Name of the zone's apex [the SOA record's owner]."),
    click.option("-f", "--output", type=OUTPUT_FILE, default=None, help="The file to write [ZONEFILE.signed]."),
    click.option(
        "-N",
        "--serial",
        type=click.Choice(["keep", "increment", "unixtime", "date"], case_sensitive=False),
        default="keep",
        show_default=True,
        help="The SOA record's serial number.",
    ),
    click.option("-n", "--threads", type=WholeNumber(1, 1024), default=None, help="Threads that work [one a CPU]."),
    click.option(
        "--memory",
        type=Size(),
        default=None,
        help="Memory for sorting, if ZONEFILE is not sorted [a quarter of what is available, at most 4G].",
    ),
    click.option(
        "--zonemd",
        type=click.Choice(["sha384", "sha512", "none"], case_sensitive=False),
        multiple=True,
        help="Digest of the zone (RFC 8976); may be repeated [those that the zone has].",
    ),
    click.option("--allow-sha1", is_flag=True, help="Allow keys with SHA-1, which validators reject (RFC 9905)."),
    click.option("--deterministic", is_flag=True, help="The same ECDSA signatures for the same data (RFC 6979)."),
    click.option("-P", "unverified", is_flag=True, expose_value=False, hidden=True),
    click.option(
        "-t", "statistics", is_flag=True, expose_value=False, help="Print statistics, as is done in any case."
    ),
    KEYS(
        "-K",
        "--key-directory",
        type=click.Path(file_okay=False, path_type=Path),
        default=None,
        help="Folder of the zone's keys [beside the output].",
    ),
    KEYS("-k", "--ksk", "key_signing", multiple=True, type=KEY_FILE, help="A key that signs keys, whatever its flag."),
    KEYS("-S", "smart", is_flag=True, help="Use the keys of the folder by their times, as without KEYS."),
    KEYS("-x", "ksk_only", is_flag=True, expose_value=False, help="Only KSKs sign the DNSKEY RRset, as in any case."),
    KEYS("-a", "--algorithm", default=None, metavar="NAME", help=f"Of new keys, by mnemonic or number [{ALGORITHM}]."),
    KEYS("--ksk-bits", type=KEY_BITS, default=None, help=f"Size of a new RSA key-signing key [{KSK_BITS}]."),
    KEYS("--zsk-bits", type=KEY_BITS, default=None, help=f"Size of a new RSA zone-signing key [{ZSK_BITS}]."),
    KEYS("--new-keys", is_flag=True, help="Make new keys though there are others, which the zone loses."),
    KEYS(
        "-L", "-T", "--dnskey-ttl", type=TTL_S, default=None, help="TTL of DNSKEY records [as in the zone, or SOA's]."
    ),
    KEYS("--cds", is_flag=True, help="Publish CDS and CDNSKEY records of the KSKs (RFC 7344)."),
    TIMES("-s", "--start-time", metavar="TIME", default=None, help="Inception; offsets count from now [now-1h]."),
    TIMES("-e", "--end-time", metavar="TIME", default=None, help="Expiration; +N counts from the inception [+30d]."),
    TIMES(
        "-X",
        "--dnskey-end-time",
        metavar="TIME",
        default=None,
        help="Expiration of signatures of DNSKEY, CDS and CDNSKEY records [-e].",
    ),
    TIMES("--now", metavar="TIME", default=None, help="When it is signed, for these times and those of keys [now]."),
    TIMES("-j", "--jitter", metavar="DURATION", default=None, help="Spread expirations over so long before the end."),
    CHAIN("-3", "--nsec3-salt", "salt", metavar="SALT", default=None, help="NSEC3; hexadecimal, - for no salt."),
    CHAIN("--nsec", "nsec", is_flag=True, help="NSEC, also where ZONEFILE has NSEC3 [the chain it has; NSEC]."),
    CHAIN("-H", "--iterations", type=WholeNumber(0, 65535), default=0, help="Additional iterations [0]."),
    CHAIN("-A", "--opt-out", is_flag=True, help="Leave insecure delegations out of the chain."),
    SIGNED(
        "-i", "--interval", metavar="DURATION", default=None, help="Renew what ends sooner [a quarter of what is left]."
    ),
    SIGNED("--verify-kept", is_flag=True, help="Verify all signatures kept, also those the state file vouches for."),
    SIGNED(
        "--changes",
        type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
        default=None,
        help="Change the zone by this file (- is standard input), records after - and +, and sign nothing else anew.",
    ),
    SIGNED(
        "--previous",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        default=None,
        metavar="FILE",
        help="Take the signatures, the chain and the state file of this signed earlier version; ZONEFILE has none.",
    ),
    SIGNED("--no-state", is_flag=True, help="Neither use nor write the state file, OUTPUT.state."),
    PIECES("--chain-only", is_flag=True, help="Put in keys and chain, without signatures."),
    PIECES("--given-chain", is_flag=True, help="Sign with the chain that is there, as it is."),
)


def sign_options(command: Command) -> Command:
    """Add all of them."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command(cls=SectionedCommand)
@click.argument("zonefile", type=ZONE_FILE)
@click.argument("keys", nargs=-1, type=KEY_FILE)
@sign_options
@json_option
def sign(*, zonefile: Path, keys: tuple[Path, ...], as_json: bool, **options: Any) -> None:  # noqa: ANN401 (click passes what OPTIONS names)
    """Sign ZONEFILE with KEYS, the names of key files of dnssec-keygen or of dnsrig, PKCS#11 keys included.

    Most options are those of dnssec-signzone; -a and -L mean something else here, and docs/guide/signing.md lists those
    that are missing. Without KEYS those of the zone in the folder of keys sign by their times, as with dnssec-signzone
    -S; if there are none, new ones are made there, a KSK and a ZSK. ZONEFILE and the output may be - for standard input
    and output. The output is in canonical order, and has its name only when it is complete.

    Signatures of a signed ZONEFILE are kept while they are valid, last for the interval, and cover what the zone has;
    its chain is kept and repaired unless -3 or --nsec asks for another. A state file beside the output tells the next
    signing which are valid.

    \b
    Examples:
      dnsrig sign example.db                          keys beside it, or new ones; NSEC, or the chain it has
      dnsrig sign -3 - -f out.db example.db           NSEC3 without salt
      dnsrig sign example.db Kexample.test.+013+12345
      dnsrig sign -K keys -N increment -j 12h -f example.db.signed example.db.signed
      dnsrig sign -K keys -f example.db.signed --previous example.db.signed new.db
    """
    output = options["output"] or Path("-" if str(zonefile) == "-" else f"{zonefile}.signed")
    claim_output(output, as_json)
    _check_fit(options)
    _check_changes(zonefile, options["changes"], output)
    if options["smart"] and (keys or options["key_signing"]):
        raise click.UsageError("-S takes all keys of the folder: leave out KEYS and -k, or -S")
    inputs = [zonefile] if options["previous"] is None else [zonefile, options["previous"]]
    # Two at once would each make new keys for the zone, or one would undo the changes of the other.
    with alone_with(inputs, "another signing"):
        present = present_s()
        now_s = present if options["now"] is None else parse_time(options["now"], "--now", present, present)
        chosen = _choose_keys(zonefile, keys, output, now_s, options)
        if options["deterministic"]:
            chosen.keys.make_deterministic()
        signing = _signing(chosen, now_s, options)
        for warning in chosen.warnings:
            click.echo(f"warning: {warning}", err=True)
        check_validity(signing, present)
        began = time.monotonic()
        with ZoneProgress("sign", [zonefile]) as progress:
            reading = Reading(options["origin"], options["memory"], options["threads"], progress.update)
            signed = _core.sign_zone(zonefile, output, chosen.keys, signing, reading)
        seconds = time.monotonic() - began
    if options["chain_only"] or options["given_chain"]:
        # The parent's records are of the zone, not of a piece of it: `dnsrig ds` makes them of the joined one.
        signed["ds"] = []
    trouble = signed.pop("trouble")
    if trouble is not None:
        click.echo(f"warning: {trouble}", err=True)
    lines = key_lines(chosen, signing, signed)
    with report_on(f"{file_name(output)} is complete"):
        _report(zonefile, output, signed, lines, seconds, as_json)


def _check_changes(zonefile: Path, changes: Path | None, output: Path) -> None:
    """Refuse a file of changes that is the output, or standard input where the zone comes from there."""
    if changes is None:
        return
    if str(changes) == "-":
        if str(zonefile) == "-":
            raise click.UsageError("standard input is either the zone or its changes: name a file for one of them")
    elif output.exists() and output.samefile(changes):
        raise click.UsageError(f"{output} is the file of changes, which would be lost: name another output by -f")


def _check_fit(options: dict[str, Any]) -> None:
    """Refuse options that contradict each other."""
    is_nsec3 = options["salt"] is not None
    if is_nsec3 and re.match("-.", options["salt"]):
        raise click.UsageError(f"-3 takes a salt, and {options['salt']} is an option: write '-3 -' for no salt")
    if not is_nsec3 and (options["opt_out"] or options["iterations"]):
        raise click.UsageError("-A and -H need NSEC3: add -3 SALT ('-3 -' for no salt)")
    if is_nsec3 and options["nsec"]:
        raise click.UsageError("-3 and --nsec are two chains: leave out one")
    if options["given_chain"] and (is_nsec3 or options["nsec"] or options["chain_only"]):
        raise click.UsageError("--given-chain takes the chain that is there: leave out -3, --nsec and --chain-only")
    if options["given_chain"] and (options["cds"] or options["changes"] is not None):
        raise click.UsageError(
            "--given-chain keeps the chain as it is, but --cds and --changes need another: leave these out, or "
            "--given-chain"
        )
    if options["previous"] is not None and (options["changes"] is not None or options["given_chain"]):
        raise click.UsageError(
            "--previous has the signatures for a new version of the zone: leave out --changes and --given-chain"
        )
    if "none" in options["zonemd"] and len(options["zonemd"]) > 1:
        raise click.UsageError("--zonemd none leaves no digest: leave out the other --zonemd, or this")
    if options["no_state"] and options["verify_kept"]:
        raise click.UsageError("--no-state verifies all signatures kept anyway: leave out --verify-kept")


def _choose_keys(
    zonefile: Path, keys: tuple[Path, ...], output: Path, now_s: int, options: dict[str, Any]
) -> ChosenKeys:
    new = NewKeys(options["algorithm"], options["ksk_bits"], options["zsk_bits"])
    if keys or options["key_signing"]:
        if new.is_chosen or options["new_keys"]:
            raise click.UsageError(
                "-a, --ksk-bits, --zsk-bits and --new-keys are for new keys: leave out KEYS, or these"
            )
        return read_keys(keys, options["key_signing"], options["key_directory"], now_s=now_s)
    require_origin_of_stream(zonefile, options["origin"], "keys")
    is_file = str(output) != "-" and (output.is_file() or not output.exists())
    folder = options["key_directory"] or (output.parent if is_file else Path())
    origin = _core.zone_apex(zonefile, options["origin"])
    return find_keys(folder, origin, new, replace=options["new_keys"], allow_sha1=options["allow_sha1"], now_s=now_s)


def _signing(chosen: ChosenKeys, now_s: int, options: dict[str, Any]) -> Signing:
    inception, expiration = signature_times(options["start_time"], options["end_time"], now_s)
    interval = options["interval"]
    keys_end = options["dnskey_end_time"]
    keys_expiration = None if keys_end is None else signature_times(options["start_time"], keys_end, now_s, "-X")[1]
    salt = options["salt"]
    return Signing(
        chain=_chain(options),
        iterations=options["iterations"],
        salt="" if salt in {None, "-"} else salt,
        opt_out=options["opt_out"],
        signs=not options["chain_only"],
        inception=inception,
        expiration=expiration,
        now_s=now_s,
        keys_expiration=keys_expiration,
        refresh_s=_refresh_s(inception, expiration, now_s) if interval is None else parse_duration(interval, "-i"),
        jitter_s=0 if options["jitter"] is None else parse_duration(options["jitter"], "-j"),
        verifies_kept=options["verify_kept"],
        has_state=not (options["no_state"] or options["chain_only"]),
        serial=options["serial"],
        dnskey_ttl_s=options["dnskey_ttl"],
        allows_sha1=options["allow_sha1"],
        publishes_cds=options["cds"],
        zonemd=[hash_ for hash_ in options["zonemd"] if hash_ != "none"] if options["zonemd"] else None,
        by_times=chosen.by_times,
        other_keys=chosen.other_keys,
        saves_keys_in=chosen.saves_keys_in,
        changes=options["changes"],
        previous=options["previous"],
    )


def _refresh_s(inception: int, expiration: int, now_s: int) -> int:
    """Give the default interval: a quarter of the validity, or of what of it is left, if they begin long ago."""
    validity_s, left_s = ((expiration - start_s) % 2**32 for start_s in (inception, now_s))
    has_expired = left_s >= 2**31
    return (validity_s if has_expired else min(validity_s, left_s)) // REFRESH_SHARE


def _chain(options: dict[str, Any]) -> Literal["nsec", "nsec3", "given", "kept"]:
    if options["given_chain"]:
        return "given"
    if options["salt"] is not None:
        return "nsec3"
    return "nsec" if options["nsec"] else "kept"


def _chain_words(signed: dict[str, Any]) -> str:
    """Say which chain the zone has."""
    if signed["chain"] != "nsec3":
        return {"nsec": "NSEC", "given": "chain as given"}[signed["chain"]]
    iterations = f", {counted(signed['iterations'], 'iteration')}" if signed["iterations"] else ""
    salt = f", salt {signed['salt']}" if signed["salt"] else ""
    return f"NSEC3{' with opt-out' if signed['opt_out'] else ''}{iterations}{salt}"


def _report(
    zonefile: Path, output: Path, signed: dict[str, Any], lines: list[str], seconds: float, as_json: bool
) -> None:
    signatures = signed["made"] + signed["kept"]
    signatures_per_s = signed["made"] / seconds
    if as_json:
        figures = {"signatures": signatures, "seconds": seconds, "signatures_per_s": signatures_per_s}
        print_json({"file": str(zonefile), "output": str(output), **signed, **figures})
        return
    warn(signed)
    # Standard output may have the zone.
    to_error = str(output) == "-"
    made, kept, verified, dropped = (f"{signed[what]:,}" for what in ("made", "kept", "verified", "dropped"))
    click.echo(
        f"{file_name(output)}: zone {signed['zone']}, serial {signed['serial']}, {_chain_words(signed)}, "
        f"{counted(signed['records'], 'record')}, {counted(signatures, 'signature')}: "
        f"{made} made, {kept} kept ({verified} verified), {dropped} dropped; "
        f"{seconds:.2f} s" + (f", {signatures_per_s:,.0f} signatures/s" if signed["made"] else ""),
        err=to_error,
    )
    for line in (*lines, *signed["ds"]):
        click.echo(line, err=to_error)

"""`dnsrig traffic anonymize`: captures without anything that tells who asked."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from dnsrig import _core
from dnsrig.cli.common import UTF8, json_option, path_text, print_json
from dnsrig.cli.format import count
from dnsrig.cli.streams import report_on, say
from dnsrig.cli.traffic.captures import FILES, OUTPUT, claim_outputs
from dnsrig.cli.traffic.reading import CaptureReading, reading_options, warn_of_files, work
from dnsrig.cli.zone_reading import file_name, require_folder

KEY_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@FILES
@OUTPUT
@click.option("-k", "--key", type=KEY_FILE, help="The key file.  [default: a new key, used once and forgotten]")
@click.option("--make-key", is_flag=True, help="Make the key file, readable for you alone, if there is none.")
@click.option(
    "--names",
    type=click.Choice(("keep", "pseudonyms")),
    default="keep",
    show_default=True,
    help="keep: names stay readable but for addresses in them. pseudonyms: labels below the public suffix get others.",
)
@click.option(
    "--keep", type=UTF8, metavar="SUFFIX", multiple=True, help="Leave this suffix readable, too; may be given again."
)
@reading_options
@json_option
def anonymize(
    files: tuple[Path, ...],
    output: Path,
    key: Path | None,
    make_key: bool,
    names: str,
    keep: tuple[str, ...],
    ports: tuple[int, ...],
    threads: int | None,
    as_json: bool,
) -> None:
    """Write the DNS messages of the captures FILE... to a pcap file without anything that tells who asked.

    Addresses of both families are mapped by Crypto-PAn: prefixes stay prefixes, no two addresses become one, and the
    same key always gives the same outcome. So are addresses in client subnets, records and names. Cookies and ids get
    pseudonyms; Ethernet addresses, options that are not known, texts and message signatures do not pass. The output is
    searched for originals before it gets its name.

    \b
    Example:
      dnsrig traffic anonymize -k site.key --make-key day.pcap.zst -f shared.pcap
      dnsrig traffic anonymize --names pseudonyms day.pcap | zstd > shared.pcap.zst
    """
    if make_key and key is None:
        raise click.UsageError("--make-key needs the name of the key file: give it by -k.")
    if keep and names == "keep":
        raise click.UsageError("--keep says which names stay readable among pseudonyms: add --names pseudonyms.")
    claim_outputs([output], files if key is None or not key.exists() else (*files, key), as_json=as_json)
    # One that is yet to be made.
    if key is not None and str(output) != "-" and output.resolve() == key.resolve():
        raise click.UsageError(f"{output} is the key file, which would be overwritten: name another file by -f.")
    if make_key and key is not None:
        require_folder(key, "-k")
    reading = CaptureReading(ports, threads)
    settings = json.dumps({"names": names, "keep": keep})
    result = work(
        "anonymize",
        files,
        lambda on_progress: _core.traffic_anonymise(
            files,
            output,
            key=key,
            make_key=make_key,
            read=reading.to_json(),
            settings=settings,
            on_progress=on_progress,
        ),
    )
    is_printed = str(output) == "-"
    with report_on("standard output is complete" if is_printed else f"{output} is complete"):
        warn_of_files(result["read"]["files"])
        if as_json:
            print_json({"output": path_text(output), **result})
            return
        for line in _lines(result, output, key):
            say(line) if is_printed else click.echo(line)


def _lines(result: Mapping[str, Any], output: Path, key: Path | None) -> Iterator[str]:
    """Say what was done."""
    messages, check = result["messages"], result["check"]
    if result["made_key"]:
        yield f"{key}: a new key; who has it can undo what was done, who has not can do nothing like it again"
    yield f"{file_name(output)}: {count(messages['written'])} messages in {count(check['packets'])} packets"
    left_out = {reason: number for reason, number in messages.items() if number and reason != "written"}
    for what, reasons in (("messages", left_out), ("packets", result["left_out"])):
        shown = [f"{count(number)} {reason.replace('_', ' ')}" for reason, number in reasons.items() if number]
        if shown:
            yield f"left out: {what}: {', '.join(shown)}"
    contents = result["contents"]
    replaced = {
        "names": contents["names"],
        "addresses in records": contents["addresses"],
        "client subnets": contents["options"]["subnets"],
        "cookies and ids": contents["options"]["pseudonyms"],
        "options hidden": contents["options"]["hidden"],
        "record data hidden": contents["hidden_data"] + contents["odd_data"],
        "message signatures": contents["signatures"],
    }
    shown = [f"{what}: {count(number)}" for what, number in replaced.items() if number]
    if shown:
        yield f"replaced: {', '.join(shown)}"
    if result["in_clear"]:
        yield f"of encrypted transports, written as if sent in clear: {count(result['in_clear'])}"
    looked_at = f"{count(check['addresses'])} addresses, all pseudonyms"
    yield f"searched: {looked_at}; none of {count(check['originals'])} originals in {count(check['forms'])} forms found"

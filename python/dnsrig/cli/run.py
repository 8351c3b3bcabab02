"""`dnsrig run` and `dnsrig studies`."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from dnsrig.cli.common import (
    CLIENTS,
    EXISTING_FILE,
    KEY_BITS,
    OUTSTANDING,
    FiniteRange,
    WholeNumber,
    chosen_seed,
    comma_list,
    json_option,
    print_json,
    print_table,
    seed_option,
    whole_numbers,
)
from dnsrig.cli.run_functionality import print_published
from dnsrig.cli.run_help import SINGLES, StudyCommand, choices_of
from dnsrig.cli.run_resolvers import resolver_options
from dnsrig.cli.stream import KINDS
from dnsrig.cli.streams import check_output_is_open
from dnsrig.cli.watch import TerminalWatcher
from dnsrig.cli.zone_generate import NAMES_MAX
from dnsrig.errors import InputError, SubjectFailedError
from dnsrig.keys import ALGORITHMS
from dnsrig.loads import TRANSPORTS
from dnsrig.report.answer_tables import as_tables
from dnsrig.report.figures import short_number
from dnsrig.studies import conduct
from dnsrig.studies.base import Study
from dnsrig.studies.encrypted.settings import CERTIFICATES, PARTS
from dnsrig.studies.plan import Plan
from dnsrig.studies.registry import studies as all_studies
from dnsrig.studies.registry import study as find_study
from dnsrig.studies.settings import SHORTEST_LOAD_S, StudySettings
from dnsrig.studies.signing.settings import CHAINS, KEYS
from dnsrig.studies.signing.settings import PARTS as SIGNING_PARTS
from dnsrig.verification.item import ROLES

DENIALS = ("none", "nsec", "nsec3")
LISTS: Mapping[str, tuple[str, ...]] = {
    "denials": DENIALS,
    "streams": KINDS,
    "iterations": (),
    "transports": TRANSPORTS,
    "parts": PARTS,
    "certificates": CERTIFICATES,
    "threads": (),
    "steps": (),
    "keys": (),
    "chains": (),
    "regenerated": (),
    "roles": ROLES,
    "rates": (),
    "signed": (),
    "hit_shares": (),
    "methods": (),
    "floods": (),
    "conditions": (),
}
"""Settings that are lists, with the values that they may have; none: any."""
PROGRAMS = ("servers", "signers")
"""Options that name the programs under test."""
OPTIONS = {
    "denials": "--denial",
    "streams": "--stream",
    "transports": "--transport",
    "parts": "--part",
    "certificates": "--certificate",
    "keys": "--key",
    "chains": "--chain",
    "roles": "--role",
    "rates": "--rate",
    "hit_shares": "--hit-share",
    "methods": "--warm-up",
    "floods": "--flood",
    "conditions": "--condition",
    "attempts_per_s": "--attempts-per-second",
    "load_s": "--load-seconds",
    "warm_up_s": "--warm-up-seconds",
    "steady_s": "--steady-seconds",
    "internet_memory_mib": "--internet-memory",
}
"""Options that are not called like their settings."""


@click.command(cls=StudyCommand)
@click.argument("study", required=False)
@click.option(
    "--server",
    "servers",
    multiple=True,
    callback=comma_list,
    help="Servers, such as bind,dnsdist+nsd [default: all authoritative ones that are found, or for the studies of "
    "resolvers all resolvers; for encrypted-cost also unbound and dnsdist; for functionality all of any role].",
)
@click.option(
    "--signer",
    "signers",
    multiple=True,
    callback=comma_list,
    help="For signing: dnsrig,bind,ldns,knot,dnst [those found].",
)
@click.option(
    "--quick", is_flag=True, help="Few and short repetitions, for a look: a minute or two a server; --dry-run says."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="Folder that the run's own folder is made in.",
)
@click.option("--dry-run", is_flag=True, help="Print which cases would be measured and about how long it takes; end.")
@click.option("--resume", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Go on with this run.")
@click.option("--zone", type=EXISTING_FILE, help="A zone file of your own, signed or not [default: synthetic].")
@click.option("-o", "--origin", help="Name of the zone's apex, if the file does not say it.")
@click.option("--queries", type=EXISTING_FILE, help="A query log of your own, in dnsperf's format.")
@click.option(
    "--skip-bad",
    is_flag=True,
    default=None,
    help="Leave out the log's bad lines instead of stopping at them.",
)
@click.option("--records", type=WholeNumber(40, 100_000), help="Size of the synthetic zone [244].")
@click.option("--algorithm", type=click.Choice(ALGORITHMS), help="Signing algorithm [RSASHA256].")
@click.option("--ksk-bits", type=KEY_BITS, help="RSA key-signing key [2048].")
@click.option("--zsk-bits", type=KEY_BITS, help="RSA zone-signing key [1024].")
@click.option(
    "--denial", "denials", multiple=True, callback=comma_list, help=f"Forms of the zone, of {','.join(DENIALS)}."
)
@click.option(
    "--iterations",
    multiple=True,
    callback=whole_numbers(0, 65_535, "0,1,5,10"),
    help="NSEC3 iterations, such as 0,1,5,10.",
)
@click.option("--salt", help="NSEC3 salt in hexadecimal [none].")
@click.option("--opt-out", is_flag=True, default=None, help="NSEC3 opt-out.")
@click.option("--stream", "streams", multiple=True, callback=comma_list, help=f"Query streams, of {','.join(KINDS)}.")
@click.option("--denial-share", type=FiniteRange(0, 1), help="Share of denial in 'normal' without a log [0.08].")
@click.option("--repetitions", type=WholeNumber(1, 1000), help="How often each case is measured.")
@click.option("--load-seconds", "load_s", type=FiniteRange(SHORTEST_LOAD_S, 86_400), help="Length of each load.")
@click.option("--warm-up-seconds", "warm_up_s", type=FiniteRange(0, 86_400), help="Unmeasured load before each.")
@click.option("--outstanding", type=OUTSTANDING, help="Queries outstanding in the closed loop [100].")
@click.option("--clients", type=CLIENTS, help="Sockets or connections [8].")
@click.option(
    "--threads",
    multiple=True,
    callback=whole_numbers(1, 1024, "1,2,4"),
    help="Worker threads of the server [1]; a list for encrypted-cost and signing [powers of two].",
)
@click.option(
    "--answers",
    type=click.Choice(["server", "full"]),
    help="'full': NS and addresses in each answer [server].",
)
@click.option(
    "--transport",
    "transports",
    multiple=True,
    callback=comma_list,
    help="udp or tcp [udp]; for encrypted-cost a list [udp,tcp,dot,doh,doq]; for validation-cost also dot, doh and "
    "shares of clients such as udp=80+dot=20.",
)
@click.option("--raise-limits", is_flag=True, default=None, help="Raise servers' own limits on NSEC3 iterations.")
@click.option(
    "--part",
    "parts",
    multiple=True,
    callback=comma_list,
    help=f"Parts of encrypted-cost, of {','.join(PARTS)}; of signing, of {','.join(SIGNING_PARTS)}.",
)
@click.option(
    "--certificate",
    "certificates",
    multiple=True,
    callback=comma_list,
    help=f"Certificates' keys in encrypted-cost, of {','.join(CERTIFICATES)}; the first one for all cases.",
)
@click.option("--sessions", type=WholeNumber(1, 1000), help="In encrypted-cost, at once with one query each [256].")
@click.option("--queries-per-session", type=WholeNumber(2, 1_000_000), help="In encrypted-cost, re-used [2000].")
@click.option(
    "--steps",
    multiple=True,
    callback=whole_numbers(1, 65_535, "1,8,64"),
    help="DoT queries in flight beside UDP in encrypted-cost [1,8,64,512,4096].",
)
@click.option(
    "--attempts-per-second",
    "attempts_per_s",
    type=FiniteRange(1, 10_000),
    help="Connections in encrypted-cost that come to nothing [1800].",
)
@click.option("--names", type=WholeNumber(100, NAMES_MAX), help="For signing: delegations of the zone [55000].")
@click.option(
    "--key", "keys", multiple=True, callback=comma_list, help=f"For signing: zone-signing keys, of {','.join(KEYS)}."
)
@click.option(
    "--chain",
    "chains",
    multiple=True,
    callback=comma_list,
    help=f"For signing: chains of denial, of {','.join(CHAINS)}.",
)
@click.option(
    "--regenerated",
    multiple=True,
    callback=whole_numbers(0, 100, "0,20,100"),
    help="For signing: per cent of the signatures that re-signing makes anew [0,20,40,80,100].",
)
@resolver_options
@click.option(
    "--role", "roles", multiple=True, callback=comma_list, help=f"For functionality: of {','.join(ROLES)} [all]."
)
@seed_option
@json_option
def run(
    study: str | None,
    resume: Path | None,
    out: Path,
    quick: bool,
    dry_run: bool,
    seed: int | None,
    as_json: bool,
    **choices: Any,  # noqa: ANN401 (one option each, of any type)
) -> None:
    """Run STUDY, or go on with a broken-off run, and write its report.

    \b
    Examples:
      dnsrig run denial-cost --quick                        every server found, synthetic zone
      dnsrig run denial-cost --server nsd,knot --zone example.db --queries log.txt
      dnsrig run nsec3-iterations --server bind --iterations 0,1,5,10,50,100
      dnsrig run encrypted-cost --server nsd,dnsdist+nsd --transport udp,tcp,dot
      dnsrig run functionality --server bind,unbound --role authoritative,resolver
      dnsrig run signing --signer dnsrig,bind --names 550000
      dnsrig run signing --quick --dry-run                  what it would measure, and how long
      dnsrig run --resume runs/20261121-214500-denial-cost

    A run is a folder; its report.html is the thing to read. `dnsrig studies show STUDY` explains method and source,
    `dnsrig run STUDY --help` has the options of one study.
    """
    if resume is not None and (others := _chosen_beside_resume(click.get_current_context())):
        raise click.UsageError(f"--resume RUN goes on with what RUN holds; leave out {', '.join(others)}")
    # Hours of measuring are not to end with a result that nobody can read.
    check_output_is_open()
    if dry_run and study is not None:
        _print_plan(study, conduct.plan(study, _settings(study, quick, chosen_seed(seed), choices)), as_json)
        return
    with TerminalWatcher(quiet=as_json) as watcher:
        if resume is not None:
            folder, summary = conduct.resume(resume, watcher)
        elif study is None:
            raise click.UsageError("name a study (dnsrig studies lists them), or --resume RUN")
        else:
            settings = _settings(study, quick, chosen_seed(seed), choices)
            folder, summary = conduct.start(study, settings, out, _arguments(settings.seed), watcher)
    if as_json:
        print_json(summary)
    else:
        if "published" in summary:
            print_published(summary)
        _print_answers(summary["answers"])
        if not summary["answers"] and "unanswered" in summary:
            click.echo(f"No pair of cases answers the study's questions. {summary['unanswered']}".rstrip())
        _print_verdicts(summary.get("published_figures", ()))
        for warning in summary.get("taint_warnings", ()):
            click.echo(f"warning: {warning}", err=True)
        click.echo(f"report: {folder / 'report.html'}")
    if summary["status"] == "incomplete":
        raise SubjectFailedError(
            f"{summary['reason']}; the report says why. To try again: dnsrig run --resume {folder}"
        )


def _chosen_beside_resume(context: click.Context) -> list[str]:
    """Name what was given on the command line and is of a new run."""
    of_any_run = {"resume", "as_json"}
    return [
        one.opts[0] if isinstance(one, click.Option) else "STUDY"
        for one in context.command.params
        if one.name not in of_any_run and context.get_parameter_source(one.name or "") == ParameterSource.COMMANDLINE
    ]


def _print_answers(answers: Sequence[Mapping[str, Any]]) -> None:
    sentences, tables = as_tables(answers)
    for table in tables:
        click.echo(f"{table.title}:")
        rows = [[f"{cell.text} ({cell.detail})" if cell.detail else cell.text for cell in row] for row in table.rows]
        print_table(table.header, rows)
    for answer in sentences:
        click.echo(f"{answer['claim']} ({answer['detail']}).")


def _print_verdicts(published: Sequence[Mapping[str, Any]]) -> None:
    """Say how many published figures came out as published, server by server; nothing of a study without any."""
    if verdicts := Counter(str(row["verdict"]) for row in published):
        counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        click.echo(f"published figures, server by server: {counts}; the report says why")


def _print_plan(study: str, plan: Plan, as_json: bool) -> None:
    if as_json:
        print_json({"study": study, **plan.as_json()})
        return
    print_table(
        ("case", "estimate [s]"),
        [(case.case_id, short_number(case.later_s)) for case in plan.cases],
    )
    click.echo(f"{study}: {plan.sentence}")


def _arguments(seed: int) -> list[str]:
    """Give the command line as typed, with the seed if it was drawn: typed again it repeats the run."""
    typed = ["dnsrig", *sys.argv[1:]]
    return typed if any(argument.startswith("--seed") for argument in typed) else [*typed, "--seed", str(seed)]


def _settings(name: str, quick: bool, seed: int, choices: dict[str, Any]) -> StudySettings:
    study = find_study(name)
    values: dict[str, Any] = {**study.defaults, **(study.quick if quick else {})}
    values.update(_taken(study, {key: value for key, value in choices.items() if value is not None}))
    if values.get("zone") is not None and choices["names"] is not None:
        raise InputError("--zone and --names: give a zone of your own, or the size of a synthetic one")
    for key, allowed in {**LISTS, **study.choices}.items():
        if key not in values:
            continue
        # Named twice is measured once; a server named twice is measured twice, to see the noise.
        values[key] = tuple(dict.fromkeys(values[key]))
        if not values[key]:
            raise InputError(f"an empty list was given where {key} were expected")
        wrong = [value for value in values[key] if allowed and value not in allowed]
        if wrong:
            raise InputError(f"'{wrong[0]}' is not one of {', '.join(allowed)}")
    values["servers"] = conduct.chosen_servers(values.pop(f"{study.subject}s", None), study)
    return study.settings_type(seed=seed, quick=quick, **values)


def _taken(study: Study[Any], choices: dict[str, Any]) -> dict[str, Any]:
    """Give the user's choices by the names of the study's settings; raise InputError for one that it does not have."""
    known = choices_of(study)
    found: dict[str, Any] = {}
    for key, value in choices.items():
        option = OPTIONS.get(key, f"--{key.removesuffix('s') if key in PROGRAMS else key.replace('_', '-')}")
        if key in known:
            found[key] = value
        elif SINGLES.get(key) not in known:
            raise InputError(f"{study.name} has no {option}; dnsrig studies show {study.name} says what it measures")
        elif len(value) != 1:
            raise InputError(f"{study.name} takes one value for {option}, not {len(value)}")
        else:
            found[SINGLES[key]] = value[0]
    if found.get("transport", "udp") not in {"udp", "tcp"}:
        raise InputError(f"{study.name} sends over udp or tcp, not '{found['transport']}'")
    return found


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def studies(context: click.Context, as_json: bool) -> None:
    """List the studies; `dnsrig studies show NAME` explains one."""
    if context.invoked_subcommand is not None:
        return
    rows = [(study.name, study.title, study.source) for study in all_studies()]
    if as_json:
        print_json({"studies": [dict(zip(("name", "title", "source"), row, strict=True)) for row in rows]})
    else:
        print_table(
            ("study", "question", "after"),
            [(name, title, source.split(":")[0]) for name, title, source in rows],
        )


@studies.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Explain the study NAME: question, method, source, limits."""
    study = find_study(name)
    text = study.text(study.fitted(study.settings_type(servers=(), seed=0, **study.defaults)))
    if as_json:
        print_json(
            {
                "name": name,
                "title": text.title,
                "question": text.question,
                "method": text.method,
                "source": text.source,
                "limits": text.limits,
                "defaults": study.defaults,
                "quick": study.quick,
            }
        )
        return
    click.echo(f"{text.title}\n")
    for heading, paragraphs in (
        ("Question", (text.question,)),
        ("Method", text.method),
        ("Source", (text.source,)),
        ("What a run cannot tell", text.limits),
    ):
        click.echo(click.style(heading, bold=True))
        for paragraph in paragraphs:
            click.echo(click.wrap_text(paragraph, width=100, initial_indent="  ", subsequent_indent="  "))
        click.echo()
    click.echo(f"To run it: dnsrig run {name}    (--quick: for a look; --dry-run: how long it takes)")

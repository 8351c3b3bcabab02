"""Write docs/reference/ from the code: the command line's help, and the schemas. `--check` only compares."""

import json
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import click
from dnsrig.cli.app import cli
from dnsrig.items.catalogue import all_items
from dnsrig.servers.registry import drivers
from dnsrig.servers.resolvers.registry import resolver_drivers
from dnsrig.verification.by_hand import explained, served_by
from dnsrig.verification.deviations import Deviation, deviations
from dnsrig.verification.faults.catalogue import faults_of
from dnsrig.verification.faults.paths import PATH_FAULTS
from dnsrig.verification.faults.secondaries import SECONDARY_FAULTS
from dnsrig.verification.faults.weaknesses import all_weaknesses
from dnsrig.verification.faults.zone_catalogue import zone_faults
from dnsrig.verification.item import ROLES, Item
from dnsrig.verification.tree.plan import PLANS
from matrix_page import matrix_page, passed_by

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
WIDTH = 100


def commands(command: click.Command, path: str, parent: click.Context | None = None) -> list[str]:
    """Give the help of `command` and of all below it, a section each."""
    context = click.Context(
        command,
        info_name=path.rsplit(" ", 1)[-1],
        parent=parent,
        terminal_width=WIDTH,
        **{**command.context_settings, "max_content_width": WIDTH},
    )
    sections = [f"## {path}\n\n```\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            sections += commands(command.get_command(context, name), f"{path} {name}", context)
    return sections


def schema_table(name: str) -> str:
    """Give one schema's properties as a Markdown table, and those of its parts that are described."""
    schema = json.loads(resources.files("dnsrig.schemas").joinpath(name).read_text(encoding="utf-8"))
    parts = schema.get("$defs", {})
    sections = [
        f"## {name}\n\n{schema.get('description', schema.get('title', ''))}\n\n{property_table(schema, parts)}\n"
    ]
    sections += [
        f"### {part} in {name}\n\n{value['description']}\n\n{property_table(value, parts)}\n"
        for part, value in parts.items()
        if is_described(value)
    ]
    return "\n".join(sections)


def property_table(schema: dict, parts: dict) -> str:
    """Give the properties of a schema or of one of its parts as a Markdown table."""
    rows = [
        f"| `{key}` | {describe_type(value, parts)} | {value.get('description', '')} |"
        for key, value in schema.get("properties", {}).items()
    ]
    return "\n".join(["| key | type | meaning |", "|---|---|---|", *rows])


def is_described(part: dict) -> bool:
    """Whether a part of a schema has a section of its own."""
    return "description" in part and "properties" in part


def describe_type(value: dict, parts: dict) -> str:
    """Say a property's type in words."""
    if "$ref" in value:
        part = value["$ref"].rsplit("/", 1)[-1]
        return part if is_described(parts[part]) else describe_type(parts[part], parts)
    if "items" in value and "$ref" in value["items"]:
        return f"array of {describe_type(value['items'], parts)}"
    kind = value.get("type", "string" if all(isinstance(item, str) for item in value.get("enum", [0])) else "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def item_page(item: Item, passed: Sequence[str], note: str) -> str:
    """Give the page of an item that some servers pass."""
    dig = "\n".join(item.dig)
    parts = [
        f"# {item.id}\n\n{note}**{item.requirement}**",
        f"{item.role}, {item.severity}. {item.consequence}",
        f"## How it is found out\n\n{item.procedure}",
        f"By hand:\n\n```\n{dig}\n```" + _placeholders(item),
        "## Source\n\n" + "\n".join(f"- {reference}" for reference in item.references),
    ]
    if item.is_of_server:
        parts.append("It shows the same with each of a server's zones, so it is tried with one of them.")
    if item.needs:
        parts.append("Needs: " + ", ".join(need.replace("_", " ") for need in item.needs) + ".")
    faults = ", ".join(f"`{fault}`" for fault in item.faults)
    parts.append(f"## Proven by\n\nThese [faults](../faults.md) fail it: {faults}.")
    if passed:
        parts.append(f"These pass it [without fault](../matrix.md): {', '.join(passed)}.")
    return "\n\n".join(parts) + "\n"


def _placeholders(item: Item) -> str:
    """Say what stands in braces in an item's commands, and where names of the rig's are served."""
    told = "\n".join(f"- `{{{name}}}`: {meaning}" for name, meaning in explained(item.dig))
    parts = (told, served_by(item.role, item.dig))
    return "".join(f"\n\n{part}" for part in parts if part)


def item_pages(note: str) -> dict[str, str]:
    """Give the page of each item, and the list of all."""
    items = [known.item for known in all_items()]
    lines = [f"# Items\n\n{note}What `dnsrig verify` finds out, {len(items)} items."]
    for role in ROLES:
        of_role = [item for item in items if item.role == role]
        if of_role:
            lines.append(f"## {role}")
        for group in dict.fromkeys(item.group for item in of_role):
            rows = [
                f"| [{item.id}]({item.id.lower()}.md) | {item.severity} | {item.requirement} |"
                for item in of_role
                if item.group == group
            ]
            lines.append("\n".join([f"### {group}\n", "| item | severity | requirement |", "|---|---|---|", *rows]))
    passed = passed_by()
    return {
        "items/README.md": "\n\n".join(lines) + "\n",
        **{f"items/{item.id.lower()}.md": item_page(item, passed.get(item.id, ()), note) for item in items},
    }


def fault_page(note: str) -> str:
    """Give the matrix of faults and the items that they fail, a table for each thing that can have them."""
    failing: dict[tuple[str, str], list[str]] = {}
    for known in all_items():
        for name in known.item.faults:
            failing.setdefault((known.item.role, name), []).append(known.item.id)
    tables = [
        ("authoritative", "Servers", "The server", faults_of("authoritative")),
        ("authoritative", "Other servers of the zone", "Another server of the zone", SECONDARY_FAULTS),
        ("authoritative", "Zones", "The zone", zone_faults()),
        ("resolver", "Resolvers", "The resolver", faults_of("resolver")),
        ("resolver", "Resolvers, towards the servers that they ask", "The resolver", all_weaknesses()),
        ("proxy", "Proxies", "The proxy", faults_of("proxy")),
        ("path", "Paths", "The router", PATH_FAULTS),
    ]
    parts = [
        f"# Faults\n\n{note}What the verifier is verified by: each fault fails the items beside it and no others, and "
        "a server that is right fails none, but for [known deviations](deviations.md) of real ones; "
        "[before which servers](matrix.md) each was tried "
        "([how](../guide/verification.md#how-the-verifier-is-verified))."
    ]
    for role, title, subject, faults in tables:
        rows = [
            f"| `{fault.name}` | {fault.does} | {_linked(failing[role, fault.name])} |"
            for fault in faults
            if (role, fault.name) in failing
        ]
        parts.append("\n".join([f"## {title}\n", f"| fault | {subject} ... | fails |", "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def deviation_page(note: str) -> str:
    """Give what servers are known to fail, a table for each role."""
    items = {known.item.id: known.item for known in all_items()}
    known = [
        (
            one.item,
            one.server,
            ", ".join(one.versions) or "all",
            _in_setup(one) + one.reason + _in_zones(one.zones) + (" *Not each time.*" if one.not_each_time else ""),
        )
        for one in deviations()
    ]
    known += [
        (case.item, one.server, one.versions.replace("\\.", ".").rstrip("."), one.sentence)
        for plan in PLANS
        for case in plan.cases
        for one in case.known
        if case.item
    ]
    titles = {name: kind.title for name, kind in {**resolver_drivers(), **drivers()}.items()}
    parts = [
        f"# Known deviations\n\n{note}What the versions of servers that were tried (Debian 12) fail as the rig starts "
        "them: the versions that were seen to, by their first numbers, and why. It is a failure all the same, for the "
        "exit code too; `dnsrig verify` says `known` beside it. The tests are strict: without fault nothing else "
        "fails, and what is listed here does, but for what ends with *Not each time*, which shows in some runs only. "
        "What begins with a setup shows in servers of yours that have it "
        "([how](../guide/verification.md#how-the-verifier-is-verified))."
    ]
    for role in ROLES:
        rows = [
            f"| {titles[server]} | {versions} | {_linked([item])} | {items[item].severity} | {reason} |"
            for item, server, versions, reason in known
            if items[item].role == role
        ]
        if rows:
            head = ["| server | version | fails | severity | why |", "|---|---|---|---|---|"]
            parts.append("\n".join([f"## {role}\n", *head, *rows]))
    return "\n\n".join(parts) + "\n"


def _in_setup(one: Deviation) -> str:
    return f"{one.setup}: " if one.setup else ""


def _in_zones(zones: tuple[str, ...]) -> str:
    return f" It shows in the rig's zones {', '.join(zones)}." if zones else ""


def _linked(ids: list[str]) -> str:
    return ", ".join(f"[{item_id}](items/{item_id.lower()}.md)" for item_id in ids)


def pages() -> dict[str, str]:
    """Give every generated page by file name."""
    note = "<!-- Generated by tools/write_reference.py (make docs). -->\n\n"
    schemas = sorted(
        entry.name for entry in resources.files("dnsrig.schemas").iterdir() if entry.name.endswith(".json")
    )
    return {
        "commands.md": f"# Commands\n\n{note}" + "\n".join(commands(cli, "dnsrig")),
        "formats.md": f"# Formats\n\n{note}" + "\n".join(schema_table(name) for name in schemas),
        "faults.md": fault_page(note),
        "matrix.md": matrix_page(note),
        "deviations.md": deviation_page(note),
        **item_pages(note),
    }


def main() -> int:
    """Write or check; return the exit code."""
    check = "--check" in sys.argv
    written = pages()
    stale = [
        name
        for name, text in written.items()
        if not (REFERENCE / name).exists() or (REFERENCE / name).read_text() != text
    ]
    gone = [path for path in REFERENCE.glob("items/*.md") if f"items/{path.name}" not in written]
    stale += [f"items/{path.name}" for path in gone]
    if check and stale:
        print(f"docs/reference is out of date: {', '.join(stale)}; run make docs", file=sys.stderr)
        return 1
    if not check:
        (REFERENCE / "items").mkdir(parents=True, exist_ok=True)
        for name, text in written.items():
            (REFERENCE / name).write_text(text)
        for path in gone:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())

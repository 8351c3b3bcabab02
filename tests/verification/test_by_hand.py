"""Commands that items name for people: the installed programs take them, and ask what they are to ask."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import dns.exception
import dns.name
import dns.rdatatype
import pytest
from dnsrig.items.catalogue import all_items
from dnsrig.verification.by_hand import IN_BRACES, PLACEHOLDERS, REMARK, served_by
from dnsrig.verification.item import Item
from dnsrig.verification.tree.serve import TreeServer
from free_ports import free_port
from trees import Trees

PATIENCE_S = 30.0
FILLED = {
    "zone": "example.",
    "host": "host.example.",
    "type": "AAAA",
    "large": "large.example. TXT",
    "wildcard": "'*.example.'",
    "wildcard_parent": "example.",
    "label_63": "x" * 63,
    "secret": "x" * 43 + "=",
}
VALUE_FOLLOWS = {"-b", "-p", "-c", "-y"}
AT_ONCE = 3
SOME = sorted({command for known in all_items() for command in known.item.dig})
"""Every command of the catalogue, once."""
ITEMS = [known.item for known in all_items()]


@pytest.mark.parametrize("item", ITEMS, ids=[item.id for item in ITEMS])
def test_placeholders_are_those_that_are_explained(item: Item) -> None:
    for command in item.dig:
        assert set(IN_BRACES.findall(command)) <= PLACEHOLDERS.keys()
        assert command.count("{") == command.count("}") == len(IN_BRACES.findall(command))
        words = command.split(REMARK)[0].split()
        # Words in capitals are types; what a person is to fill in stands in braces.
        if not command.startswith("# "):
            for word in words:
                if re.fullmatch(r"[A-Z][A-Z0-9-]+", word) and words[words.index(word) - 1] != "-c":
                    dns.rdatatype.from_text(word)


def test_it_is_said_who_serves_names_of_the_rig() -> None:
    assert "serve-tree" in served_by("resolver", ["dig @{server} -p {port} www.expired.nsec. A +dnssec"])
    assert "serve-upstream" in served_by("proxy", ["dig @{server} -p {port} X.cAsE.Rig.exAmple A"])
    assert "serve-upstream" in served_by("path", ["dig @{server} x.size-1220.unsigned.example TXT   # remark"])
    assert not served_by("authoritative", ["dig @{server} absent.{zone} A"])
    assert not served_by("resolver", ["dig @{server} -p {port} . DNSKEY +dnssec   # and www.expired.nsec. too"])
    assert not served_by("proxy", ["# dig sends no such messages"])


def test_every_placeholder_is_used() -> None:
    assert {name for command in SOME for name in IN_BRACES.findall(command)} == PLACEHOLDERS.keys()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, trees: Trees) -> Iterator[TreeServer]:
    """Serve a root zone, by UDP and TCP: it answers everything, with something."""
    with TreeServer(trees.copy_to(tmp_path_factory.mktemp("tree")), port=free_port()) as serving:
        serving.bound.clear()
        yield serving


def filled(command: str, address: str, port: int) -> str:
    """Fill in the placeholders, each name so that it tells commands apart no more than it must."""
    told = {name: f"{name.replace('_', '-')}.example." for name in PLACEHOLDERS} | FILLED
    told |= dict.fromkeys(("server", "outer", "nowhere", "resolver"), address) | {"port": str(port)}
    text = IN_BRACES.sub(lambda found: told[found[1]], command.split(REMARK, maxsplit=1)[0])
    return text if "-p " in text else text.replace(f"@{address}", f"@{address} -p {port}")


def asked(command: str) -> list[tuple[dns.name.Name, str]]:
    """Read names and types off one dig command, as a person would."""
    words = iter(command.split()[1:])
    typed = "A"
    found: list[tuple[dns.name.Name, str]] = []
    for word in words:
        if word in VALUE_FOLLOWS:
            next(words)
        elif word == "-t":
            typed = next(words)
        elif word == "-q":
            found.append((dns.name.from_text(next(words)), typed))
        elif not word.startswith(("@", "+", "-")):
            kind = word.split("=")[0]
            try:
                dns.rdatatype.from_text(kind)
            except dns.rdatatype.UnknownRdatatype:
                found.append((dns.name.from_text(word.strip("'")), "A"))
            else:
                found[-1] = (found[-1][0], kind)
    return found


def run(command: str, server: TreeServer, address: str) -> str:
    """Run a command against one address of the server; say what is wrong with it, "" if nothing is."""
    line = filled(command, address, server.port)
    before = len(server.seen)
    done = subprocess.run(
        ["sh", "-c", f'dig() {{ command dig +tries=1 +time=5 "$@"; }}; sleep() {{ :; }}; nc() {{ :; }}; {line}'],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    wanted = {pair for part in re.findall(r"(?:dig|delv) [^;&]*", line) for pair in asked(part)}
    seen = [query for query in server.seen.since(before) if query.server == address]
    came = {(query.name, dns.rdatatype.to_text(query.rtype)) for query in seen}
    is_delv = line.startswith("delv")
    if (done.returncode or done.stderr) and not is_delv:
        return f"{line}: status {done.returncode}, {done.stderr or done.stdout}"
    is_asked = wanted <= came if is_delv else wanted == came
    return "" if is_asked else f"{line}: wanted {wanted}, asked {came}"


def test_the_installed_programs_ask_what_is_typed(server: TreeServer) -> None:
    for program in ("dig", "delv"):
        if shutil.which(program) is None:
            pytest.skip(f"needs {program}: install the Debian package bind9-dnsutils")
    commands = [one for one in SOME if one.startswith(("dig ", "for ", "delv "))]
    assert not {one.split()[0] for one in SOME} - {"dig", "for", "delv", "#", "getent"}
    addresses = server.tree.addresses[:AT_ONCE]

    def share(place: int) -> list[str]:
        return [run(command, server, addresses[place]) for command in commands[place::AT_ONCE]]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        wrong = [said for some in pool.map(share, range(AT_ONCE)) for said in some if said]
    assert not wrong, "\n".join(wrong)

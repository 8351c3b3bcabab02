"""Files by which other resolvers are pointed at the rig's tree: each is in the form that its reader takes."""

import shutil
import subprocess
import threading
import tomllib
from pathlib import Path

import dns.dnssec
import dns.name
import dns.rdatatype
import dns.zonefile
import pytest
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rdtypes.ANY.DS import DS
from dnsrig.errors import InputError
from dnsrig.verification.anchor_files import read_anchor_file
from dnsrig.verification.tree import resolver_files
from dnsrig.verification.tree.making import Tree
from dnsrig.verification.tree.resolver_files import FILES, MARK, uses, write_resolver_files
from dnsrig.verification.tree.serve import prepare_tree
from trees import Trees


@pytest.fixture
def tree(tmp_path: Path, trees: Trees) -> Tree:
    made = trees.copy_to(tmp_path)
    write_resolver_files(made, tmp_path)
    return made


def lines_of(folder: Path, resolver: str) -> str:
    return next(use.lines for use in uses(folder) if use.where.startswith(resolver))


def checked(program: str, path: Path, *arguments: str) -> str:
    """Have a server's own checker read a file; give what it says."""
    found = shutil.which(program, path="/usr/sbin:/usr/bin")
    if found is None:
        pytest.skip(f"needs {program}")
    done = subprocess.run([found, *arguments, str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_every_form_has_the_same_trust_anchor_and_the_hints_the_root_server(tree: Tree, tmp_path: Path) -> None:
    (anchor,) = read_anchor_file(tmp_path / "root.ds")
    assert read_anchor_file(tmp_path / "bind.keys") == (anchor,)
    (key,) = read_anchor_file(tmp_path / "root.key")
    assert isinstance(anchor.rdata, DS) and isinstance(key.rdata, DNSKEY) and key.owner == anchor.owner == dns.name.root
    assert dns.dnssec.make_ds(key.owner, key.rdata, dns.dnssec.DSDigest(anchor.rdata.digest_type)) == anchor.rdata
    data = (tmp_path / "root.ds").read_text().split(" DS ")[1].strip()
    assert (tmp_path / "recursor.lua").read_text() == f'-- {MARK}\nclearTA()\naddTA(".", "{data}")\n'
    hints = dns.zonefile.read_rrsets(
        (tmp_path / "root.hints").read_text(), rdclass=None, origin=dns.name.root, relativize=False
    )
    assert {record.address for rrset in hints if rrset.rdtype == dns.rdatatype.A for record in rrset} == {
        tree.addresses[0]
    }
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == FILES.keys()


@pytest.mark.parametrize("name", FILES)
def test_files_of_others_are_not_replaced(tree: Tree, tmp_path: Path, name: str) -> None:
    # What was written by the rig is.
    write_resolver_files(tree, tmp_path)
    before = {one: (tmp_path / one).stat().st_ino for one in FILES}
    (tmp_path / name).write_text("# somebody else's\n")
    before[name] = (tmp_path / name).stat().st_ino
    with pytest.raises(InputError, match=f"/{name} was not written by dnsrig and is not replaced"):
        prepare_tree(tmp_path, threading.Event())
    with pytest.raises(InputError, match=f"/{name} was not written by dnsrig and is not replaced"):
        write_resolver_files(tree, tmp_path)
    assert (tmp_path / name).read_text() == "# somebody else's\n"
    assert {one: (tmp_path / one).stat().st_ino for one in FILES} == before


def test_what_is_printed_names_files_that_are_there(tree: Tree, tmp_path: Path) -> None:
    used = {name for name in FILES for use in uses(tmp_path) if f"{tmp_path}/{name}" in use.lines}
    # The DS record alone is for other programs.
    assert used == FILES.keys() - {resolver_files.DS}


def test_hickory_gets_toml_with_key_and_hints(tree: Tree, tmp_path: Path) -> None:
    (zone,) = tomllib.loads(lines_of(tmp_path, "Hickory"))["zones"]
    store = zone["stores"]
    # It reads keys, and no DS records.
    path = store["dnssec_policy"]["ValidateWithStaticKey"]["path"]
    assert (zone["zone"], path, store["roots"]) == (".", f"{tmp_path}/root.key", f"{tmp_path}/root.hints")
    # As shipped it asks nobody on loopback, where the tree is.
    assert store["deny_server"] == []


def test_unbound_takes_its_lines(tree: Tree, tmp_path: Path) -> None:
    conf = tmp_path / "unbound.conf"
    conf.write_text(lines_of(tmp_path, "Unbound") + f'    chroot: ""\n    username: ""\n    directory: "{tmp_path}"\n')
    assert "no errors" in checked("unbound-checkconf", conf)


def test_bind_takes_its_lines(tree: Tree, tmp_path: Path) -> None:
    conf = tmp_path / "named.conf"
    conf.write_text(lines_of(tmp_path, "BIND"))
    checked("named-checkconf", conf, "-z")

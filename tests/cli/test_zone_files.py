"""`dnsrig zone` sort, split, join, compare, check and stats, by the eyes of other tools and on bad input."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from importlib import resources

import jsonschema
import pytest
from dnsrig import _core
from waiting import wait_until

SOA = "z.test. 60 IN SOA ns.z.test. host.z.test. 1 7200 900 1209600 300\n"


def tool(name, package):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed: install the Debian package {package}")
    return name


def lines_of(path):
    """Give a zone file's records as named-compilezone writes them, in an order of their own."""
    origin = "example.test"
    command = [tool("named-compilezone", "bind9-utils"), "-q", "-i", "none", "-s", "full", "-o", "-", origin, path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return sorted(done.stdout.splitlines())


@pytest.fixture(scope="session")
def middle_zone(tmp_path_factory):
    """A synthetic zone of 2,000 records."""
    path = tmp_path_factory.mktemp("middle") / "zone"
    _core.Zone.generate("example.test.", 2000, 3).write(path)
    return path


@pytest.fixture(scope="session")
def signed_zone(dnsrig, middle_zone):
    """The same, signed with NSEC."""
    path = middle_zone.with_name("signed")
    assert dnsrig("sign", middle_zone, "-f", path, "-a", "ECDSAP256SHA256", "--new-keys", "-K", path.parent).code == 0
    return path


@pytest.fixture(scope="session")
def nsec3_zone(dnsrig, middle_zone):
    """The same, signed with NSEC3."""
    path = middle_zone.with_name("nsec3")
    keys = path.with_name("nsec3-keys")
    keys.mkdir()
    assert dnsrig("sign", middle_zone, "-f", path, "-a", "ECDSAP256SHA256", "-3", "-", "-K", keys).code == 0
    return path


def test_sorting_by_pipe_and_by_file(dnsrig, signed_zone, tmp_path):
    reverse = "".join(reversed(signed_zone.read_text().splitlines(keepends=True)))
    (tmp_path / "reverse").write_text(reverse)
    by_file = dnsrig("zone", "sort", tmp_path / "reverse", "-f", tmp_path / "sorted", "--json")
    assert by_file.code == 0, by_file.err
    by_pipe = dnsrig("zone", "sort", "-", "--threads", 1, "--memory", "1M", stdin=reverse)
    assert by_pipe.out == (tmp_path / "sorted").read_text()
    assert lines_of(tmp_path / "sorted") == lines_of(signed_zone)
    read = tool("ldns-read-zone", "ldnsutils")
    ours = subprocess.run([read, "-z", tmp_path / "sorted"], capture_output=True, text=True, check=True).stdout
    theirs = subprocess.run([read, "-z", signed_zone], capture_output=True, text=True, check=True).stdout
    assert ours == theirs


@pytest.fixture(scope="session")
def late_disorder(tmp_path_factory):
    """A zone of some 5 MB that lies in canonical order but for its last record, and a second piece of it."""
    folder = tmp_path_factory.mktemp("late")
    text = "x" * 240
    with (folder / "zone").open("w") as file:
        file.write(f"{SOA}z.test. 60 IN NS ns.other.\n")
        file.writelines(f'n{number:06}.z.test. 60 IN TXT "{text}"\n' for number in range(20_000))
        file.write("a.z.test. 60 IN A 192.0.2.1\n")
    (folder / "rest").write_text(f"{SOA}z.test. 60 IN NS ns.other.\nz.z.test. 60 IN A 192.0.2.1\n")
    return folder


@pytest.mark.parametrize("command", [["zone", "sort"], ["zone", "join"], ["sign", "--zonemd", "none"], ["sign"]])
def test_disorder_found_late_is_not_printed(dnsrig, late_disorder, tmp_path, command):
    inputs = [late_disorder / "zone"]
    if "join" in command:
        inputs.append(late_disorder / "rest")
    if "sign" in command:
        times = ["-s", "20260101000000", "-e", "20270101000000", "--deterministic"]
        keys = [
            dnsrig("keygen", "z.test", "-K", tmp_path, "-a", "ECDSAP256SHA256", *kind) for kind in ([], ["-f", "KSK"])
        ]
        assert all(made.code == 0 for made in keys), keys
        command = [*command, *times, "-K", tmp_path]
    file = tmp_path / "out"
    assert dnsrig(*command, *inputs, "-f", file).code == 0
    printed = dnsrig(*command, *inputs, "-f", "-")
    assert printed.code == 0, printed.err
    assert printed.out == file.read_text()
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([sys.executable, "-m", "dnsrig", *command, *inputs, "-f", fifo]) as started:
        piped = fifo.read_text()
        assert started.wait(timeout=60) == 0
    assert piped == printed.out


def test_a_refused_set_of_pieces_prints_nothing(dnsrig, signed_zone, tmp_path):
    assert dnsrig("zone", "split", signed_zone, "-n", 4, "-f", tmp_path / "p").code == 0
    lines = (tmp_path / "p.3").read_text().splitlines(keepends=True)
    (tmp_path / "p.3").write_text("".join([*lines[:-3], lines[-1]]))
    done = dnsrig("zone", "join", tmp_path / "p.pieces")
    assert (done.code, done.out) == (2, "")


@pytest.mark.parametrize("zone", ["middle_zone", "signed_zone", "nsec3_zone"])
def test_pieces_are_zones_and_join_to_the_whole(dnsrig, zone, tmp_path, request):
    whole = request.getfixturevalue(zone)
    done = dnsrig("zone", "split", whole, "-n", 4, "-f", tmp_path / "piece", "--json")
    assert done.code == 0, done.err
    pieces = [tmp_path / piece["file"] for piece in done.json["pieces"]]
    assert [path.name for path in pieces] == ["piece.1", "piece.2", "piece.3", "piece.4"]
    manifest = json.loads((tmp_path / "piece.pieces").read_text())
    assert manifest["pieces"] == done.json["pieces"]
    schema = resources.files("dnsrig.schemas").joinpath("pieces.json").read_text()
    jsonschema.validate(manifest, json.loads(schema))
    for piece in pieces:
        subprocess.run([tool("ldns-read-zone", "ldnsutils"), piece], check=True, capture_output=True)
    joined = dnsrig("zone", "join", *reversed(pieces), "-f", tmp_path / "joined", "--json")
    assert joined.code == 0, joined.err
    assert lines_of(tmp_path / "joined") == lines_of(whole)
    again = dnsrig("zone", "join", tmp_path / "piece.pieces")
    assert again.out == (tmp_path / "joined").read_text()
    if zone != "middle_zone":
        subprocess.run(
            [tool("dnssec-verify", "bind9-utils"), "-q", "-o", "example.test", tmp_path / "joined"], check=True
        )


def test_pieces_of_ldns(dnsrig, signed_zone, tmp_path):
    zone = tmp_path / "zone"
    assert dnsrig("zone", "sort", signed_zone, "-f", zone).code == 0
    subprocess.run([tool("ldns-zsplit", "ldnsutils"), "-n", "700", "-o", "example.test", zone], check=True)
    theirs = sorted(tmp_path.glob("zone.0*"))
    assert len(theirs) > 3
    joined = dnsrig("zone", "join", *theirs)
    assert (joined.code, joined.out) == (0, zone.read_text()), joined.err
    missing = dnsrig("zone", "join", theirs[0], *theirs[2:])
    assert missing.code == 2 and "number 1 is missing" in missing.err
    # A missing last piece is seen by the chain alone.
    missing = dnsrig("zone", "join", *theirs[:-1])
    assert missing.code == 2 and "a piece is missing" in missing.err


def test_slices_by_label(dnsrig, middle_zone, tmp_path):
    done = dnsrig("zone", "split", middle_zone, "--by-label-range", "-m,n-", "-f", tmp_path / "slice", "--json")
    first, second = done.json["pieces"]
    assert first["next"] == second["first"]
    assert second["next"] == "example.test."
    refused = dnsrig("zone", "split", middle_zone, "--by-label-range", "a-c", "-f", tmp_path / "other")
    assert refused.code == 2 and "is in none of the ranges" in refused.err
    for ranges in ("z-a", "a-m,m-z", "a;b"):
        refused = dnsrig("zone", "split", middle_zone, "--by-label-range", ranges, "-f", tmp_path / "other")
        assert refused.code == 2 and "0-9,a-j,k-z" in refused.err
    assert not list(tmp_path.glob("other*"))


def test_pieces_that_do_not_belong_together(dnsrig, middle_zone, tmp_path):
    def split(text, name):
        (tmp_path / name).write_text(text)
        assert dnsrig("zone", "split", tmp_path / name, "-n", 3).code == 0
        return [tmp_path / f"{name}.{number}" for number in (1, 2, 3)]

    def refused(*pieces):
        done = dnsrig("zone", "join", *pieces, "-f", tmp_path / "out")
        assert done.code == 2 and not (tmp_path / "out").exists()
        return done.err

    text = middle_zone.read_text()
    a = split(text, "a")
    assert "piece 2 of 3 is missing" in refused(a[0], a[2])
    assert "here twice" in refused(a[0], a[1], a[1])
    words = text.split()
    serial = words[words.index("SOA") + 3]
    b = split(text.replace(f" {serial} ", f" {int(serial) + 1} ", 1), "b")
    assert "serial" in refused(a[0], a[1], b[2])
    c = split(text.replace("example.test.", "other.test."), "c")
    assert "is one of example.test." in refused(a[0], a[1], c[2])
    key = "example.test. 60 IN DNSKEY 257 3 13 AAAA\n"
    d = split(text + key, "d")
    assert dnsrig("zone", "join", a[0], a[1], d[2], "-f", tmp_path / "joined").code == 0
    e = split(text + key.replace("AAAA", "BBBB"), "e")
    assert "the DNSKEY records of the apex" in refused(d[0], d[1], e[2])
    whole = a[1].read_text()
    for end in (len(whole) - 1, whole.rindex("\n", 0, len(whole) - 1) + 1, len(whole) // 2):
        a[1].write_text(whole[:end])
        assert "a.2: the last line" in refused(*a)
    lines = whole.splitlines(keepends=True)
    a[1].write_text("".join([*lines[:-5], lines[-1]]))
    assert "names below the apex, but the piece was made with" in refused(*a)
    place = next(place for place, line in enumerate(lines) if line.startswith("mail") and " AAAA " in line)
    a[1].write_text("".join(lines[:place] + lines[place + 1 :]))
    assert "a.2: " in refused(*a)
    (tmp_path / "no.pieces").write_text("{}")
    assert "no manifest of pieces" in refused(tmp_path / "no.pieces")


@pytest.mark.parametrize("chain", [[], ["-3", "-"], ["-3", "-", "-A"]], ids=["NSEC", "NSEC3", "opt-out"])
def test_pieces_signed_one_by_one_join_to_the_whole_signed_at_once(dnsrig, middle_zone, tmp_path, chain):
    # Ed25519 gives the same signatures each time.
    times = ["-s", "20300101000000", "-e", "20300201000000", "--no-state"]
    assert dnsrig("sign", middle_zone, "-a", "ED25519", "-f", tmp_path / "whole", *times, *chain).code == 0
    options = ["-K", tmp_path, *times]
    assert dnsrig("sign", middle_zone, "-f", tmp_path / "chain", "--chain-only", *options, *chain).code == 0
    assert dnsrig("zone", "split", tmp_path / "chain", "-n", 3, "-f", tmp_path / "p").code == 0
    pieces = [tmp_path / f"p.{number}.signed" for number in (1, 2, 3)]
    for piece in pieces:
        done = dnsrig("sign", piece.with_suffix(""), "-f", piece, "--given-chain", *options)
        assert done.code == 0, done.err
    joined = dnsrig("zone", "join", *pieces, "--manifest", tmp_path / "p.pieces", "-f", tmp_path / "joined")
    assert joined.code == 0, joined.err
    same = dnsrig("zone", "compare", tmp_path / "whole", tmp_path / "joined")
    assert same.code == 0, same.out
    missing = dnsrig("zone", "join", pieces[0], pieces[2], "--manifest", tmp_path / "p.pieces")
    assert missing.code == 2 and "the piece p.2 with the names" in missing.err


def test_signed_pieces_without_their_manifest(dnsrig, middle_zone, tmp_path):
    assert dnsrig("zone", "split", middle_zone, "-n", 2, "-f", tmp_path / "p").code == 0
    for number in (1, 2):
        options = ["-K", tmp_path, "-f", tmp_path / f"p.{number}.signed"]
        assert dnsrig("sign", tmp_path / f"p.{number}", *options).code == 0
    done = dnsrig("zone", "join", tmp_path / "p.1.signed", tmp_path / "p.2.signed")
    assert done.code == 2 and "signed as if each were the whole zone" in done.err
    mixed = dnsrig("zone", "join", tmp_path / "p.1", tmp_path / "p.2.signed", "--manifest", tmp_path / "p.pieces")
    assert mixed.code == 2 and "sign all pieces, or none" in mixed.err


def test_comparing(dnsrig, middle_zone, tmp_path):
    same = dnsrig("zone", "compare", middle_zone, middle_zone, "--json")
    assert (same.code, same.json["same"]) == (0, 2000)
    lines = middle_zone.read_text().splitlines(keepends=True)
    removed = lines.pop(50)
    (tmp_path / "b").write_text("".join(reversed(lines)) + "new.example.test. 60 IN A 192.0.2.1\n")
    found = dnsrig("zone", "compare", middle_zone, tmp_path / "b")
    assert found.code == 1
    assert f"- {removed}" in found.out and "+ new.example.test. 60 IN A 192.0.2.1\n" in found.out
    few = dnsrig("zone", "compare", middle_zone, tmp_path / "b", "--most", 0, "--json")
    assert (few.code, few.json["removed"], few.json["added"], few.json["differences"]) == (1, 1, 1, [])


def finds_a_fault(command):
    """Whether another tool refuses the zone, or at least says that glue is missing."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode != 0 or "no REQUIRED GLUE" in done.stdout


def test_checking_as_others_do(dnsrig, tmp_path):
    good = SOA + "z.test. 60 IN NS ns.z.test.\nz.test. 60 IN NS b.other.\nns.z.test. 60 IN A 192.0.2.1\n"
    (tmp_path / "zone").write_text(good)
    done = dnsrig("zone", "check", tmp_path / "zone")
    assert (done.code, done.out.count("\n")) == (0, 1), done.out
    kzonecheck = [tool("kzonecheck", "knot-dnssecutils"), "-o", "z.test", tmp_path / "zone"]
    checkzone = [tool("named-checkzone", "bind9-utils"), "-i", "local", "z.test", tmp_path / "zone"]
    for lines, rule in (
        ("a.z.test. 60 IN NS ns.a.z.test.", "missing-glue"),
        ("d.z.test. 60 IN DNAME x.\na.d.z.test. 60 IN A 192.0.2.1", "below-dname"),
        ("d.z.test. 60 IN DNAME x.\nd.z.test. 60 IN DNAME y.", "several-dnames"),
        ("d.z.test. 60 IN DNAME x.\nd.z.test. 60 IN NS b.other.", "dname-beside-ns"),
        ("a.z.test. 60 IN NS b.other.\na.z.test. 60 IN DS 1 8 2 0011", "ds-digest-length"),
        ("a.z.test. 60 IN CNAME x.\na.z.test. 60 IN A 192.0.2.1", "cname-and-other-data"),
        ("z.test. 60 IN NS a.z.test.", "target-without-address"),
        ("z.test. 60 IN NS a.z.test.\na.z.test. 60 IN CNAME ns.z.test.", "target-alias"),
        ("*.z.test. 60 IN NS b.other.", "wildcard-ns"),
        ("z.test. 60 IN DS 1 8 1 E2D3C916F6DEEAC73294E8268FB5885044A833FC", "ds-at-apex"),
    ):
        (tmp_path / "zone").write_text(f"{good}{lines}\n")
        found = dnsrig("zone", "check", tmp_path / "zone", "--json")
        assert found.code == 1 and rule in found.json["rules"], found.out
        others = [
            subprocess.run(command, capture_output=True, text=True, check=False) for command in (kzonecheck, checkzone)
        ]
        said = [one for one in others if one.returncode != 0 or "no REQUIRED GLUE" in one.stdout]
        assert said, f"neither kzonecheck nor named-checkzone finds {rule}"


def test_the_rules_are_listed(dnsrig):
    listed = dnsrig("zone", "check", "--rules").out
    assert all(name in listed for name, _, _ in _core.zone_rules())


def test_stats_say_more_than_counts(dnsrig, signed_zone, nsec3_zone):
    found = dnsrig("zone", "stats", signed_zone, "--json").json
    before = _core.Zone.read(signed_zone).statistics()
    assert {name: found[name] for name in before} == before
    assert found["rrsig"] == [{"algorithm": 13, "records": found["types"]["RRSIG"]}]
    assert dnsrig("zone", "stats", nsec3_zone, "--json").json["nsec3"][0]["iterations"] == 0
    assert "NSEC3, 0 additional iterations, salt none" in dnsrig("zone", "stats", nsec3_zone).out


WORK = [["sort", "-f"], ["split", "-n", "2", "-f"], ["join", "-f"]]


@pytest.mark.parametrize("command", [["sort"], ["split", "-n", "2"], ["join"], ["check"], ["stats"]])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"z.test. 60 IN A 192.0.2.1\n", "no SOA record"),
        (SOA.encode() + b"a.z.test. 60 IN A 192.0.2\n", "zone:2:19:"),
        (SOA.encode() + b"a\x00b\x00.z.test. 60 IN A\n", "zone:2:"),
        (SOA.encode() + "ä.z.test. 60 IN A 192.0.2\n".encode(), "zone:2:"),
        (SOA.encode() + b'a.z.test. 60 IN TXT ( "x"\n', "zone:2:"),
        (SOA.encode() + b'a.z.test. 60 IN TXT "' + b"x" * 100_000_000 + b'"\n', "zone:2:"),
        (b"\x00" * 1000, "zone:1:"),
        (b"", "no SOA record"),
    ],
    ids=["no SOA", "bad data", "NUL", "non-ASCII", "open", "100 MB line", "only NUL", "empty"],
)
def test_files_that_are_no_zones(dnsrig, tmp_path, command, content, said):
    zone = tmp_path / "zone"
    zone.write_bytes(content)
    output = ["-f", tmp_path / "out"] if command[0] in ("sort", "split", "join") else []
    done = dnsrig("zone", *command, zone, *output)
    if command == ["join"] and not content.endswith(b"\n"):
        said = "cut short"
    assert done.code == 2 and said in done.err, done.err
    assert len(done.err) < 2000 and "Traceback" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["zone"]


def test_carriage_returns_and_other_octets_are_taken(dnsrig, tmp_path):
    text = SOA + 'a.z.test. 60 IN TXT "ä"\n\\000\\255.z.test. 60 IN A 192.0.2.1\n'
    (tmp_path / "unix").write_text(text)
    (tmp_path / "dos").write_bytes(text.replace("\n", "\r\n").encode())
    assert dnsrig("zone", "compare", tmp_path / "unix", tmp_path / "dos").code == 0
    sorted_text = dnsrig("zone", "sort", tmp_path / "dos").out
    assert '"\\195\\164"' in sorted_text and "\\000\\255.z.test." in sorted_text and "\r" not in sorted_text


@pytest.mark.parametrize("command", WORK, ids=lambda command: command[0])
def test_a_full_disk_leaves_nothing(middle_zone, tmp_path, command):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    (tmp_path / "out").write_text("before")
    arguments = [sys.executable, "-m", "dnsrig", "zone", *command, tmp_path / "out", middle_zone]
    done = subprocess.run(arguments, capture_output=True, text=True, preexec_fn=limit, check=False, timeout=60)
    assert done.returncode == 3 and "File too large" in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "before"


@pytest.fixture(scope="session")
def large_zone(tmp_path_factory):
    """A zone of which each tool has work for some seconds, in an order that makes it sort."""
    path = tmp_path_factory.mktemp("large") / "zone"
    with path.open("w") as file:
        file.write(SOA)
        for number in range(2_000_000):
            name = f"n{number * 7_919 % 2_000_000:07}"
            file.write(f"{name}.z.test. 60 IN NS ns.{name}.z.test.\n")
    return path


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("command", WORK[:2], ids=lambda command: command[0])
def test_what_is_ended_leaves_nothing_under_the_name(large_zone, tmp_path, command, ending):
    arguments = [sys.executable, "-m", "dnsrig", "zone", *command, tmp_path / "out", large_zone]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as started:
        # Ended while it writes.
        wait_until(lambda: any(path.stat().st_size for path in tmp_path.glob(".dnsrig-*")), started)
        started.send_signal(ending)
        _, err = started.communicate(timeout=60)
    assert started.returncode != 0
    left = [path.name for path in tmp_path.iterdir()]
    assert not [name for name in left if name.startswith("out")]
    if ending != signal.SIGKILL:
        assert started.returncode == 130 and "interrupted" in err, err
        assert left == []


def test_sizes_and_options(dnsrig, middle_zone):
    for size in ("0", "1k", "5X", "-1G", "1.5G"):
        done = dnsrig("zone", "stats", middle_zone, "--memory", size)
        assert done.code == 2 and "such as 500M or 2G" in done.err
    assert dnsrig("zone", "split", middle_zone).code == 2
    assert dnsrig("zone", "split", middle_zone, "-n", 100_000).code == 2
    refused = dnsrig("zone", "split", middle_zone, "-n", 9_000)
    assert refused.code == 2 and "ask for fewer pieces" in refused.err
    assert dnsrig("zone", "sort", middle_zone, "--json").code == 2
    other = dnsrig("zone", "stats", middle_zone, "-o", "other.test")
    assert other.code == 2 and "example.test." in other.err


def test_more_runs_than_files_may_be_open(dnsrig, large_zone, tmp_path):
    """Sorting with little memory makes more temporary files than this process may have open."""

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120))

    arguments = [sys.executable, "-m", "dnsrig", "zone", "sort", "--memory", "1M", "-f", tmp_path / "out", large_zone]
    done = subprocess.run(arguments, capture_output=True, text=True, preexec_fn=limit, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert dnsrig("zone", "sort", large_zone, "-f", tmp_path / "whole").code == 0
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()


def test_numbers_that_are_no_sequence(dnsrig, middle_zone, tmp_path):
    assert dnsrig("zone", "split", middle_zone, "-n", 2, "-f", tmp_path / "p").code == 0
    for number, year in ((1, 2024), (2, 2025)):
        kept = [line for line in (tmp_path / f"p.{number}").read_text().splitlines(True) if not line.startswith(";")]
        (tmp_path / f"zone-{year}").write_text("".join(kept))
    assert dnsrig("zone", "join", tmp_path / "zone-2024", tmp_path / "zone-2025").code == 0
    mixed = dnsrig("zone", "join", tmp_path / "p.1", tmp_path / "zone-2025")
    assert mixed.code == 0, mixed.err


def test_marks_on_some_pieces(dnsrig, middle_zone, tmp_path):
    assert dnsrig("zone", "split", middle_zone, "-n", 3, "-f", tmp_path / "p").code == 0
    lines = (tmp_path / "p.1").read_text().splitlines(keepends=True)
    (tmp_path / "p.1").write_text("".join(line for line in lines if not line.startswith(";")))
    done = dnsrig("zone", "join", tmp_path / "p.1", tmp_path / "p.2")
    assert (done.code, done.out) == (2, "") and "of 3 is missing" in done.err


def test_digests_are_called_right_or_wrong(dnsrig, middle_zone, tmp_path):
    zone = tmp_path / "zone"
    assert dnsrig("sign", middle_zone, "-f", zone, "--zonemd", "sha384", "--no-state").code == 0
    assert "the digest of its ZONEMD record was verified" in dnsrig("zone", "check", zone).out
    text = zone.read_text()
    zone.write_text(text + "zz.example.test. 60 IN A 192.0.2.1\n")
    wrong = dnsrig("zone", "check", zone)
    assert wrong.code == 1 and "the digest of its ZONEMD record is wrong" in wrong.out
    assert "verified" not in wrong.out.splitlines()[-1]
    zone.write_text(SOA + "z.test. 60 IN NS ns.other.\na.z.test. 60 IN ZONEMD 1 1 1 " + "00" * 48 + "\n")
    below = dnsrig("zone", "check", zone, "--json").json
    assert below["rules"] == {"single-ns": 1, "soa-names": 1, "zonemd-below-apex": 1}
    assert not below["zonemd_verified"]

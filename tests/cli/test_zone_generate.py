"""`dnsrig zone generate`: every model by the eyes of other tools, and what happens when it cannot finish."""

import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from dnsrig.cli.zone_generate import DEFAULTS
from full_output import TARGETS, run_into
from waiting import wait_until

MODELS = [
    ("small", "example.test.", []),
    ("enterprise", "example.test.", ["--names", 3000]),
    ("tld", "xa.", ["--names", 3000, "--signed-share", 0.3]),
    ("reverse", "10.in-addr.arpa.", ["--names", 3000]),
    ("reverse", "8.b.d.0.1.0.0.2.ip6.arpa.", ["--names", 3000]),
    ("flat", "example.test.", ["--names", 3000]),
]
SMALL_FILE_OCTETS = 200_000


def tool(name, package):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed: install the Debian package {package}")
    return name


def checkers(origin, file):
    # Checks that ask servers are off: what other names have is in no zone of ours.
    yield ["named-checkzone", "bind9-utils"], ["-q", "-i", "local", origin, file]
    yield ["kzonecheck", "knot-dnssecutils"], ["-o", origin, file]
    yield ["nsd-checkzone", "nsd"], [origin, file]
    yield ["ldns-read-zone", "ldnsutils"], ["-c", file]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("order", [[], ["--unsorted"]])
@pytest.mark.parametrize("made", MODELS)
def test_other_tools_accept_the_zone(dnsrig, tmp_path, made, order, number):
    model, origin, options = made
    file = tmp_path / "made.zone"
    program, arguments = list(checkers(origin, file))[number]
    command = [tool(*program), *arguments]
    done = dnsrig("zone", "generate", file, "--model", model, "-o", origin, "--seed", 5, *options, *order)
    assert done.code == 0, done.err
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(("model", "origin", "options"), MODELS)
def test_what_is_said_is_in_the_file(dnsrig, tmp_path, model, origin, options):
    file = tmp_path / "made.zone"
    said = dnsrig("zone", "generate", file, "--model", model, "-o", origin, "--seed", 5, *options, "--json").json
    found = dnsrig("zone", "stats", file, "--json").json
    assert found["warnings"] == []
    assert (said.pop("model"), said.pop("seed"), said.pop("octets")) == (model, 5, file.stat().st_size)
    assert said == {key: found[key] for key in said}
    again = dnsrig("zone", "generate", "-", "--model", model, "-o", origin, "--seed", 5, *options)
    assert again.out == file.read_text()
    assert "seed 5" in again.err


def test_unsorted_has_the_same_records(dnsrig, tmp_path):
    files = [tmp_path / "sorted", tmp_path / "unsorted"]
    for file, order in zip(files, [[], ["--unsorted"]], strict=True):
        dnsrig("zone", "generate", file, "--model", "tld", "--names", 2000, "--seed", 1, *order)
    lines = [file.read_text().splitlines() for file in files]
    assert lines[0] != lines[1]
    assert lines[0][0] == lines[1][0]
    assert sorted(lines[0]) == sorted(lines[1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--names", 5], "give --records"),
        (["--model", "flat", "--records", 50], "--records is for the model small only"),
        (["--model", "flat", "--signed-share", 0.5], "for the model tld only"),
        (["--model", "tld", "--signed-share", "nan"], "not within 0 and 1"),
        (["--model", "tld", "-o", "."], "choose a top-level domain"),
        (["--model", "tld", "-o", "a..b"], "not a domain name"),
        (["--model", "reverse", "-o", "example.test."], "in-addr.arpa"),
        (["--model", "reverse", "-o", "0.0.10.in-addr.arpa.", "--names", 300], "no more than 254"),
        (["--model", "enterprise", "--names", 5], "24 names or more"),
        (["--model", "flat", "--names", 0], "--names"),
    ],
)
def test_what_cannot_be_made_is_refused(dnsrig, tmp_path, arguments, said):
    file = tmp_path / "made.zone"
    done = dnsrig("zone", "generate", file, *arguments)
    assert (done.code, done.out) == (2, ""), done.err
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_json_and_the_zone_do_not_share_standard_output(dnsrig):
    done = dnsrig("zone", "generate", "-", "--json")
    assert (done.code, done.out) == (2, "")
    assert "name a file by FILE" in done.err


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_FILE_OCTETS, SMALL_FILE_OCTETS))


@pytest.mark.parametrize("order", [[], ["--unsorted"]])
def test_a_full_disk_leaves_nothing(tmp_path, order):
    file = tmp_path / "made.zone"
    file.write_text("before\n")
    command = [sys.executable, "-m", "dnsrig", "zone", "generate", file, "--model", "flat", *order]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, preexec_fn=limit_files)
    assert done.returncode == 3, done.stderr
    assert f"{file}: cannot write the zone file: File too large" in done.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before\n"]


@pytest.mark.parametrize(("target", "code"), TARGETS)
def test_standard_output_that_takes_no_more(target, code):
    command = [sys.executable, "-m", "dnsrig", "zone", "generate", "-", "--model", "flat"]
    done = run_into(target, command)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_help_and_guide_name_the_defaults_of_every_model(dnsrig):
    shown = " ".join(dnsrig("zone", "generate", "--help").out.split())
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "zones-and-streams.md").read_text()
    for model, default in DEFAULTS.items():
        assert f"{default.origin}, {default.names:,} {default.counted}" in shown, model
        assert f"| `{model}` | {default.origin} | {default.names:,} | " in guide


@pytest.mark.parametrize("order", [[], ["--unsorted"]])
def test_a_signal_ends_it_and_leaves_nothing(tmp_path, order):
    file = tmp_path / "made.zone"
    # Large enough to go on for long after the signal.
    command = [sys.executable, "-m", "dnsrig", "zone", "generate", file, "--model", "tld", "--names", 100_000_000]
    with subprocess.Popen([*map(str, command), *order], stderr=subprocess.PIPE, text=True) as started:
        wait_until(lambda: begun(started, tmp_path, order))
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=60)
    assert (started.returncode, err.strip()) == (130, "dnsrig: interrupted")
    assert list(tmp_path.iterdir()) == []


def begun(started, folder, order):
    """Whether the command writes into `folder`; its temporary files for shuffling have no names."""
    assert started.poll() is None
    if not order:
        return any(path.stat().st_size > 0 for path in folder.iterdir())
    links = [target_of(link) for link in Path(f"/proc/{started.pid}/fd").iterdir()]
    return sum(str(folder) in link for link in links) > 1


def target_of(link):
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return "closed meanwhile"

"""`dnsrig stream make KIND -`: the stream on standard output, and nothing else there."""

import subprocess
import sys

import pytest

NUMBER = 20_000


def command(zone, *arguments):
    return [sys.executable, "-m", "dnsrig", "stream", "make", "denial", "-", "--zone", str(zone), *arguments]


def redirected(zone, redirection):
    argv = ["sh", "-c", f'"$@" {redirection}', "sh", *command(zone, "-n", "20", "--seed", "2")]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_standard_output_gets_what_a_file_gets(dnsrig, small_zone, tmp_path):
    file = tmp_path / "queries.txt"
    made = ("--zone", small_zone, "-n", NUMBER, "--seed", 2)
    said = dnsrig("stream", "make", "denial", file, *made)
    done = dnsrig("stream", "make", "denial", "-", *made)
    assert done.code == 0 and done.out == file.read_text()
    assert f"{file}: {done.err}" == said.out
    assert f"{NUMBER:,} queries" in done.err


def test_a_file_that_standard_output_is_appended_to_keeps_what_it_had(small_zone, tmp_path):
    file = tmp_path / "queries.txt"
    file.write_text("first. A\n")
    assert redirected(small_zone, f">>{file}").returncode == 0
    lines = file.read_text().splitlines()
    assert lines[0] == "first. A" and len(lines) == 21


def test_json_would_stand_in_the_stream(dnsrig, small_zone):
    done = dnsrig("stream", "make", "denial", "-", "--zone", small_zone, "--json")
    assert done.code == 2 and done.out == "" and "--json needs a FILE with a name" in done.err


@pytest.mark.parametrize(
    ("redirection", "said"), [(">&-", "standard output is closed"), (">/dev/full", "No space left")]
)
def test_output_that_takes_nothing_is_said(small_zone, redirection, said):
    done = redirected(small_zone, redirection)
    assert done.returncode == 3 and said in done.stderr and "Traceback" not in done.stderr


def test_nobody_is_told_where_nobody_reads(small_zone):
    with subprocess.Popen(
        command(small_zone, "-n", str(NUMBER)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        assert (process.wait(), process.stderr.read()) == (141, "")

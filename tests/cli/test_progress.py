"""How far work has come, where standard error is no terminal."""

import pytest
from dnsrig.cli import progress
from dnsrig.cli.progress import WorkProgress


def begun(monkeypatch: pytest.MonkeyPatch, first_line_s: float) -> WorkProgress:
    """Give the progress of work that has its first line after so many seconds, and no second one."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", first_line_s)
    found = WorkProgress("work", 3, "names")
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 1e9)
    return found


def work(shown: WorkProgress, until: int) -> None:
    for done in range(1, until + 1):
        shown.show(done, f"{done} of 3")


def test_the_last_line_says_that_all_is_done(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    with begun(monkeypatch, 0.0) as shown:
        work(shown, 3)
    assert capsys.readouterr().err == "1 of 3\n3 of 3\n"


def test_what_is_done_at_once_is_not_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    with begun(monkeypatch, 1e9) as shown:
        work(shown, 3)
    assert capsys.readouterr().err == ""


def test_no_line_is_told_twice(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    with begun(monkeypatch, 0.0) as shown:
        work(shown, 1)
    assert capsys.readouterr().err == "1 of 3\n"


def test_an_error_is_not_followed_by_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(ValueError, match="it broke"), begun(monkeypatch, 0.0) as shown:
        work(shown, 2)
        raise ValueError("it broke")
    assert capsys.readouterr().err == "1 of 3\n"

"""Expired answers: resolvers of the studies give none unless asked to, and say which."""

import pytest
from resolver_runs import run_study

SAYS = {
    "unbound": ("unbound.conf", "serve-expired: {}", ("no", "yes")),
    "bind": ("named.conf", "stale-answer-enable {};", ("no", "yes")),
    "knot-resolver": ("kresd.conf", "modules.load('serve_stale < cache')", None),
    "powerdns-recursor": ("recursor.conf", "serve-stale-extensions={}", ("0", "2880")),
}


@pytest.mark.parametrize(("stale", "servers"), [(False, ("unbound", "bind")), (True, tuple(SAYS))])
def test_expired_answers_are_off_unless_asked_for(tmp_path, stale, servers):
    short = {"load_s": 0.5, "questions": 20, "serve_stale": stale}
    run, summary = run_study("full-cache", tmp_path, servers, **short)
    assert summary["status"] == "complete"
    for server in servers:
        name, line, values = SAYS[server]
        texts = [path.read_text() for path in run.path.glob(f"servers/{server}*/**/{name}")]
        wanted = line.format(values[stale]) if values else line
        assert texts
        assert all((wanted in text) == (stale or values is not None) for text in texts), server
        # Else Unbound gives what has expired also where servers answer.
        assert all(("serve-expired-client-timeout: 1800" in text) == (stale and server == "unbound") for text in texts)
    said = f"serve-stale {'on' if stale else 'off'}"
    assert all(said in " ".join(item["remarks"]) for item in run.measurements())
    assert said in (run.path / "report.md").read_text()

"""N-same-port: queries from one port."""

from dataclasses import replace

from dnsrig.items._same_port import check_same_port
from dnsrig.items.path._families import judge_each
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.path import VERSIONS, Family, PathSubject
from dnsrig.verification.verdicts import Outcome, Severity, Verdict, inconclusive

ITEM = Item(
    id="N-same-port",
    role="path",
    group="Changes",
    requirement="Queries that a client sends at once from one port come through the path, and so do their responses.",
    references=("RFC 5625 section 3", "RFC 4787 section 4.3"),
    severity=Severity.ERROR,
    consequence="Stubs that ask for A and AAAA from one port, as those of most systems do, wait seconds for each name.",
    procedure=(
        "By each version of IP, A and AAAA of a name are asked for at once from one port, up to six times, until "
        "both are answered, which the server does a tenth of a second later."
    ),
    dig=("getent ahosts x.plain.rig.example   # with the server in /etc/resolv.conf",),
    faults=("path-answers-once-a-port", "path-closes-after-response"),
)


def check(subject: PathSubject) -> Outcome:
    """Ask for both at once."""
    found = judge_each(subject, _check)
    return found if isinstance(found, Outcome) else found[-1]


def _check(subject: PathSubject, family: Family) -> Outcome:
    if shut := subject.shut(family):
        return inconclusive(shut)
    found = check_same_port(subject.way(family).asker)
    if found.verdict is Verdict.PASS:
        return found
    return replace(found, reason=f"{VERSIONS[family]}: {found.reason}")

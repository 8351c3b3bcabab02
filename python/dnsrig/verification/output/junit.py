"""A verification as JUnit XML, which build servers show: an item is a test case."""

import shlex
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from dnsrig import __version__
from dnsrig.characters import plain
from dnsrig.verification.output.comparison import Comparison
from dnsrig.verification.runner import Result
from dnsrig.verification.verdicts import Severity, Verdict
from dnsrig.verification.verification import LABELS, NotVerified, Verification


def junit_xml(
    verifications: Sequence[Verification],
    fail_on: Severity,
    not_verified: NotVerified = (),
    *,
    fails_on_inconclusive: bool = False,
) -> str:
    """Write the XML. Items that failed below `fail_on` are not failures here, and say so.

    What could not be verified, or not to the end, has an error; `not_verified` are targets with the reason. With
    `fails_on_inconclusive` inconclusive items have errors too, as build servers may look at the XML alone; else they
    are skipped.
    """
    suites = ET.Element("testsuites")
    for name, verification in zip(Comparison(verifications).columns, verifications, strict=True):
        failures = [result for result in verification.of(Verdict.FAIL) if _counts(result, fail_on)]
        left_open = verification.of(Verdict.INCONCLUSIVE)
        errors = bool(verification.incomplete) + (len(left_open) if fails_on_inconclusive else 0)
        skipped = len(verification.of(Verdict.NOT_APPLICABLE)) + (0 if fails_on_inconclusive else len(left_open))
        suite = ET.SubElement(
            suites,
            "testsuite",
            name=plain(f"dnsrig verify {verification.role} {name}"),
            tests=str(len(verification.results) + bool(verification.incomplete)),
            failures=str(len(failures)),
            errors=str(errors),
            skipped=str(skipped),
            time=f"{verification.elapsed_s:.3f}",
            # UTC, but unsaid: the schema that readers check by has no time zone.
            timestamp=verification.began_utc.removesuffix("Z"),
        )
        _properties(suite, verification)
        classname = _classname(verification.role, name)
        for result in verification.results:
            case = _case(suite, classname, result)
            if fails_on_inconclusive and result.outcome.verdict == Verdict.INCONCLUSIVE:
                ET.SubElement(case, "error", type="inconclusive", message=plain(result.outcome.reason))
            else:
                _verdict(case, verification, result, fail_on)
        if verification.incomplete:
            _error(suite, classname, verification.incomplete)
    for target, reason in not_verified:
        title = plain(f"dnsrig verify {target}")
        suite = ET.SubElement(suites, "testsuite", name=title, tests="1", failures="0", errors="1", skipped="0")
        _error(suite, _classname("verify", target), reason)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _classname(role: str, target: str) -> str:
    """Name the target's class: readers of JUnit XML take what is before a dot for a package."""
    return plain(f"dnsrig.{role}.{target.replace('.', '_')}")


def _properties(suite: ET.Element, verification: Verification) -> None:
    endpoint = verification.endpoint
    told = {
        "dnsrig_version": __version__,
        "command": shlex.join(verification.command),
        "server_version": verification.server_version,
        "zone": verification.zone,
        "address": None if endpoint is None else endpoint.address,
        "port": None if endpoint is None else str(endpoint.port),
        "seed": None if verification.seed is None else str(verification.seed),
        "incomplete": verification.incomplete,
    }
    properties = ET.SubElement(suite, "properties")
    for name, value in told.items():
        if value:
            ET.SubElement(properties, "property", name=name, value=plain(value))


def _error(suite: ET.Element, classname: str, reason: str) -> None:
    case = ET.SubElement(suite, "testcase", classname=classname, name="all items are run to their end", time="0.000")
    ET.SubElement(case, "error", type="incomplete", message=plain(reason))


def _counts(result: Result, fail_on: Severity) -> bool:
    return result.item.severity.rank >= fail_on.rank


def _case(suite: ET.Element, classname: str, result: Result) -> ET.Element:
    name = f"{result.item.id} {result.item.requirement}"
    return ET.SubElement(suite, "testcase", classname=classname, name=name, time=f"{result.elapsed_s:.3f}")


def _verdict(case: ET.Element, verification: Verification, result: Result, fail_on: Severity) -> None:
    item, outcome = result.item, result.outcome
    known = verification.known_deviation(result)
    told = f"{item.consequence}\n{', '.join(item.references)}" + ("" if known is None else f"\nknown: {known}")
    evidence = "\n\n".join(one.text for one in outcome.evidence)
    if outcome.verdict == Verdict.FAIL and _counts(result, fail_on):
        failure = ET.SubElement(case, "failure", type=str(item.severity), message=plain(outcome.reason))
        failure.text = plain(f"{told}\n\n{evidence}")
    elif outcome.verdict in {Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE}:
        ET.SubElement(case, "skipped", message=plain(f"{LABELS[outcome.verdict]}: {outcome.reason}"))
    else:
        ET.SubElement(case, "system-out").text = plain(f"{LABELS[outcome.verdict]}: {outcome.reason}")

"""A verification as JUnit XML, which build servers show: an item is a test case."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from dnsrig.verification.runner import Result
from dnsrig.verification.verdicts import Severity, Verdict
from dnsrig.verification.verification import Verification

NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, even escaped."""


def junit_xml(verifications: Sequence[Verification], fail_on: Severity) -> str:
    """Write the XML. Items that failed below `fail_on` are not failures here, and say so."""
    suites = ET.Element("testsuites")
    for verification in verifications:
        failures = [result for result in verification.of(Verdict.FAIL) if _counts(result, fail_on)]
        skipped = verification.of(Verdict.NOT_APPLICABLE) + verification.of(Verdict.INCONCLUSIVE)
        suite = ET.SubElement(
            suites,
            "testsuite",
            name=f"dnsrig verify {verification.role} {verification.target}",
            tests=str(len(verification.results)),
            failures=str(len(failures)),
            errors="0",
            skipped=str(len(skipped)),
            time=f"{verification.elapsed_s:.3f}",
        )
        for result in verification.results:
            _case(suite, verification, result, fail_on)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _counts(result: Result, fail_on: Severity) -> bool:
    return result.item.severity.rank >= fail_on.rank


def _case(suite: ET.Element, verification: Verification, result: Result, fail_on: Severity) -> None:
    item, outcome = result.item, result.outcome
    classname = f"dnsrig.{verification.role}.{verification.target}"
    case = ET.SubElement(suite, "testcase", classname=classname, name=f"{item.id} {item.requirement}")
    case.set("time", f"{result.elapsed_s:.3f}")
    known = verification.known_deviation(result)
    told = f"{item.consequence}\n{', '.join(item.references)}" + ("" if known is None else f"\nknown: {known}")
    evidence = "\n\n".join(one.text for one in outcome.evidence)
    if outcome.verdict == Verdict.FAIL and _counts(result, fail_on):
        failure = ET.SubElement(case, "failure", type=str(item.severity), message=_text(outcome.reason))
        failure.text = _text(f"{told}\n\n{evidence}")
    elif outcome.verdict in {Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE}:
        ET.SubElement(case, "skipped", message=_text(f"{outcome.verdict.value}: {outcome.reason}"))
    else:
        ET.SubElement(case, "system-out").text = _text(f"{outcome.verdict.value}: {outcome.reason}")


def _text(text: str) -> str:
    return NOT_XML.sub("?", text)

"""The summary of a run: what `dnsrig run functionality --json` prints and `summary.json` holds (functionality.json)."""

from collections.abc import Mapping, Sequence
from typing import Any

from dnsrig.runs.folder import COMPLETE, RunFolder
from dnsrig.runs.host import busy_warning
from dnsrig.studies.functionality.found import ItemRow, PublishedRow, RoleFindings, Target, findings
from dnsrig.studies.functionality.support import SupportRow, support
from dnsrig.verification.item import Role
from dnsrig.verification.verdicts import Verdict
from dnsrig.wording import counted

SCHEMA = "dnsrig-functionality/1"
ROLE_WORDS: Mapping[Role, str] = {
    "authoritative": "authoritative server",
    "resolver": "resolver",
    "proxy": "DNS proxy",
    "path": "network path",
}


def summarise_run(run: RunFolder) -> dict[str, Any]:
    """Give the object of functionality.json."""
    manifest = run.manifest()
    found = findings(run)
    return {
        "schema": SCHEMA,
        "study": manifest["study"],
        "run": run.path.name,
        "status": run.status,
        "reason": manifest.get("reason"),
        "answers": [*_published_answer(found), *(_answer(target) for role in found for target in role.targets)],
        "targets": [_target(target) for role in found for target in role.targets],
        "published": [_published(role, row) for role in found for row in role.published],
        "support": [_support(role, row) for role in found for row in support(role.targets)],
        "items": [_item(role, row) for role in found for rows in role.groups.values() for row in rows],
        "not_verified": manifest["failures"],
        "warnings": warnings(run, found),
    }


def warnings(run: RunFolder, found: Sequence[RoleFindings]) -> list[str]:
    """Say what a reader must know before believing a verdict of this run."""
    told = []
    if run.status != COMPLETE:
        told.append(f"This run is {run.status}: targets may be missing.")
    if run.manifest()["settings"].get("scope") == "published":
        told.append("This was a quick run: JPRS-2010's items alone, without those of RFC 5011.")
    if busy := busy_warning(run.host()):
        told.append(busy)
    open_items = sum(len(target.of(Verdict.INCONCLUSIVE)) for role in found for target in role.targets)
    if open_items:
        told.append(f"{counted(open_items, 'item')} could not be found out; the reasons stand below.")
    return told


def _published_answer(found: Sequence[RoleFindings]) -> list[dict[str, str]]:
    """Say in a sentence how all targets did by JPRS-2010's items."""
    rows = [(role, row) for role in found for row in role.published if any(row.verdicts)]
    if not rows:
        return []
    failing = [
        f"{row.name} ({', '.join(_who(role, row, Verdict.FAIL))})" for role, row in rows if row.has(Verdict.FAIL)
    ]
    claim = f"JPRS-2010: none of the {len(rows)} items that were run fails"
    if failing:
        claim = (
            f"JPRS-2010: {len(failing)} of the {len(rows)} items that were run {_fail(len(failing))} on some target: "
        )
        claim += "; ".join(failing)
    by_tcp = [row.name for _, row in rows if row.has(Verdict.PASS_BY_TCP)]
    not_run = sum(len(role.published) for role in found) - len(rows)
    details = [f"pass by TCP on some targets: {', '.join(by_tcp)}"] if by_tcp else []
    details += [f"{counted(not_run, 'item')} not run"] if not_run else []
    detail = "; ".join(details) or "none of them only by TCP"
    return [_sentence(claim, detail)]


def _who(role: RoleFindings, row: PublishedRow, verdict: Verdict) -> list[str]:
    return [target.title for target, found in zip(role.targets, row.verdicts, strict=True) if found == verdict]


def _sentence(claim: str, detail: str) -> dict[str, str]:
    return {"claim": claim, "detail": detail, "text": f"{claim} ({detail})."}


def _answer(target: Target) -> dict[str, str]:
    """Say in a sentence how a target did."""
    counts = target.counts
    applicable = len(target.items) - counts[Verdict.NOT_APPLICABLE]
    failed = [item["id"] for item in target.of(Verdict.FAIL)]
    name = f"{target.title} {target.version}".strip()
    who = name if target.role == "path" else f"{name}, {ROLE_WORDS[target.role]}"
    if failed:
        claim = f"{who}: {len(failed)} of {applicable} items {_fail(len(failed))}: {', '.join(failed)}"
    else:
        claim = f"{who}: no item fails of {applicable}"
    known = [item["id"] for item in target.of(Verdict.FAIL) if target.known_deviation(item) is not None]
    details = []
    if known:
        all_known = "as known of this version"
        details.append(all_known if len(known) == len(failed) else f"{', '.join(known)} {all_known}")
    by_tcp = [item["id"] for item in target.of(Verdict.PASS_BY_TCP)]
    if by_tcp:
        details.append(f"{', '.join(by_tcp)} pass by TCP" if len(by_tcp) > 1 else f"{by_tcp[0]} passes by TCP")
    if counts[Verdict.INCONCLUSIVE]:
        details.append(f"{counts[Verdict.INCONCLUSIVE]} inconclusive")
    if counts[Verdict.NOT_APPLICABLE]:
        details.append(f"{counts[Verdict.NOT_APPLICABLE]} not applicable")
    detail = "; ".join(details) or ("the others pass" if failed else "every one passes")
    return _sentence(claim, detail)


def _fail(number: int) -> str:
    return "fails" if number == 1 else "fail"


def _target(target: Target) -> dict[str, Any]:
    reasons = {item["id"]: target.known_deviation(item) for item in target.of(Verdict.FAIL)}
    return {
        "case_id": target.case_id,
        "role": target.role,
        "target": target.name,
        "title": target.title,
        "version": target.version,
        "elapsed_s": round(target.elapsed_s, 3),
        "summary": target.counts,
        "known_deviations": {item: reason for item, reason in reasons.items() if reason is not None},
    }


def _published(role: RoleFindings, row: PublishedRow) -> dict[str, Any]:
    return {
        "role": role.role,
        "id": row.published.id,
        "requirement": row.published.requirement,
        "outcome": row.published.outcome,
        "told": row.published.told,
        "items": list(row.published.items),
        "verdicts": _verdicts(role, row.verdicts),
        "raised": _verdicts(role, row.raised),
    }


def _support(role: RoleFindings, row: SupportRow) -> dict[str, Any]:
    pairs = zip(role.targets, row.statuses, strict=True)
    return {
        "algorithm": row.algorithm,
        "title": row.title,
        "digests": {
            target.name: {str(digest): str(status) for digest, status in statuses.items()} for target, statuses in pairs
        },
    }


def _item(role: RoleFindings, row: ItemRow) -> dict[str, Any]:
    return {
        "role": role.role,
        "id": row.item["id"],
        "group": row.item["group"],
        "requirement": row.item["requirement"],
        "severity": row.item["severity"],
        "verdicts": _verdicts(role, row.verdicts),
        "raised": _verdicts(role, row.raised),
    }


def _verdicts(role: RoleFindings, verdicts: Sequence[Verdict | None]) -> dict[str, str | None]:
    pairs = zip(role.targets, verdicts, strict=True)
    return {target.name: None if verdict is None else str(verdict) for target, verdict in pairs}

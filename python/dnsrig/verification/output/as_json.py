"""A verification as JSON: schemas/verification.json."""

from typing import Any

from dnsrig.verification.item import Item
from dnsrig.verification.runner import Result
from dnsrig.verification.verification import Verification

SCHEMA = "dnsrig-verification/1"


def verification_as_json(verification: Verification) -> dict[str, Any]:
    """Give the object."""
    return {
        "schema": SCHEMA,
        "role": verification.role,
        "target": verification.target,
        "server_version": verification.server_version,
        "zone": verification.zone,
        "elapsed_s": round(verification.elapsed_s, 3),
        "items": [_result(result) for result in verification.results],
        "summary": {str(verdict): count for verdict, count in verification.summary.items()},
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "id": result.item.id,
        "requirement": result.item.requirement,
        "verdict": str(result.outcome.verdict),
        "severity": str(result.item.severity),
        "reason": result.outcome.reason,
        "consequence": result.item.consequence,
        "references": list(result.item.references),
        "evidence": [{"title": one.title, "text": one.text} for one in result.outcome.evidence],
    }


def item_as_json(item: Item) -> dict[str, Any]:
    """Give what an item says of itself."""
    return {
        "id": item.id,
        "role": item.role,
        "group": item.group,
        "requirement": item.requirement,
        "references": list(item.references),
        "severity": str(item.severity),
        "consequence": item.consequence,
        "procedure": item.procedure,
        "dig": list(item.dig),
        "needs": list(item.needs),
        "faults": list(item.faults),
        "is_slow": item.is_slow,
    }

"""Verifications and items as JSON: verification.json, verifications.json, item.json and items.json of the schemas."""

from collections.abc import Sequence
from typing import Any

from dnsrig import __version__
from dnsrig.verification.item import Item
from dnsrig.verification.output.comparison import Comparison
from dnsrig.verification.runner import Result
from dnsrig.verification.verification import NotVerified, Verification

SCHEMA = "dnsrig-verification/1"
COMPARISON_SCHEMA = "dnsrig-verifications/1"
ITEM_SCHEMA = "dnsrig-item/1"
ITEMS_SCHEMA = "dnsrig-items/1"


def verification_as_json(verification: Verification) -> dict[str, Any]:
    """Give the object."""
    return {
        "schema": SCHEMA,
        "role": verification.role,
        "target": verification.target,
        "server_version": verification.server_version,
        "zone": verification.zone,
        "address": None if verification.endpoint is None else verification.endpoint.address,
        "port": None if verification.endpoint is None else verification.endpoint.port,
        "began": verification.began_utc,
        "elapsed_s": round(verification.elapsed_s, 3),
        "dnsrig_version": __version__,
        "seed": verification.seed,
        "command": list(verification.command),
        "incomplete": verification.incomplete or None,
        "remark": verification.remark or None,
        "items": [_result(verification, result) for result in verification.results],
        "summary": {str(verdict): count for verdict, count in verification.summary.items()},
    }


def comparison_as_json(verifications: Sequence[Verification], not_verified: NotVerified) -> dict[str, Any]:
    """Give the object for several targets; `not_verified` are those that could not be, with reasons."""
    comparison = Comparison(verifications)
    return {
        "schema": COMPARISON_SCHEMA,
        "verifications": [verification_as_json(verification) for verification in verifications],
        "comparison": [
            {
                "id": row.item.id,
                "requirement": row.item.requirement,
                "severity": str(row.item.severity),
                "differs": row.differs,
                "verdicts": {
                    name: None if verdict is None else str(verdict)
                    for name, verdict in zip(comparison.columns, row.verdicts, strict=True)
                },
            }
            for row in comparison.rows
        ],
        "not_verified": [{"target": target, "reason": reason} for target, reason in not_verified],
    }


def _result(verification: Verification, result: Result) -> dict[str, Any]:
    return {
        "id": result.item.id,
        "group": result.item.group,
        "requirement": result.item.requirement,
        "verdict": str(result.outcome.verdict),
        "severity": str(result.item.severity),
        "reason": result.outcome.reason,
        "known_deviation": verification.known_deviation(result),
        "consequence": result.item.consequence,
        "references": list(result.item.references),
        "evidence": [{"title": one.title, "text": one.text} for one in result.outcome.evidence],
    }


def item_as_json(item: Item) -> dict[str, Any]:
    """Give what an item says of itself."""
    return {
        "schema": ITEM_SCHEMA,
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


def items_as_json(items: Sequence[Item]) -> dict[str, Any]:
    """Give what several items say of themselves."""
    return {"schema": ITEMS_SCHEMA, "items": [item_as_json(item) for item in items]}

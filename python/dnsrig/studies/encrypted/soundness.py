"""Whether a load of encrypted-cost was what its case says, in words that are the same for all repetitions."""

from collections.abc import Mapping
from typing import Any

from dnsrig.report.verdicts import percent
from dnsrig.studies.bench import Observation, without_amount
from dnsrig.studies.encrypted.cases import Case, Traffic
from dnsrig.studies.placement import Placement

FULL_TOLERATED = 0.05
"""Share of full handshakes among resumed sessions from which a case is not one of resumed sessions any more."""
FEWEST_SESSIONS = 2
"""Sessions that each client should complete where many queries share one: opening them is a part of the cost."""
RATE_TOLERATED = 0.01
SERVER_AT_EASE = 0.8
GENERATOR_AT_EASE = 0.8
"""Shares of their processors below which server and generator could have done more."""
_OTHERS = "other programs kept the generator from its CPU"
_ATTEMPTS_FAILED = "of the attempts to open a session failed"
_BESIDE = "the load beside it, or other programs, kept the generator from its CPU"


def _load_faults(traffic: Traffic, report: Mapping[str, Any], name: str, answer_octets: int | None) -> list[str]:
    """Say what of one load did not happen as it should; `answer_octets` is the size of every right answer, if known."""
    others = sorted(rcode for rcode, count in report["rcodes"].items() if count and rcode != "NOERROR")
    found = [f"{name} got answers of {', '.join(others)}"] if others else []
    if traffic.attempts_per_s is not None:
        return [*found, *_rate_faults(traffic.attempts_per_s, report, name)]
    if not report["answered"]:
        return [*found, f"{name} got no answer"]
    if answer_octets is not None and report["bytes"]["received"] != report["answered"] * answer_octets:
        found.append(f"{name} got answers of another size than the first one over UDP")
    return [*found, *_session_faults(traffic, report, name)]


def _rate_faults(asked: float, report: Mapping[str, Any], name: str) -> list[str]:
    rate = report["connections"]["tried"] / report["duration_s"]
    if abs(rate / asked - 1) <= RATE_TOLERATED:
        return []
    return [f"{name} did not make as many attempts a second as asked, within {percent(RATE_TOLERATED)} %"]


def _session_faults(traffic: Traffic, report: Mapping[str, Any], name: str) -> list[str]:
    found = []
    sessions = report["connections"]
    full = full_share(sessions)
    if traffic.resumption and full is not None and full > FULL_TOLERATED:
        found.append(
            f"more than {percent(FULL_TOLERATED)} % of the sessions of {name} were full handshakes, not resumed"
        )
    if not traffic.resumption and sessions["resumed"]:
        found.append(f"some sessions of {name} were resumed where all should be new")
    return found


def _completion_faults(traffic: Traffic, report: Mapping[str, Any]) -> list[str]:
    kept = (traffic.queries_per_session or 0) > 1
    if not kept or report["connections"]["closed"] >= FEWEST_SESSIONS * traffic.clients:
        return []
    return [f"the clients completed fewer than {FEWEST_SESSIONS} sessions each: use longer loads (--load-seconds)"]


def full_share(connections: Mapping[str, int]) -> float | None:
    """Give the share of full handshakes among those made; None without any."""
    made = connections["full"] + connections["resumed"]
    return connections["full"] / made if made else None


def beside_taints(traffic: Traffic, report: Mapping[str, Any]) -> list[str]:
    """Give the reasons for distrust of the load beside, as its own report names them.

    That attempts fail which are to be refused is none.
    """
    reasons = (without_amount(reason) for reason in report["tainted"])
    kept = (reason for reason in reasons if not (traffic.refused and reason.endswith(_ATTEMPTS_FAILED)))
    return [f"the load beside it: {reason}" for reason in kept]


def reworded(reasons: list[str], placement: Placement) -> list[str]:
    """Name the load beside as what took the generator's processor, where the two share one."""
    if len(placement.generator) > 1:
        return reasons
    return [reason.replace(_OTHERS, _BESIDE) for reason in reasons]


def both_at_ease(load: Mapping[str, Any], observed: Observation, placement: Placement) -> list[str]:
    """Say so if neither end of a closed loop was busy although nothing else was: the rate is then not a maximum."""
    server = observed.server["cpu_share"] / len(placement.server)
    generator = load["generator"]["cpu_share"] + load["generator"]["run_delay_share"]
    if server >= SERVER_AT_EASE or generator >= GENERATOR_AT_EASE or observed.disturbances:
        return []
    return ["neither server nor generator was busy: with more sessions or queries in flight the rate may rise"]


def case_faults(
    case: Case, load: Mapping[str, Any], beside: Mapping[str, Any] | None, answer_octets: int | None
) -> list[str]:
    """Say what of a case's loads did not happen as it should."""
    found = _load_faults(case.main, load, "the load", answer_octets)
    found += _completion_faults(case.main, load)
    if case.beside is not None and beside is not None:
        found += _load_faults(case.beside, beside, "the load beside it", answer_octets)
    return found

"""About how long the cases of the study signing take, before any was measured.

The costs are rough: what signers took for the whole zone of CA-2006 on two processors (docs/benchmarks.md). Signing
itself is measured here, for a moment, so that processors and what else they do count. A run corrects the forecast by
what its cases take.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dnsrig import _core
from dnsrig.studies.plan import Plan, PlannedCase
from dnsrig.studies.signing.cases import Case, all_cases
from dnsrig.studies.signing.settings import KEYS, PIECES, SigningSettings

MEASURED_S = 0.1
"""How long each key signs for the forecast."""
STARTING_S = {"dnsrig": 0.25}
USUAL_START_S = 0.05
AROUND_S = 0.25
"""What goes on around each measurement: a process that starts it, the monitor, files."""
OTHER_US = {"dnsrig": 3.0, "bind": 70.0, "ldns": 38.0, "knot": 30.0, "dnst": 20.0}
"""What a signature brings besides its making: reading, chaining, writing."""
LIBRARY = {"dnsrig": 1.0, "dnst": 2.0}
USUAL_LIBRARY = 2.4
"""How many times what dnsrig takes to make an ECDSA or EdDSA signature others take."""
RSA_LIBRARY = {"knot": 3.0}
RSA_VERIFIED = 0.06
"""Verifying by an RSA key, as a share of signing."""
VERIFIED_US = {"dnsrig": 14.0}
USUAL_VERIFIED_US = 90.0
"""Verifying a signature by an elliptic curve."""
CHECKED_US = 20.0
"""What looking at a signed zone takes for each signature, besides verifying it."""
COUNTED_US = 5.0
OPT_OUT_SHARE = 0.1
"""Signatures of a registry's zone with opt-out, as a share of those without."""
ONE_THREAD = ("ldns",)


@dataclass(frozen=True, slots=True)
class Signing:
    """What the forecast rests on.

    `signatures` are those of the whole zone with NSEC; `cost_s` is the time of one by key, on one thread; `slowness`
    is how many times its CPU time a thread takes here at present.
    """

    signatures: int
    cost_s: Mapping[str, float]
    slowness: float


def expected_signatures(statistics: Mapping[str, object]) -> int:
    """Estimate the signatures of a zone with NSEC from its statistics: RRsets that are authoritative, and names."""
    counts = {name: value for name, value in statistics.items() if isinstance(value, int)}
    outside = counts["delegations"] + counts["glue_records"]
    return max(1, counts["rrsets"] - outside) + max(1, counts["names"] - counts["glue_records"])


def expected_of_names(names: int, signed_share: float = 0.05) -> int:
    """Estimate the signatures of a synthetic registry's zone with NSEC."""
    return round(names * (1 + signed_share)) + 10


def look(signatures: int, keys: Iterable[str]) -> Signing:
    """Sign with each key for a moment."""
    began = time.monotonic(), time.process_time()
    rates = {key: _core.signing_rate(KEYS[key].algorithm, KEYS[key].bits, 1, MEASURED_S) for key in dict.fromkeys(keys)}
    wall_s, cpu_s = time.monotonic() - began[0], time.process_time() - began[1]
    return Signing(signatures, {key: 1 / rate for key, rate in rates.items()}, max(1.0, wall_s / max(cpu_s, 0.01)))


def forecast(settings: SigningSettings, signing: Signing) -> Plan:
    """Give all cases with about how long each takes."""
    cases = tuple(_planned(case, settings, signing) for case in all_cases(settings))
    keys = settings.resigned_keys if {"incremental", "pieces"} & set(settings.parts) else ()
    preparing_s = signing.slowness * (1.0 + sum(4.0 + _input_s(key, settings, signing) for key in keys))
    return Plan(cases, settings.repetitions, preparing_s)


def _input_s(key: str, settings: SigningSettings, signing: Signing) -> float:
    """Estimate what making the input of re-signing takes: signed in pieces, joined, verified once."""
    each_us = signing.cost_s[key] * 1e6 / settings.all_threads + OTHER_US["dnsrig"] * 4 + VERIFIED_US["dnsrig"]
    return signing.signatures * each_us / 1e6


def _planned(case: Case, settings: SigningSettings, signing: Signing) -> PlannedCase:
    slow = signing.slowness
    if case.action == "bound":
        seconds = settings.bound_s + (STARTING_S["dnsrig"] + AROUND_S) * slow
        return PlannedCase(case.case_id, seconds, seconds)
    signatures = signing.signatures / PIECES if case.source == "piece" else float(signing.signatures)
    if case.chain == "opt-out" and case.program not in ONE_THREAD:
        signatures *= OPT_OUT_SHARE
    around_s = (AROUND_S + STARTING_S.get(case.program, USUAL_START_S) + signatures * COUNTED_US / 1e6) * slow
    if case.action in {"split", "join"}:
        around_s += signatures * OTHER_US[case.program] / 2e6 * slow
        return PlannedCase(case.case_id, around_s, around_s)
    later_s = around_s + signatures * _signed_us(case, signing) / 1e6
    is_checked = case.source != "piece"
    checked_s = signatures * (_verified_us("", case.key, signing) + CHECKED_US * slow) / 1e6 if is_checked else 0.0
    return PlannedCase(case.case_id, later_s + checked_s, later_s)


def _signed_us(case: Case, signing: Signing) -> float:
    """Estimate what a signer takes for each signature of its output, made or kept."""
    made = 1.0 if case.regenerated is None else case.regenerated / 100
    threads = 1 if case.program in ONE_THREAD else case.threads
    library = _library(case.program, case.key)
    making_us = made * signing.cost_s[case.key] * 1e6 * library
    verifies = case.verifies_kept or case.program != "dnsrig"
    verifying_us = (1 - made) * _verified_us(case.program, case.key, signing) if verifies else 0.0
    return (making_us + verifying_us) / threads + OTHER_US[case.program] * signing.slowness


def _library(program: str, key: str) -> float:
    """Give how many times what dnsrig takes to make a signature a program takes."""
    if KEYS[key].bits is not None:
        return RSA_LIBRARY.get(program, 1.0)
    return LIBRARY.get(program, USUAL_LIBRARY)


def _verified_us(program: str, key: str, signing: Signing) -> float:
    """Estimate what verifying a signature takes."""
    if KEYS[key].bits is not None:
        return RSA_VERIFIED * signing.cost_s[key] * 1e6
    return VERIFIED_US.get(program, USUAL_VERIFIED_US) * signing.slowness

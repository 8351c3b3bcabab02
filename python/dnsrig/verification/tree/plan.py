"""All zones of the tree."""

from dnsrig.verification.tree import (
    zones_algorithms,
    zones_chains,
    zones_cookies,
    zones_costly,
    zones_denial,
    zones_down,
    zones_empty_names,
    zones_forged_denial,
    zones_good,
    zones_letters,
    zones_multiplying,
    zones_online,
    zones_serving,
    zones_signatures,
    zones_spoofing,
    zones_ttls,
    zones_types,
    zones_unproven,
)
from dnsrig.verification.tree.cases import ZonePlan

PLANS: tuple[ZonePlan, ...] = (
    *zones_good.PLANS,
    *zones_letters.PLANS,
    *zones_signatures.PLANS,
    *zones_algorithms.PLANS,
    *zones_denial.PLANS,
    *zones_forged_denial.PLANS,
    *zones_chains.PLANS,
    *zones_costly.PLANS,
    *zones_serving.PLANS,
    *zones_spoofing.PLANS,
    *zones_ttls.PLANS,
    *zones_multiplying.PLANS,
    *zones_online.PLANS,
    *zones_empty_names.PLANS,
    *zones_unproven.PLANS,
    *zones_cookies.PLANS,
    *zones_down.PLANS,
    *zones_types.PLANS,
)

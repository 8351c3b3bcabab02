"""A-soa-times: the times of the SOA record."""

from dns.rdtypes.ANY.SOA import SOA

from dnsrig.dates import DAY_S
from dnsrig.items.authoritative._answers import zone_soa
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

SHORTEST_REFRESH_S = 60
SHORTEST_EXPIRE_S = DAY_S
LONGEST_S = 366 * DAY_S
LONGEST_NEGATIVE_S = DAY_S
ITEM = Item(
    id="A-soa-times",
    role="authoritative",
    group="Zone data",
    requirement=(
        "The SOA record's EXPIRE is longer than REFRESH and RETRY together, RETRY not longer than REFRESH, MINIMUM at"
        " most a day, and no time is extreme."
    ),
    references=("RFC 1912 section 2.2", "RFC 2308 section 5", "RFC 1035 section 3.3.13"),
    severity=Severity.NOTICE,
    consequence=(
        "Secondaries give the zone up when the primary is away for short, or burden it; new names stay denied."
    ),
    procedure=(
        "The SOA record is asked for. REFRESH is at least a minute and RETRY not 0, EXPIRE at least a day, and none"
        " more than a year; RETRY, EXPIRE and MINIMUM are as required."
    ),
    dig=("dig @{server} -p {port} {zone} SOA +norec +noedns",),
    needs=("zone",),
    faults=("expires-before-refresh", "retries-late", "long-minimum"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Compare the times."""
    found = zone_soa(subject)
    if found is None:
        return inconclusive("There is no SOA record; A-soa is about that.", subject.soa)
    trouble = _trouble(found[0])
    if trouble:
        return failed(f"{trouble}.", subject.soa)
    return passed("The times fit each other.", subject.soa)


def _trouble(soa: SOA) -> str:
    """Say what is wrong first, "" if nothing is."""
    times = {"REFRESH": soa.refresh, "RETRY": soa.retry, "EXPIRE": soa.expire}
    longest = max(times, key=lambda name: times[name])
    if soa.refresh < SHORTEST_REFRESH_S or not soa.retry:
        return f"REFRESH is {soa.refresh} s and RETRY {soa.retry} s, by which secondaries ask without end"
    if soa.retry > soa.refresh:
        return f"RETRY is {soa.retry} s, longer than REFRESH, {soa.refresh} s"
    if soa.expire <= soa.refresh + soa.retry:
        return f"EXPIRE is {soa.expire} s, no longer than REFRESH and RETRY together, {soa.refresh + soa.retry} s"
    if soa.expire < SHORTEST_EXPIRE_S:
        return f"EXPIRE is {soa.expire} s, less than a day"
    if times[longest] > LONGEST_S:
        return f"{longest} is {times[longest]} s, more than a year"
    if soa.minimum > LONGEST_NEGATIVE_S:
        return f"MINIMUM is {soa.minimum} s, for which names stay denied; more than a day"
    return ""

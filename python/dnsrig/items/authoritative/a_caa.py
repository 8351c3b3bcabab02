"""A-caa: CAA records that certification authorities can read."""

import re

from dns.rdatatype import RdataType
from dns.rdtypes.ANY.CAA import CAA

from dnsrig.items.authoritative._contents import Flaw, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

CRITICAL = 0x80
ISSUERS = {b"issue", b"issuewild", b"issuemail", b"issuevmc"}
KNOWN = ISSUERS | {b"iodef", b"contactemail", b"contactphone"}
"""Of IANA's registry of Certification Authority Restriction Properties."""
ISSUER = re.compile(
    rb"[ \t]*(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*[ \t]*)?"
    rb"(?:;[ \t]*(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?[ \t]*=[ \t]*(?:[\x21-\x3a\x3c-\x7e]+[ \t]*)?"
    rb"(?:;[ \t]*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?[ \t]*=[ \t]*(?:[\x21-\x3a\x3c-\x7e]+[ \t]*)?)*;?[ \t]*)?)?",
    re.IGNORECASE,
)
"""The value of issue and issuewild (RFC 8659 section 4.2), with a semicolon at the end, which is seen often."""
URL = re.compile(rb"(mailto:|https?://).+", re.IGNORECASE)
ITEM = Item(
    id="A-caa",
    role="authoritative",
    group="Zone data",
    requirement="CAA records name issuers by domain names, URLs to report to, and no critical tag that is unknown.",
    references=("RFC 8659 section 4.1", "RFC 8659 section 4.2", "RFC 8659 section 4.4", "RFC 8659 section 4.5"),
    severity=Severity.WARNING,
    consequence=(
        "No certification authority issues certificates for the names, another one than was meant may, or what was "
        "meant is ignored."
    ),
    procedure=(
        "The zone's CAA records, as far as they are known, are looked at: flags but the critical one are 0, values of"
        " issue and issuewild are a domain name or nothing with parameters, those of iodef mailto:, http: or https:"
        " URLs; a tag that is not registered is not critical."
    ),
    dig=("dig @{server} -p {port} {zone} CAA +norec",),
    needs=("zone",),
    faults=("caa-with-url-as-issuer", "caa-unknown-critical"),
)


def check(subject: AuthoritativeSubject) -> Outcome:
    """Look at the records."""
    judged = list(contents(subject).of(RdataType.CAA))
    flaws = [
        Flaw(f"{one.title} has {said}.", (one,))
        for one in judged
        for record in one.records
        if isinstance(record, CAA) and (said := _trouble(record))
    ]
    return judge_data(subject, flaws, judged, "CAA record", "{count} CAA RRsets can be read.")


def _trouble(record: CAA) -> str:
    tag, name = record.tag.lower(), record.tag.decode("ascii", "replace")
    if record.flags & ~CRITICAL:
        return f"flags {record.flags}, of which some are not defined, and are to be 0"
    if record.flags & CRITICAL and tag not in KNOWN:
        return f"the tag {name}, which is not known, as critical: nobody may issue"
    if tag in ISSUERS and not ISSUER.fullmatch(record.value):
        return f'"{record.value.decode("ascii", "replace")}" for {name}, which is no domain name'
    if tag == b"iodef" and not URL.fullmatch(record.value):
        return f'"{record.value.decode("ascii", "replace")}" for iodef, which is no URL to report to'
    return ""

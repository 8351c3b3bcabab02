"""A-one-policy: one SPF and one DMARC record."""

from dns.rdatatype import RdataType
from dns.rdtypes.ANY.TXT import TXT

from dnsrig.items.authoritative._contents import Flaw, Published, contents, judge_data
from dnsrig.verification.item import Item
from dnsrig.verification.subjects.authoritative import AuthoritativeSubject
from dnsrig.verification.verdicts import Outcome, Severity

ITEM = Item(
    id="A-one-policy",
    role="authoritative",
    group="Zone data",
    requirement="No name has more than one SPF record, or more than one DMARC record, among its TXT records.",
    references=("RFC 7208 section 4.5", "RFC 7208 section 3.2", "RFC 7489 section 6.6.3"),
    severity=Severity.WARNING,
    consequence="Receivers of mail take none of them: the domain's mail is rejected, or forged mail is accepted.",
    procedure=(
        "The zone's TXT RRsets, as far as they are known, are looked at: at most one record begins with v=spf1, or, at"
        " a name that begins with _dmarc, with v=DMARC1."
    ),
    dig=("dig @{server} -p {port} {zone} TXT +norec", "dig @{server} -p {port} _dmarc.{zone} TXT +norec"),
    needs=("zone",),
    faults=("two-spf-records", "two-dmarc-records"),
)


def _is_spf(text: bytes) -> bool:
    version, _, _ = text.partition(b" ")
    return version.lower() == b"v=spf1"


def _is_dmarc(text: bytes) -> bool:
    version, _, _ = text.partition(b";")
    return version.replace(b" ", b"") == b"v=DMARC1"


def check(subject: AuthoritativeSubject) -> Outcome:
    """Count the records."""
    judged, flaws = [], []
    for one in contents(subject).of(RdataType.TXT):
        is_policy, kind = (_is_dmarc, "DMARC") if one.name.labels[0].lower() == b"_dmarc" else (_is_spf, "SPF")
        count = sum(is_policy(text) for text in _texts(one))
        if count:
            judged.append(one)
        if count > 1:
            flaws.append(Flaw(f"{one.name} has {count} {kind} records.", (one,)))
    return judge_data(subject, flaws, judged, "SPF or DMARC record", "{count} names have one such record each.")


def _texts(one: Published) -> list[bytes]:
    return [b"".join(record.strings) for record in one.records if isinstance(record, TXT)]

"""What items about caches share: the same question twice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dns.message
import dns.rrset
from dns.rdatatype import RdataType

from dnsrig.items.proxy._through import ask_whole, lost
from dnsrig.verification.queries import Query
from dnsrig.verification.subjects.proxy import ProxySubject, Through
from dnsrig.verification.verdicts import Outcome


@dataclass(frozen=True, slots=True)
class Twice:
    """A question that was asked twice, perhaps with other flags."""

    first: Through
    second: Through

    @property
    def from_cache(self) -> bool:
        """Whether the proxy answered the second time by itself."""
        return not self.second.forwarded

    @property
    def how(self) -> str:
        """Say where the second response is from."""
        return "from the proxy's cache" if self.from_cache else "from the upstream, which was asked again"


def ask_twice(
    subject: ProxySubject, first: Query, second: Query, between: Callable[[], None] = lambda: None
) -> Twice | Outcome:
    """Ask both, and give what went wrong if one is not answered; `between` is called when the first is answered."""
    before = ask_whole(subject, first)
    wrong = lost(subject, before)
    if wrong is not None:
        return wrong
    between()
    after = ask_whole(subject, second)
    if after.client.message is None:
        return subject.unanswered(after)
    return Twice(before, after)


def signatures(through: Through) -> Sequence[dns.rrset.RRset]:
    """Give the signatures of answer and authority section."""
    message = through.client.message or dns.message.Message()
    return [rrset for rrset in (*message.answer, *message.authority) if rrset.rdtype == RdataType.RRSIG]

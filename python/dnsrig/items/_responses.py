"""Messages that are responses, which items of several roles send to who should not answer them."""

from collections.abc import Callable
from dataclasses import replace

from dnsrig.verification.asker import Asker
from dnsrig.verification.queries import Query
from dnsrig.verification.verdicts import Outcome, failed, inconclusive, passed

TIMES, DECIDING = 3, 2
GAP_S, WAIT_S = 0.1, 1.5


def judge_responses(asker: Asker, usual: Callable[[], Query]) -> Outcome:
    """Send some by UDP that are usual queries but for QR, and then such a query; one before was answered."""
    exchanges = asker.udp_in_a_row([replace(usual(), qr=True) for _ in range(TIMES)], GAP_S, WAIT_S)
    answered = [exchange for exchange in exchanges if exchange.response is not None]
    if len(answered) >= DECIDING:
        return failed(f"{len(answered)} of {TIMES} messages that are responses are answered.", *answered[:1])
    after = asker.udp(usual())
    if answered or after.message is None:
        return inconclusive(f"{len(answered)} of {TIMES} are answered.", *answered, after)
    return passed(f"None of {TIMES} messages that are responses is answered.", after)

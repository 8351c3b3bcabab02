"""P-same-id: clients that use the same ID."""

from dnsrig.verification.item import Item
from dnsrig.verification.subjects.proxy import ProxySubject
from dnsrig.verification.transparency import question_differences
from dnsrig.verification.upstream.questions import plain_query
from dnsrig.verification.verdicts import Outcome, Severity, failed, inconclusive, passed

CLIENTS = 20
ROUNDS = 3
WAIT_S = 2.0

ITEM = Item(
    id="P-same-id",
    role="proxy",
    group="Integrity",
    requirement="Clients that use the same ID at the same time get each its own response.",
    references=("RFC 5625 section 3", "RFC 1035 section 7.3", "RFC 5452 section 9.1"),
    severity=Severity.ERROR,
    consequence="With several users, answers are lost, or go to who did not ask for them.",
    procedure=(
        "Twenty different names are asked for at once from twenty ports, all with the same ID, up to three times; no "
        "response is to another question, and more than half of the clients have one."
    ),
    dig=("dig @{server} -p {port} x.plain.rig.example A +noedns +qid=4711",),
    needs=("upstream",),
    faults=("proxy-mixes-clients", "proxy-other-question"),
    runs_alone=True,
)


def check(subject: ProxySubject) -> Outcome:
    """Ask at once from many ports; more than the messages of every second client are not lost by chance."""
    for _ in range(ROUNDS):
        exchanges = subject.asker.udp_with_one_id([plain_query() for _ in range(CLIENTS)], WAIT_S)
        for exchange in exchanges:
            if exchange.message is not None and question_differences(exchange.asked, exchange.message):
                return failed(f"The response to {exchange.title} is to another question.", exchange)
        answered = sum(exchange.message is not None for exchange in exchanges)
        if answered * 2 > CLIENTS:
            return passed(f"{answered} of {CLIENTS} clients with the same ID get their own response.")
    silence = subject.silence()
    if silence:
        return inconclusive(f"The proxy does not answer a single query any more either: {silence}.")
    one_by_one = subject.asker.udp_in_a_row([plain_query() for _ in range(CLIENTS)], 0.05, WAIT_S)
    lost = sum(exchange.message is None for exchange in one_by_one)
    if lost * 4 > CLIENTS:
        return inconclusive(f"Of {CLIENTS} queries one after the other {lost} are not answered either.")
    return failed(
        f"In each of {ROUNDS} rounds, at most {CLIENTS // 2} of {CLIENTS} clients with the same ID get a response."
    )

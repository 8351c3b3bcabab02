"""Asking again in a row what was not answered, so that messages that are lost on the way accuse nobody."""

from collections.abc import Callable
from dataclasses import dataclass

from dnsrig.verification.asker import TCP_TRIES, Asker
from dnsrig.verification.exchange import Exchange
from dnsrig.verification.queries import Query

TRIES_IN_A_ROW = 10
"""So often a question is asked again, in turn with a simple one, before silence is called a failure. Even where every
second query goes without response, that none of the one and all of the other are answered comes once in a million."""
MOST_LOST = 3
"""Of so many tries, for silence to be told from loss."""
GAP_S, WAIT_S = 0.05, 1.0
"""Between those tries, and after the last."""


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """How many of single queries by UDP were answered."""

    tries: int
    answered: int
    controls: int
    controls_answered: int
    """Not counting those that are truncated for nothing: by a limit of the rate."""
    controls_heard: int
    """Counting whatever came for them."""

    @property
    def is_doubtful(self) -> bool:
        """Whether messages are lost on the way, or responses held back by a limit of their rate."""
        return self.controls_answered < self.controls

    @property
    def is_decided(self) -> bool:
        """Whether the question alone is never answered: what is lost on the way would be lost with the control too."""
        return self.tries > 0 and not self.answered and self.controls - self.controls_answered <= MOST_LOST


def ask_again(asker: Asker, query: Query | None, control: Query) -> AskedAgain:
    """Ask by UDP many times more, in turn with a simple question; the latter alone where `query` is None."""
    pair = [control] if query is None else [query, control]
    exchanges = asker.udp_in_a_row(pair * TRIES_IN_A_ROW, GAP_S, WAIT_S)
    controls = exchanges[len(pair) - 1 :: len(pair)]
    tried = [] if query is None else exchanges[::2]
    answered = sum(one.response is not None for one in tried)
    heard = sum(one.response is not None for one in controls)
    return AskedAgain(len(tried), answered, TRIES_IN_A_ROW, sum(_is_free(one) for one in controls), heard)


def lost_by_chance(asker: Asker, exchange: Exchange, make_control: Callable[[], Query]) -> str:
    """Ask again what was not answered; say, as a clause, that any message can be lost, "" if this one alone is."""
    by_tcp = exchange.transport == "tcp"
    again = ask_again(asker, None if by_tcp else exchange.query, make_control())
    if again.answered:
        times = "once" if again.answered == 1 else f"{again.answered} times"
        return f"asked {again.tries} times more, it is answered {times}"
    if again.is_decided or not again.is_doubtful or not again.controls_answered:
        return ""
    lost = f"{again.controls - again.controls_answered} of {again.controls} simple questions are unanswered as well"
    if not by_tcp:
        return lost
    tried = (exchange.query, *(make_control() for _ in range(TCP_TRIES)))
    return f"{lost}, and others by TCP are answered" if any(asker.tcp(one).message is not None for one in tried) else ""


def _is_free(control: Exchange) -> bool:
    """Say whether there is a response, and none that is truncated for nothing."""
    has_answer = control.message is not None and bool(control.message.answer)
    return control.response is not None and (has_answer or not control.is_truncated)

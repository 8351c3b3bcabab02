"""What is known of a server's TCP, so that one that never answers by it is not waited for each time."""

from dataclasses import dataclass

HOPELESS_AFTER = 3
"""So many queries in full patience, and no response to any."""
SHORT_WAIT_S = 1.0
"""How long the others are waited for then, once each."""


@dataclass(slots=True)
class TcpHabits:
    """Counts what became of queries by TCP; shared by what asks the same server."""

    silent: int = 0
    has_answered: bool = False

    def note(self, *, answered: bool) -> None:
        """Keep in mind what became of a query."""
        if answered:
            self.has_answered = True
        else:
            self.silent += 1

    @property
    def expects_silence(self) -> bool:
        """Whether nothing was ever answered."""
        return not self.has_answered and self.silent >= HOPELESS_AFTER

"""Whether a target that answered is still heard, as what an item sent may have ended it."""

import threading
from typing import Protocol

from dnsrig.verification.stopping import StoppedError, pause

SILENT_ITEMS = 8
"""After so many items without verdict the target is asked whether it is there."""
AGAIN_S = 5.0
"""It is asked again after so long: it may be starting anew, or limit its rate."""


class Asked(Protocol):
    """What can be asked whether it is there."""

    def silence(self) -> str:
        """Say, as a sentence, that the target does not answer even the simplest question any more; "" if it does."""
        ...


class Hearing:
    """Counts items without verdict, and asks whether the target is there when there are many."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._silent_items = 0
        self._is_asking = False
        self.silence = ""
        """How it did not answer any more; "" as long as it is heard."""

    def is_lost_after(self, subject: Asked) -> bool:
        """Take note of an item without verdict; say whether that makes it certain that the target is silent.

        It may take many seconds. Several threads may call it; one of them asks.
        """
        with self._lock:
            self._silent_items += 1
            if self._silent_items < SILENT_ITEMS or self._is_asking:
                return False
            self._is_asking = True
        return self._is_lost(subject)

    def is_lost_at_last(self, subject: Asked) -> bool:
        """Say the same when all items have ended, be it one without verdict."""
        return self._silent_items > 0 and self._is_lost(subject)

    def _is_lost(self, subject: Asked) -> bool:
        silence = _lasting_silence(subject)
        with self._lock:
            self._silent_items, self._is_asking, self.silence = 0, False, silence
        return silence != ""


def _lasting_silence(subject: Asked) -> str:
    try:
        if not subject.silence():
            return ""
        pause(AGAIN_S)
        return subject.silence()
    except StoppedError:
        # The run is over anyway.
        return ""

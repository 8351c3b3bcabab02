"""A target on its way to a verification, of which is kept what was found, also where it is interrupted."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime

from dnsrig.cli.progress import WorkProgress
from dnsrig.cli.signals import has_interruption_come
from dnsrig.cli.streams import say
from dnsrig.errors import SubjectFailedError
from dnsrig.verification.item import KnownItem, Role
from dnsrig.verification.runner import Result, RunInterruptedError, RunSilencedError, count_runs, run_on_each
from dnsrig.verification.target import Target, verification_of
from dnsrig.verification.verification import Verification

Keep = Callable[[Verification], None]
"""Takes each verification as soon as it is there."""
SECRETS = frozenset({"--tsig"})
"""Options whose values are for nobody else to read."""
HIDDEN = "***"
INTERRUPTED = "interrupted"


class Trial:
    """One target that is verified, from before it is started."""

    def __init__(self, role: Role, name: str, keep: Keep) -> None:
        self._role: Role = role
        self._name = name
        self._keep = keep
        self._began = datetime.now(UTC)
        self._began_s = time.monotonic()
        self.left_out_s = 0.0
        """How long something else took meanwhile, in seconds."""
        self._remark = ""

    def remark(self, remark: str, of: str = "") -> None:
        """Say what the reader should know of how the target is set up, if anything; it stands in the report too.

        It is said before any query leaves, which may be the wrong way; `of` names the target where it does not.
        """
        if remark:
            say(f"dnsrig: {of}{': ' if of else ''}{remark}")
            self._remark = remark

    def run(
        self,
        target: Target,
        items: Sequence[KnownItem],
        limit_s: float | None,
        tell: Callable[[Result], None] | None = None,
    ) -> None:
        """Run the items and keep what they found; `tell` is called with each result, in place of showing progress.

        Raises:
            RunInterruptedError: it was interrupted; what was found till then is kept.
            SubjectFailedError: the target answered when the run began, and does not any more; likewise.

        """
        runs = count_runs(items, len(target.subjects))
        try:
            with progress_of(self._name, runs) if tell is None else nullcontext(tell) as told:
                by_subject = run_on_each(
                    items,
                    target.subjects,
                    told,
                    limit_s,
                    target.lateness,
                    check=target.check_survived,
                    is_heard=True,
                )
        except RunInterruptedError as interruption:
            found = self._found(target, items, interruption.results)
            ended = f"interrupted when {runs - interruption.unended} of {runs} items had ended"
            self._keep(replace(found, incomplete=ended))
            raise
        except RunSilencedError as silenced:
            found = self._found(target, items, silenced.results)
            ended = f"the target answered no more when {runs - silenced.unended} of {runs} items had ended"
            self._keep(replace(found, incomplete=ended))
            raise SubjectFailedError(
                f"it answered when its verification began, and does not answer any more: {silenced}. "
                "What an item sent may have ended it, or something on the way shuts this host out; start it anew, and "
                "find the item by --item, which takes one at a time"
            ) from silenced
        whole = self._found(target, items, by_subject)
        # Of an interruption that a library lost there is nothing else to be seen. It is looked for now: what has ended
        # when one comes is whole, however late it is reported.
        self._keep(replace(whole, incomplete=INTERRUPTED) if has_interruption_come() else whole)

    def _found(
        self, target: Target, items: Sequence[KnownItem], by_subject: Sequence[Sequence[Result]]
    ) -> Verification:
        elapsed_s = time.monotonic() - self._began_s - self.left_out_s
        found = verification_of(
            self._role, self._name, target, items, by_subject, began=self._began, elapsed_s=elapsed_s
        )
        return replace(found, command=typed_command(), remark=self._remark)

    def nothing(self, why: str) -> Verification:
        """Give what is said of a target that no item could be run against."""
        elapsed_s = time.monotonic() - self._began_s
        return Verification(
            self._role,
            self._name,
            None,
            None,
            (),
            elapsed_s,
            began=self._began,
            command=typed_command(),
            incomplete=why,
        )


def typed_command() -> tuple[str, ...]:
    """Give the command line as it was typed, with the values of secret options hidden."""
    shown = ["dnsrig"]
    is_secret = False
    for word in sys.argv[1:]:
        option, has_value, _ = word.partition("=")
        if is_secret:
            shown.append(HIDDEN)
        elif option in SECRETS and has_value:
            shown.append(f"{option}={HIDDEN}")
        else:
            shown.append(word)
        is_secret = not is_secret and word in SECRETS
    return tuple(shown)


@contextmanager
def progress_of(target: str, items: int) -> Iterator[Callable[[Result], None]]:
    """Show on standard error how many items of a target have ended; give what is to be told each."""
    done = 0
    with WorkProgress(f"verifying {target}", items, "names") as progress:

        def tell(_: Result) -> None:
            nonlocal done
            done += 1
            progress.show(done, f"{target}: {done} of {items} items")

        yield tell

"""Trees for the tests: one is made in a test run for each set of addresses, which takes seconds, and copied."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from dnsrig.verification.tree.making import PREFIX, Tree, make_tree


@dataclass(frozen=True)
class Trees:
    """The trees that were made, in a folder that all processes of a test run share."""

    kept: Path

    def copy_to(self, folder: Path, prefix: str = PREFIX) -> Tree:
        """Have a tree in a folder, where who makes one there finds it, for addresses that begin with a prefix."""
        first = make_tree(self.kept, prefix)
        shutil.copytree(first.folder, folder / first.folder.name)
        return make_tree(folder, prefix)

"""A subject for tests of how items are run, whatever they ask."""


class Subject:
    """Lacks nothing, and answers."""

    def lacks(self, need: str) -> str | None:
        return None

    def silence(self) -> str:
        return ""

    def renewed(self) -> "Subject":
        return self

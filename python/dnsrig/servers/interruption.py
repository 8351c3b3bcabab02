"""Ctrl-C while dnspython reads a message."""


def raise_interruption(error: BaseException) -> None:
    """Raise KeyboardInterrupt if that is what `error` was made of; otherwise do nothing.

    dnspython's `ExceptionWrapper` turns whatever is raised while it reads a record, KeyboardInterrupt too, into a
    FormError or SyntaxError of its own. Call this first wherever a DNSException is not passed on.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            raise cause
        cause = cause.__cause__ or cause.__context__

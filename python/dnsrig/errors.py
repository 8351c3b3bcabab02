"""The exceptions that a user can meet, and the exit code each of them ends in."""


class DnsrigError(Exception):
    """Something that the user should read: what was wrong with which input, and what to do."""

    exit_code = 1


class SubjectFailedError(DnsrigError):
    """The thing under test failed: it died, fell silent, or answered wrongly."""

    exit_code = 1


class InputError(DnsrigError):
    """The command line or an input file is wrong."""

    exit_code = 2


class EnvironmentLacksError(DnsrigError):
    """This machine lacks something: a program, a permission, room on a disk."""

    exit_code = 3

"""The exceptions that the command line prints without a traceback."""

from __future__ import annotations

from collections.abc import Iterable


class InputError(Exception):
    """Something the user gave cannot be used.

    The message says what was expected, what came, where (file, line, question id) and the cure.
    The command line prints it without a traceback and exits with code 2.
    """

    @classmethod
    def of_all(cls, summary: str, faults: Iterable[str]) -> InputError:
        """Join several faults, one a line, so that a user mends them in one go."""
        return cls("\n".join([summary, *(f"  {fault}" for fault in faults)]))


class IncompleteError(Exception):
    """Some of the work could not be done; the rest is safe.

    The message says what is missing and how to get it. The command line prints it without a
    traceback and exits with code 1.
    """


def refuse(what: str, *settings: tuple[str, str, object, bool]) -> None:
    """Raise one InputError for all settings that cannot be used.

    Args:
        what: Whose settings they are.
        settings: (name, what is expected, what came, whether it can be used) of each.
    """
    faults = [
        f"{name}: expected {wanted}, got {got}" for name, wanted, got, fine in settings if not fine
    ]
    if faults:
        raise InputError.of_all(f"these settings of {what} cannot be used:", faults)

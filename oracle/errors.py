"""The project's own exceptions. Everything here is the user's to mend: one sentence says what and how."""

from __future__ import annotations


class RnngError(Exception):
    """Something the user can mend; the command line prints it without a traceback and exits with 2."""


class InputError(RnngError):
    """Bad content of a file. `str()` gives `path:line: message`; line is 1-based, or absent."""

    def __init__(self, message: str, path: object = None, line: int | None = None):
        self.message, self.path, self.line = message, path, line
        place = "".join(f"{part}:" for part in (path, line) if part is not None)
        super().__init__(f"{place} {message}" if place else message)

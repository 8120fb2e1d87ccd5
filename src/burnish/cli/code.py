"""Code on its way out. Somebody else wrote it: a terminal never gets what it would obey."""

import sys

from burnish.text import strip_controls


def print_code(text: str, exact: bytes | None = None) -> None:
    """To a terminal, without escape codes; to a file or a program, as it is. `exact` are its bytes where not UTF-8."""
    if sys.stdout.isatty():
        print(strip_controls(text), end="")
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(exact if exact is not None else text.encode("utf-8", "replace"))
    sys.stdout.flush()

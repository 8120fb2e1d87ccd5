"""What a module does on given calls, as text to be compared. It ranks versions and never decides."""

from collections.abc import Sequence

from burnish.sandbox.sandbox import Sandbox


def behave(module: str, calls: Sequence[str], sandbox: Sandbox) -> tuple[str, ...]:
    """One answer for each call, an expression over the module's names: its value or its error, as text."""
    raise NotImplementedError

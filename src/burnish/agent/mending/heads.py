"""An answer that is to do the same keeps what nobody asked to change: how the function is declared and described."""

from burnish.agent.context import opening
from burnish.agent.imports import with_imports
from burnish.agent.mending.mend import objection
from burnish.tasks.syntax import parsed


def with_head(before: str, after: str, name: str) -> str:
    """The code with the first lines that the function had: types and docstring, which small models leave out.

    Where the parameters are others, or that would be no Python, the code as it is.
    """
    old, new = opening(before, name), opening(after, name)
    if not old or not new or old == new or after.count(new) != 1 or objection(before, after):
        return after
    text = with_imports(after.replace(new, old))
    return text if parsed(text) is not None and not objection(before, text) else after

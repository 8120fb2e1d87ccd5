"""What `pip config list` says, read: pip's own files and variables, the strongest place counting."""

import ast
import re


def settings(listed: str) -> dict[str, str]:
    """Names and values; pip lists them from the weakest place to the strongest, the environment last."""
    found: dict[str, str] = {}
    strength: dict[str, int] = {}
    for place, name, value in re.findall(r"^([\w:-]*)\.([\w-]+)=(.*)$", listed, re.MULTILINE):
        weight = {"global": 0, "install": 1, ":env:": 2}.get(place, -1)
        if weight >= max(strength.get(name, 0), 0):
            found[name], strength[name] = _unquoted(value), weight
    return found


def _unquoted(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (ValueError, SyntaxError):
        return value

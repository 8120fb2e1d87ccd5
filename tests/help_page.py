"""The page of all commands, from their own help. Write it anew with: python -m tests.help_page > docs/commands.md"""

from collections.abc import Iterator

import typer
from typer.main import get_command

from burnish.cli.main import app

WIDTH = 80
HEAD = """# Commands

What each command says with `--help`. A test keeps this page and the commands alike.
"""


def page() -> str:
    """The text of docs/commands.md."""
    return HEAD + "".join(f"\n## {name}\n```text\n{text.strip()}\n```\n" for name, text in _helps())


def _helps() -> Iterator[tuple[str, str]]:
    root = get_command(app)
    yield from _help(root, "burnish", None)


def _help(command: object, name: str, parent: object) -> Iterator[tuple[str, str]]:
    context = typer.Context(command, info_name=name.split()[-1], parent=parent, terminal_width=WIDTH)  # type: ignore[arg-type]
    yield name, command.get_help(context)  # type: ignore[attr-defined]
    for child_name, child in getattr(command, "commands", {}).items():
        yield from _help(child, f"{name} {child_name}", context)


if __name__ == "__main__":
    print(page(), end="")

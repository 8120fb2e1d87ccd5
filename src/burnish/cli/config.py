"""`burnish config`: what you have decided once and for all; `set` changes it, `path` says where the file is."""

from typing import Annotated

import typer

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def config(context: typer.Context) -> None:
    """Show your settings: the model that is used unless --model says otherwise, and where servers are."""
    if context.invoked_subcommand is None:
        from burnish import config as settings
        from burnish.text import strip_controls

        words = settings.read_text()
        parsed = settings.parse(words)
        print(f"# {settings.path()}" + ("" if words.strip() else " (nothing is set yet)"))
        print(strip_controls(words), end="" if words.endswith("\n") or not words else "\n")
        if not parsed.model:
            print("# who answers is not set: a name from `burnish models`, or small,large, or auto; for example:")
            print("# burnish config set model auto")


@app.command("set")
def set_(
    key: Annotated[
        str,
        typer.Argument(
            help="model (a name, small,large, or auto), may_spend, models.NAME.base_url (kind, key_env, continues, "
            "thinking, free), checks.index_url, checks.advisories_url, context.MODEL."
        ),
    ],
    value: Annotated[str, typer.Argument(help="The new value. Never a key: name its variable with key_env.")],
) -> None:
    """Change one setting. A server of your own begins with its address: models.lab.base_url http://127.0.0.1:8000/v1"""
    from burnish.config import put

    print(put(key, value))


@app.command()
def path() -> None:
    """Print where the file of settings is, whether it exists or not."""
    from burnish import config as settings

    print(settings.path())

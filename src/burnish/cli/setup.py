"""What is here and what is set: `burnish doctor` and `burnish config`.

`doctor` is one screen that says whether `write` would work here; `config` shows what you have decided once and for all,
`config set` changes it, and `config path` says where the file is.
"""

import json
from typing import Annotated

import typer

from burnish.text import strip_controls

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def config(context: typer.Context) -> None:
    """Show your settings: the model that is used unless --model says otherwise, and where servers are."""
    if context.invoked_subcommand is None:
        from burnish import config as settings

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


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check that everything `write` needs is here. Exit code 2 when something is missing."""
    from rich.console import Console
    from rich.text import Text

    from burnish.doctor import examine, is_healthy

    findings = examine()
    if as_json:
        print(json.dumps([finding.model_dump() for finding in findings], indent=2))
        raise typer.Exit(0 if is_healthy(findings) else 2)
    console = Console(highlight=False, soft_wrap=True)
    width = max(len(finding.thing) for finding in findings)
    for finding in findings:
        mark = ("ok", "green") if finding.fine else ("NO", "bold red") if finding.needed else ("--", "dim")
        console.print(Text(*mark), Text(f"{finding.thing:{width}}  {strip_controls(finding.says)}"))
        if finding.type_this:
            console.print(Text(f"{'':{width}}     type: {finding.type_this}", style="bold"))
    print("Ready." if is_healthy(findings) else "Not ready: type the lines above.")
    raise typer.Exit(0 if is_healthy(findings) else 2)

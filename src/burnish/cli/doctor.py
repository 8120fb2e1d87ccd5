"""`burnish doctor`: one screen that says whether `write` would work here, and what to type if not."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from burnish.doctor import Finding


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check that everything `write` needs is here. Exit code 2 when something is missing."""
    import json

    from burnish.doctor import examine, is_healthy

    findings = examine()
    if as_json:
        print(json.dumps([finding.model_dump() for finding in findings], indent=2))
    else:
        _screen(findings)
        print("Ready." if is_healthy(findings) else "Not ready: type the lines above.")
    raise typer.Exit(0 if is_healthy(findings) else 2)


def _screen(findings: "list[Finding]") -> None:
    from rich.console import Console
    from rich.text import Text

    from burnish.text import plain

    console = Console(highlight=False, soft_wrap=True)
    width = max(len(finding.thing) for finding in findings)
    for finding in findings:
        console.print(Text(*_mark(finding)), Text(f"{finding.thing:{width}}  {plain(finding.says)}"))
        if finding.type_this:
            console.print(Text(f"{'':{width}}     type: {finding.type_this}", style="bold"))


def _mark(finding: "Finding") -> tuple[str, str]:
    if finding.fine:
        return "ok", "green"
    return ("NO", "bold red") if finding.needed else ("--", "dim")

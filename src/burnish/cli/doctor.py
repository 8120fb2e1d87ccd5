"""`burnish doctor`: one screen that says whether `write` would work here, and what to type if not."""

from typing import Annotated

import typer


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check that everything `write` needs is here. Exit code 2 when something is missing."""
    import json

    from rich.console import Console
    from rich.text import Text

    from burnish.doctor import examine, is_healthy
    from burnish.text import strip_controls

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

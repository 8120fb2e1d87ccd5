"""`burnish verify`: does somebody's evidence hold?"""

from pathlib import Path
from typing import Annotated

import typer

from burnish.cli.options import AllowPackage, Fast, Sandbox


def verify(
    folder: Annotated[Path, typer.Argument(help="A folder that `burnish write` delivered.")],
    fast: Fast = False,
    sandbox: Sandbox = "auto",
    allow_package: AllowPackage = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON; the rest goes to stderr.")] = False,
) -> None:
    """Verify somebody's evidence: compare hashes, run tests and checks again.

    Exit code 0 if what was tried holds, the tests among it; 1 if something does not, if the run had failed, or if the
    folder was tampered with: then nothing of it is run. Whoever rewrites code, tests and evidence alike has made
    evidence of their own: what counts then is that it was run again here.
    """
    from rich.console import Console

    from burnish.cli.check_screen import CheckScreen, show_verified
    from burnish.commands.verify import verify as verify_it

    console = Console(highlight=False, stderr=as_json)
    with CheckScreen(console) as screen:
        verified = verify_it(folder, fast=fast, sandbox=sandbox, watch=screen, allow_packages=allow_package or ())
    show_verified(console, verified)
    if as_json:
        import json

        print(json.dumps({**verified.model_dump(mode="json"), "ending": verified.ending}, indent=1))
    raise typer.Exit(0 if verified.good else 1)

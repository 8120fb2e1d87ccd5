"""Which lines of the sources differ from the last commit: mutants of that code are tried first.

git is asked for files as they were committed, and for nothing that would run what a repository's settings name: no diff
of git's own, no filter, no hook, no monitor, and nothing is fetched.
"""

import difflib
import os
import subprocess
from collections.abc import Mapping

from burnish.checks.project import Project
from burnish.packages.uv import MACHINE_VARIABLES

SECONDS = 20.0
SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")


def find_changed_lines(project: Project, texts: Mapping[str, str]) -> dict[str, frozenset[int]]:
    """The lines of each text that are new or other than in the last commit; empty without git, or without a commit.

    A file that was never committed is new as a whole, unless all are: then there is nothing to compare with.
    """
    questions = "".join(f"HEAD:./{file}\n" for file in texts if "\n" not in file)
    known = {key: value for key, value in os.environ.items() if key in MACHINE_VARIABLES}
    try:
        asked = subprocess.run(
            ["git", *SAFE, "cat-file", "--batch"],
            input=questions.encode(),
            capture_output=True,
            cwd=project.root,
            timeout=SECONDS,
            env={**known, "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    committed, rest = dict[str, str](), asked.stdout
    for file in (file for file in texts if "\n" not in file):
        head, _, rest = rest.partition(b"\n")
        if head.endswith(b" missing") or b" blob " not in head:
            continue
        size = int(head.rpartition(b" ")[2])
        committed[file], rest = rest[:size].decode("utf-8", "replace").replace("\r\n", "\n"), rest[size + 1 :]
    if not committed:
        return {}
    return {file: lines for file, text in texts.items() if (lines := _list_new(committed.get(file, ""), text))}


def _list_new(before: str, after: str) -> frozenset[int]:
    """The numbers of lines that were put in or changed; where lines only went, the line after them."""
    pieces = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False).get_opcodes()
    return frozenset(n + 1 for tag, _, _, c, d in pieces if tag != "equal" for n in range(c, max(d, c + 1)))

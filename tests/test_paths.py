"""The commit that results name: read from a clone's own files, in each of the forms that git gives them."""

import subprocess
from pathlib import Path

import pytest

from burnish.paths import describe_origin, read_commit
from tests.support import ROOT

COMMIT = "6da3d104caadb0dd01ce42a4915225f55623bfd3"
OTHER = "e797df3c5a4f8cbf6f1ff1f6dbe3b2ff3c06d6d6"


def clone(folder: Path, files: dict[str, str]) -> Path:
    """A clone that holds these files, as the path of a source file in it."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "src" / "burnish" / "paths.py"


@pytest.mark.parametrize(
    ("files", "commit"),
    [
        ({".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": f"{COMMIT}\n"}, COMMIT),
        ({".git/HEAD": f"{COMMIT}\n"}, COMMIT),
        (
            {
                ".git/HEAD": "ref: refs/heads/main\n",
                ".git/packed-refs": f"# peeled\n{OTHER} refs/heads/old/main\n{COMMIT} refs/heads/main\n",
            },
            COMMIT,
        ),
        (
            {
                ".git": "gitdir: there/.git/worktrees/w\n",
                "there/.git/worktrees/w/HEAD": "ref: refs/heads/side\n",
                "there/.git/worktrees/w/commondir": "../..\n",
                "there/.git/refs/heads/side": f"{COMMIT}\n",
            },
            COMMIT,
        ),
        ({".git/HEAD": "ref: refs/heads/unborn\n"}, ""),
        ({".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": f"{OTHER} refs/heads/old/main\n"}, ""),
        ({}, ""),
    ],
    ids=["branch", "detached", "packed", "worktree", "no commit yet", "another branch packed", "no clone"],
)
def test_the_commit_of_a_clone_is_read_from_its_files(tmp_path: Path, files: dict[str, str], commit: str) -> None:
    assert read_commit(clone(tmp_path, files)) == commit


def test_the_commit_is_the_one_that_git_says() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    said = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    if said.returncode:
        pytest.skip("git does not answer here")
    assert describe_origin()["commit"] == said.stdout.strip()

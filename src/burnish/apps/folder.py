"""What is handed over of a build: the app's files, what they were made from, a report, and a git history of modules."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from burnish.apps.blueprint import Blueprint
from burnish.apps.state import BuildBrief, BuildState, join_files, make_files
from burnish.errors import SetupProblem
from burnish.events import AppFacts, AppJudged, AppPlanned, Frozen, ModuleBuilt
from burnish.events.history import Run
from burnish.evidence.folder import parse_dossier, read_bytes, read_evidence
from burnish.evidence.schema import BESIDE, REPORT, hash_content
from burnish.paths import write_atomically
from burnish.redact import redact
from burnish.report.app_report import render_app_report
from burnish.text import one_line, plural, strip_controls

START = "run"
"""The program that serves the app."""
EXECUTABLE = 0o755
GIT_SECONDS = 60.0
NOBODY = {"NAME": "burnish", "EMAIL": "burnish@localhost"}
"""Who commits where git knows no user."""


class BuiltApp(Frozen):
    """An app that is there, as far as a follow-up has to know it."""

    run: str
    blueprints: tuple[str, ...]
    """As JSON, the oldest first; the last is what it is now."""
    functions: dict[str, str]
    edited: dict[str, str]
    """What the user changed since, by path."""


def list_app_files(run: Run) -> dict[str, bytes]:
    """The files as they are delivered; nothing but the report of a run that came to no app.

    What the user had written into a file that had to be made anew lies beside it all, as text that nothing runs.
    """
    texts = {REPORT: render_app_report(run)}
    if run.last(AppPlanned) and run.evidence:
        state = BuildState(run.events, read_brief(run))
        texts |= {f"{BESIDE}/{path}.txt": text for path, text in state.replaced.items()}
        texts |= state.all_files
    return {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()}


def read_brief(run: Run) -> BuildBrief:
    """What was asked for in a run."""
    return BuildBrief(run.started.prompt, run.settings.app or AppFacts())


def open_built(run: Run) -> BuiltApp:
    """What a run has built. Raises SetupProblem where that is nothing."""
    planned, facts = run.last(AppPlanned), run.settings.app
    if planned is None or facts is None or not run.evidence:
        raise SetupProblem(
            f"Run {run.id!r} cannot be gone on from: no app has come of it. Choose another one from: burnish runs"
        )
    state = BuildState(run.events, read_brief(run))
    kept = [path for module in state.built.values() for path in module.kept]
    return BuiltApp(
        run=run.id,
        blueprints=(*facts.earlier, planned.blueprint),
        functions=state.used,
        edited={path: facts.edited[path] for path in kept},
    )


def open_folder(folder: Path) -> BuiltApp:
    """The app in a folder, with what its user changed in it. Raises SetupProblem where there is none."""
    data = read_evidence(folder)
    dossier = parse_dossier(data)
    if dossier.app is None or data.get("seal") != hash_content(data):
        what = "is no app" if dossier.app is None else "has evidence that was changed"
        raise SetupProblem(f"{str(folder)!r} {what}. Name a folder that `burnish build` made: burnish build --from DIR")
    functions = {one.name: one.code for one in dossier.app.functions if one.code}
    blueprints = (*dossier.app.earlier, dossier.app.blueprint)
    try:
        *earlier, now = (Blueprint.model_validate_json(text) for text in blueprints)
    except ValueError as error:
        raise SetupProblem(
            f"The blueprint of {str(folder)!r} cannot be built by this Burnish: {one_line(str(error), 200)}. Update "
            "Burnish: git pull"
        ) from error
    made, edited = join_files(make_files(now, functions, earlier)), dict[str, str]()
    for path, text in made.items():
        with suppress(ValueError):  # it is gone, or no text: then it is made anew
            if (found := read_bytes(folder / path).decode("utf-8")) != text:
                edited[path] = found
    return BuiltApp(run=dossier.run.id, blueprints=blueprints, functions=functions, edited=edited)


def write_over(folder: Path, files: Mapping[str, bytes], before: Mapping[str, str], edited: Mapping[str, str]) -> None:
    """Put the files of a follow-up in the place of those that were there; what is gone from the app is removed.

    `before` are the texts of the modules as they were made, `edited` what the user had made of them. Raises
    SetupProblem, and writes nothing, where a file is neither: somebody has changed it since.
    """
    known = {path: {text.encode(), edited.get(path, text).encode()} for path, text in before.items()}
    gone = [path for path in before if path not in files]
    for path in (*files, *gone):
        there = (folder / path).read_bytes() if (folder / path).is_file() else None
        if there is not None and path in known and there not in (*known[path], files.get(path)):
            raise SetupProblem(
                f"{path} has changed in {str(folder)!r} since the run began, so nothing was written. The result is in "
                "the run's record; put it into a folder of its own: burnish resume RUN, or build anew with --out DIR"
            )
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / path, data)
    for path in gone:
        (folder / path).unlink(missing_ok=True)


def commit_modules(run: Run, folder: Path, names: Iterable[str]) -> str:
    """Make the folder a git repository if it is none, and commit what was delivered, a commit a module.

    Each carries what the checkpoints said of its module. Empty, or why there are none: nothing of the app needs git.
    """
    if not shutil.which("git"):
        return "git is not installed, so the app has no history"
    delivered, at = set(names), run.started.at
    built = {event.module: event for event in run.all(ModuleBuilt)}
    judged = {event.module: event.evidence for event in run.all(AppJudged)}
    git = _Git(folder)
    try:
        if not (folder / ".git").exists():
            git.run("init", "-q", "-b", "main", "--template=", at=at)
        for name, event in built.items():
            said = judged.get(name)
            tests = f"Its contract tests: {said.verdict.replace('_', ' ')}, {said.why}." if said else "It has no tests."
            message = f"{name}: {plural(len(event.files), 'file')}, made by {event.made_by}\n\n{tests}\nRun {run.id}."
            git.commit(message, [file.path for file in event.files], event.at)
            delivered -= {file.path for file in event.files}
        said_of_all = "\n".join(f"{one.check}: {one.verdict.replace('_', ' ')}, {one.why}" for one in run.evidence)
        planned = run.last(AppPlanned)
        title = planned.title if planned else run.started.prompt
        message = f"{one_line(title, 60)}: {run.verdict}\n\n{one_line(run.started.prompt, 300)}\n\n{said_of_all}"
        git.commit(message, sorted(delivered), run.events[-1].at)
    except (OSError, subprocess.SubprocessError) as error:
        said_by_git = getattr(error, "stderr", None) or str(error)
        return f"git could not keep its history: {one_line(str(said_by_git), 200)}"
    return ""


class _Git:
    """Git in one folder, without hooks, signatures, or settings that lead elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        if not self._ask("config", "user.email"):
            people = ("AUTHOR", "COMMITTER")
            self._environment |= {f"GIT_{who}_{what}": said for who in people for what, said in NOBODY.items()}

    def commit(self, message: str, paths: Sequence[str], at: float) -> None:
        """What differs in these paths, gone ones too; nothing where nothing does."""
        known = set(self._ask("ls-files", "-z").split("\0"))
        paths = [path for path in paths if (self.folder / path).exists() or path in known]
        if paths:
            self.run("add", "-A", "--force", "--", *paths, at=at)
        if paths and self._ask("status", "--porcelain", "--", *paths):
            safe = strip_controls(redact(message))
            self.run("commit", "-q", "--no-verify", "--no-gpg-sign", "-m", safe, "--", *paths, at=at)

    def run(self, *words: str, at: float) -> None:
        """A command at a time that is on record: the same run gives the same history."""
        when = {f"GIT_{who}_DATE": f"{int(at)} +0000" for who in ("AUTHOR", "COMMITTER")}
        self._call(words, self._environment | when).check_returncode()

    def _ask(self, *words: str) -> str:
        return self._call(words, self._environment).stdout.strip()

    def _call(self, words: Sequence[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *words]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=GIT_SECONDS
        )
